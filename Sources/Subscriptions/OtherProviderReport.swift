public import Domain

/// A charge, a trial start or a refund that another provider reported, and this one did not.
public struct OtherProviderReport: Sendable, Equatable {
  /// The provider that reported it.
  public var provider: Provider
  /// `transactionKey` of its transaction; 0 when unknown.
  public var transaction: Int64
  /// The kind of the event.
  public var kind: EventKind
  /// The kind of charge; nil for a trial start.
  public var chargeKind: ChargeKind?
  /// Symbol of the store product id.
  public var product: StringID
  /// Event time.
  public var time: Instant
  /// End of the period that it opened; nil without one and while it is open.
  public var end: Instant?
  /// Whether this provider's report counts, so that it should have reported the event.
  public var isExpected: Bool
}

extension SubscriptionHistory {
  /// What another provider reported after the last charge in `own`.
  func continuation(after own: SubscriptionHistory) -> Continuation? {
    guard let last = own.periods.last, let provider = own.reported.first?.provider else {
      return nil
    }
    let later = events.filter { $0.provider != provider && $0.time > last.start }
    if later.contains(where: \.opensPurchase) { return .charge }
    // A refund that revokes nothing is only money, and auto-renew can be on again after a cancel.
    let isOff = periods.last?.autoRenewOffSince(events, before: nil) != nil
    let isOver = later.contains {
      $0.isCancel && isOff || $0.isBillingProblem || $0.isExpiry || $0.kind == .revoked
        || $0.kind == .paused
    }
    return isOver || periods.last?.revokedAt != nil ? .end : nil
  }

  /// The counted events that another provider reported and `own` did not, in business order.
  func reports(notIn own: SubscriptionHistory, isExpected: Bool) -> [OtherProviderReport] {
    let (provider, gap) = (own.reported[0].provider, rules.renewalGap)
    let opened = Dictionary(grouping: own.events.filter(\.opensPurchase), by: \.transaction)
    let refunded = Set(own.events.lazy.filter(\.kind.isRefund).map(\.transaction))
    let uses = events.openings
    let ends = Dictionary(periods.map { ($0.opener, $0.end) }) { $1 }
    let booked = Dictionary(bookings.map { ($0.event, $0.product) }) { $1 }
    return events.indices.compactMap { index in
      let event = events[index]
      let isRefund = event.kind.isRefund
      guard event.provider != provider, event.opensPurchase || isRefund else { return nil }
      let isKnown =
        isRefund
        ? refunded.contains(event.transaction)
        : opened[event.transaction]?.contains { known in
          uses[event.transaction] == 1 && event.transaction != 0
            || known.time.isWithin(gap, of: event.time)
        }
      if isKnown == true { return nil }
      return OtherProviderReport(
        provider: event.provider, transaction: event.transaction, kind: event.kind,
        chargeKind: event.chargeKind, product: booked[index] ?? event.product,
        time: event.time, end: ends[index] ?? nil, isExpected: isExpected)
    }
  }
}
