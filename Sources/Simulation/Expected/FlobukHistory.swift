import Domain

extension CustomerSimulation {
  /// The customer as FLOBUK sends it: the state of one purchase at a time, without money, trials,
  /// refunds, or the purchase before it; and with the user only when the user's device brought it
  /// about.
  func seenByFlobuk(_ span: TimeSpan) -> CustomerSimulation? {
    var seen = self
    seen.transferredFrom = nil
    seen.person.shop.provider = .flobuk
    seen.person.shop.isBare = person.shop.app == 0 && person.noise >> 32 & 7 == 0
    seen.occurrences = occurrencesSinceFirstCharge.compactMap { occurrence in
      switch occurrence.kind {
      case .refunded, .purchaseRefunded, .productChanged, .downgraded, .other: return nil
      default:
        var sent = occurrence
        sent.revenue = nil
        sent.renewCount = nil
        sent.previousProduct = nil
        return sent
      }
    }
    seen.expected = FlobukFold(customer: seen, span: span).history
    return seen
  }

  func namesFlobukUser(_ occurrence: Occurrence) -> Bool {
    switch occurrence.kind {
    case .trialStarted, .started, .purchased: true
    case .trialConverted, .renewed, .upgraded: person.validatesRenewals
    default: false
    }
  }
}

extension Person {
  /// Whether the app validates each renewal's receipt before the store reports it.
  var validatesRenewals: Bool { noise >> 36 & 1 == 0 }
}

/// Puts together what FLOBUK sends, by the contract's rules.
private struct FlobukFold {
  let customer: CustomerSimulation
  let span: TimeSpan
  private var list: ListedPrices { ListedPrices(span: span) }
  private var shop: Shop { customer.person.shop }
  private var isPlay: Bool { shop.store == .playStore }

  var history: ExpectedHistory {
    var history = ExpectedHistory(
      purchases: customer.listedPurchases(list, sendsRefunds: false), basis: .priceBook)
    let named = periods.filter(hasUser)
    let nameless = periods.filter { !hasUser($0) }
    let orders = Dictionary(grouping: nameless, by: \.charge.transaction.base)
    let groups = [named] + (isPlay ? orders.sorted { $0.key < $1.key }.map(\.value) : [])
    history.subscriptions = groups.compactMap(subscription)
    if !isPlay {
      history.unchained = nameless.map { period in
        var charge = list.priced(period.charge, in: shop)
        charge.kind = .first
        charge.refund = nil
        return charge
      }
    }
    return history
  }

  private func subscription(_ periods: [AccessPeriod]) -> Subscription? {
    // Play numbers the renewals of an order, so that the first one seen may prove others.
    let startIsSeen = !isPlay || periods.first?.charge.transaction.index == 0
    let folded = StateFold(list: list, shop: shop)
      .periods(periods, first: startIsSeen ? .first : .renewal)
    return Subscription(trial: nil, chaining: folded, startIsSeen: startIsSeen)
  }

  /// Every period with an end of its own, trials included: they look like paid ones.
  private var periods: [AccessPeriod] {
    let trials = customer.subscriptions.compactMap(\.trial).map(asPaid)
    return (trials + customer.paidPeriods).filter { $0.charge.time >= span.start }.map { period in
      var seen = period
      seen.graceEnd = nil
      seen.revokedAt = nil
      seen.replacedAt = nil
      return seen
    }
  }

  private func asPaid(_ trial: AccessPeriod) -> AccessPeriod {
    var period = trial
    if trial.billingIssueAt != nil, trial.hasExpired { period.gaveUpAt = trial.end + 60 * day }
    return period
  }

  /// Whether the ledger can find the user of the period: by its own line, or for Play by another
  /// line of the same order.
  private func hasUser(_ period: AccessPeriod) -> Bool {
    let transaction = period.charge.transaction
    return customer.occurrences.contains { occurrence in
      let isSame =
        isPlay
        ? occurrence.transaction.base == transaction.base : occurrence.transaction == transaction
      return isSame && customer.namesFlobukUser(occurrence)
    }
  }
}
