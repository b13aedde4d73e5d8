import Domain

// One scenario as several providers report it: what each sends about a customer, and what reports
// must show of that by the contract's rules.

/// What reports must show about a customer.
struct ExpectedHistory: Sendable {
  /// Subscriptions that the fold must build, sorted by time.
  var subscriptions: [Subscription] = []
  /// Purchases that do not renew.
  var purchases: [Charge] = []
  /// Charges that cannot be chained to a subscription: booked, but in no count of subscriptions.
  var unchained: [Charge] = []
  var basis = AmountBasis.provider
}

extension Scenario {
  /// Customer `number` as seen by each of `providers` that sends anything about it.
  func histories(of number: Int, by providers: [Provider]) -> [CustomerSimulation] {
    let customer = CustomerSimulator(of: number, in: self).customer
    return providers.map(\.sender).filter { $0.isReported(customer.person.shop) }
      .map { sent($0.seen(customer, self)) }
  }

  /// The customer while the provider reports it.
  private func sent(_ customer: CustomerSimulation) -> CustomerSimulation {
    let shop = customer.person.shop
    guard let migration, migration.moves(shop) else { return customer }
    var sent = customer
    if shop.provider == migration.from {
      sent.occurrences.removeAll { Instant(seconds: $0.time) > migration.both.upperBound }
      sent.movesAway = true
      return sent
    }
    let count = sent.occurrences.count
    sent.occurrences.removeAll { Instant(seconds: $0.time) < migration.both.lowerBound }
    sent.transferredFrom = sent.transferredFrom.map { max(0, $0 + sent.occurrences.count - count) }
    sent.person.previousProvider = migration.from
    return sent
  }
}

extension CustomerSimulation {
  /// The customer in the feed of `provider`, without a move to another account.
  func reported(by provider: Provider) -> CustomerSimulation {
    var reported = self
    reported.transferredFrom = nil
    reported.person.shop.provider = provider
    return reported
  }

  var expectedHistory: ExpectedHistory {
    expected ?? ExpectedHistory(subscriptions: subscriptions, purchases: purchases)
  }

  var paidPeriods: [AccessPeriod] { subscriptions.flatMap(\.periods) }

  /// The trial of the first subscription, if the archives cover its start.
  var firstTrial: AccessPeriod? {
    subscriptions.first?.trial.flatMap { $0.start >= span.start ? $0 : nil }
  }

  func period(of occurrence: Occurrence) -> AccessPeriod? { period(of: occurrence.part) }

  /// The free or paid period of a part; nil for a one-time purchase.
  func period(of part: OccurrencePart) -> AccessPeriod? {
    switch part {
    case .trial(let subscription): subscriptions[subscription].trial
    case .period(let subscription, let index): subscriptions[subscription].periods[index]
    case .purchase: nil
    }
  }

  func purchase(of occurrence: Occurrence) -> Charge? {
    guard case .purchase(let index) = occurrence.part else { return nil }
    return purchases[index]
  }

  /// The covered events from the first charge on: a provider of states has no record of a
  /// subscription before it is paid or tried.
  var occurrencesSinceFirstCharge: [Occurrence] {
    let begin = occurrences.first(where: \.isSubscriptionCharge)?.time ?? .max
    return occurrences.filter { $0.isOfPurchase || $0.time >= begin }
  }

  /// One-time purchases at listed prices, refunded only if the provider sends that.
  func listedPurchases(sendsRefunds: Bool) -> [Charge] {
    purchases.map { purchase in
      var listed = listed(purchase)
      if !sendsRefunds || purchase.wholeRefundAt == nil { listed.refund = nil }
      return listed
    }
  }
}

extension Occurrence {
  /// The event without what only Qonversion sends: money, and the number of a renewal.
  var withoutMoney: Occurrence {
    var sent = self
    sent.revenue = nil
    sent.renewCount = nil
    return sent
  }

  /// Whether it belongs to a purchase that does not renew.
  var isOfPurchase: Bool { part.subscription == nil }

  /// Whether it starts a paid period or a trial.
  var isSubscriptionCharge: Bool {
    switch kind {
    case .trialStarted, .trialConverted, .started, .renewed, .upgraded: true
    default: false
    }
  }
}

extension Subscription {
  /// Paid periods as one subscription, with renewals counted from its start; nil without any.
  ///
  /// - Parameter startIsSeen: whether nothing proves a period before the first.
  init?(trial: AccessPeriod?, chaining periods: [AccessPeriod], startIsSeen: Bool) {
    guard trial != nil || !periods.isEmpty else { return nil }
    var ordinal: Int32? = startIsSeen ? 0 : nil
    let counted = periods.map { period in
      var period = period
      let isRenewal = period.charge.kind == .renewal
      if isRenewal { ordinal = ordinal.map { $0 + 1 } }
      period.charge.ordinal = isRenewal ? ordinal : nil
      return period
    }
    let first = periods.first?.charge.transaction ?? TransactionNumber(base: 0, index: 0)
    self.init(
      trial: trial, periods: counted,
      original: startIsSeen ? first : TransactionNumber(base: -1, index: 0))
  }
}

// Subscriptions from what a provider sends about a customer, by the contract's rules.

extension CustomerSimulation {
  /// The periods of a provider of states as reports see them.
  ///
  /// Such a provider sends no kinds. A new period that continues one within the gap, or out of
  /// billing retry, is a renewal, or a product change if the product differs; otherwise it is a
  /// start.
  func chained(_ sent: [AccessPeriod], first: ChargeKind) -> [AccessPeriod] {
    sent.reduce(into: []) { seen, period in
      seen.append(self.period(period, after: seen.last, first))
    }
  }

  private func period(
    _ sent: AccessPeriod, after before: AccessPeriod?, _ first: ChargeKind
  ) -> AccessPeriod {
    var seen = sent
    var charge = sent.charge
    charge.refund = nil
    charge.kind = first
    if let before {
      // A purchase seen soon after the end of a period counts from that end.
      let lapse = charge.time - before.end
      if (0...Completeness.renewalGap).contains(lapse) { charge.time = before.end }
      charge.kind = kind(of: charge, after: before)
    }
    seen.charge = listed(charge)
    seen.start = charge.time
    seen.replacedAt = nil
    return seen
  }

  private func kind(of charge: Charge, after before: AccessPeriod) -> ChargeKind {
    guard before.joins(charge) || before.isCollected(by: charge) else { return .first }
    return before.charge.product == charge.product ? .renewal : .productChange
  }
}
