import Domain

/// Turns the events of a lineage, in business order, into charges and refunds.
struct BookingPass {
  let events: [Event]
  let rules: FoldSettings
  var bookings: [Booking] = []
  var findings: [FoldFinding] = []
  /// Refunds that exceed their charge.
  var held: [HeldEvent] = []
  /// The first refund or revocation of each charge.
  private var takenBack: [ChargeKey: Int] = [:]
  private var charges = ChargeIndex()

  init(events: [Event], rules: FoldSettings) {
    self.events = events
    self.rules = rules
    bookings.reserveCapacity(events.count)
  }

  mutating func run() throws(AmountOverflow) {
    for index in events.indices { try read(events[index], at: index) }
    if bookings.contains(where: { $0.refundedCharge != nil }) { try limitRefunds() }
  }

  private mutating func read(_ event: Event, at index: Int) throws(AmountOverflow) {
    if let key = ChargeKey(takenBackBy: event) { takenBack[key] = takenBack[key] ?? index }
    if event.isRefundBooking {
      try bookRefund(event, at: index)
    } else if let kind = event.chargeKind {
      try bookCharge(event, kind, at: index)
    } else if let revenue = event.revenue, revenue.isNotZero {
      find(
        .unexpectedRevenue, event, difference: revenue.usd,
        "\(event.kindAndTime) carries revenue of \(amounts(revenue)), which is not booked")
    }
  }

  private mutating func bookCharge(
    _ event: Event, _ kind: ChargeKind, at index: Int
  ) throws(AmountOverflow) {
    let (sent, mismatch) = try chargeMoney(event)
    let (money, currency) = rules.completed(sent, of: event)
    if let mismatch, !event.kind.isProductChange, let revenue = event.revenue {
      let rate = revenue.rate.map { " at \($0.text()) %" } ?? ""
      let price = event.price?.usd.map { "\($0.text()) USD" } ?? ""
      find(
        .rateMismatch, event, difference: mismatch,
        "the price is \(price), the proceeds are \(amounts(revenue))\(rate): they differ by "
          + "\(mismatch.text()) USD; the price was derived from the proceeds")
    }
    if event.hasImpossibleRate, !event.kind.isProductChange, let rate = event.revenue?.rate {
      find(
        .rateMismatch, event,
        "no store pays out \(rate.text()) % of the price; "
          + (money.grossUSD.map { "the price of \($0.text()) USD is booked" }
            ?? "the price is unknown"))
    }
    if let earlier = takenBack(event) { find(event, after: events[earlier]) }
    bookings.append(
      Booking(
        event: index, time: event.time, transaction: event.transaction, isRefund: false,
        chargeKind: kind, product: event.product, money: money, country: event.country,
        storefront: event.storefront, currency: currency))
  }

  /// Finds the charges among `held` whose transaction was refunded or revoked before.
  mutating func findTakenBack(among held: [HeldEvent]) {
    for charge in held.map(\.event) {
      guard let earlier = takenBack(charge), events[earlier].time < charge.time else { continue }
      find(charge, after: events[earlier])
    }
  }

  /// The first refund or revocation of a charge of the same transaction, if that is one charge.
  private func takenBack(_ event: Event) -> Int? {
    guard event.namesOneCharge else { return nil }
    return takenBack[ChargeKey(event.transaction)]
      ?? takenBack[ChargeKey(event.transaction, of: event.product)]
  }

  private mutating func find(_ charge: Event, after earlier: Event) {
    find(
      .impossibleSequence, charge,
      "\(charge.kindAndTime) follows \(earlier.kindAndTime) of its own transaction")
  }

  private mutating func bookRefund(_ event: Event, at index: Int) throws(AmountOverflow) {
    guard let chargeIndex = charges.charge(refundedBy: event, among: bookings) else {
      return try bookOrphanRefund(event, at: index)
    }
    let hasAmount =
      event.revenue?.hasAmount == true || event.provider.capabilities.sendsWholeCharges
    let charge = bookings[chargeIndex]
    // Without an amount it refunds the whole charge, which is possible only once.
    if !hasAmount, charges.refunded[chargeIndex] == true,
      rules.doubleCharges == .hold || !events[charge.event].namesOneCharge
    {
      find(event, beyond: events[charge.event], charge.money.grossUSD, isHeld: true)
      return
    }
    let paid = rules.paid(for: events[charge.event])
    var refund = charge
    refund.event = index
    refund.isRefund = true
    refund.time = event.time
    refund.refundedCharge = chargeIndex
    refund.isWhole = try event.refundsWhole(paid, bookedAs: charge.money)
    let currency = event.revenue?.currency ?? 0
    let isForeign = areDifferentCurrencies(currency, charge.currency)
    if !refund.isWhole {
      refund.money = try refundMoney(event, of: charge.money)
      if charge.currency == 0 { refund.currency = currency }
      if isForeign {
        refund.money.grossLocal = nil
        refund.money.proceedsLocal = nil
      }
    }
    if isForeign, let revenue = event.revenue {
      let rest =
        refund.isWhole
        ? "; the charge is given back as it was booked"
        : revenue.local == nil ? "" : "; the refund's local amount is not booked"
      find(
        .currencyMismatch, event,
        "the refund of \(event.time.text)\(bracketed(revenue)) is in another currency than its "
          + "charge of \(charge.time.text)\(bracketed(paid))\(rest)")
    }
    bookings.append(refund)
  }

  /// The amounts of a revenue; the fold does not know the currency's name.
  private func amounts(_ revenue: Revenue) -> String {
    let local = revenue.local.map { "\($0.text()) local" }
    let usd = revenue.usd.map { "\($0.text()) USD" }
    return [local, usd].compactMap(\.self).joined(separator: ", ")
  }

  private func bracketed(_ revenue: Revenue) -> String {
    revenue.hasAmount ? " (\(amounts(revenue)))" : ""
  }

  /// Books a refund whose charge is not in the ledger, with its own dimensions and rate.
  private mutating func bookOrphanRefund(_ event: Event, at index: Int) throws(AmountOverflow) {
    bookings.append(
      Booking(
        event: index, time: event.time, transaction: event.transaction, isRefund: true,
        chargeKind: orphanChargeKind(event), product: event.productLeft ?? event.product,
        money: try refundMoney(event, of: nil),
        country: event.country, storefront: event.storefront,
        currency: event.revenue?.currency ?? 0))
  }

  private func orphanChargeKind(_ event: Event) -> ChargeKind {
    if event.kind.isProductChange { return .productChange }
    if event.kind == .purchaseRefunded { return .oneTime }
    return event.startsLineage && (event.renewalCount ?? 0) == 0 ? .first : .renewal
  }

  private mutating func find(
    _ code: BreakCode, _ event: Event, difference: Amount? = nil, _ evidence: String
  ) {
    // Sandbox amounts are not money, whatever their rate.
    if code == .rateMismatch, event.environment == .sandbox { return }
    findings.append(FoldFinding(code, event, difference: difference, evidence))
  }
}

/// A charge or a refund with the row in which it is booked.
struct Booking: Sendable {
  /// Index of its event in business order.
  var event: Int
  var time: Instant
  var transaction: Int64
  /// For a refund, the index of its charge; nil when the ledger does not have it.
  var refundedCharge: Int?
  var isRefund: Bool
  var chargeKind: ChargeKind
  var product: StringID
  var money: Money
  /// For a refund, whether it refunds the whole charge.
  var isWhole = false
  var country: StringID
  var storefront: StringID
  var currency: StringID

  var productType: ProductType { chargeKind == .oneTime ? .oneTime : .subscription }
  var isOfSubscription: Bool { !isRefund && chargeKind != .oneTime }
  var price: Price { Price(local: money.grossLocal, usd: money.grossUSD, currency: currency) }
}

/// Gross and proceeds of one booking, positive, with their basis; nil means unknown.
struct Money: Sendable, Equatable {
  @Compact var grossUSD: Amount?
  @Compact var proceedsUSD: Amount?
  @Compact var grossLocal: Amount?
  @Compact var proceedsLocal: Amount?
  /// Percent that remains after commission.
  @Compact var rate: Amount?
  var basis = AmountBasis.none
}
