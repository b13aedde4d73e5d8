import Domain

/// The events before `asOf`, by default all, in the order in which they happened.
///
/// Events of one second are ordered by meaning: an expiry closes the old period before a charge
/// opens the new one, and a cancel or refund is about an earlier charge. Among product changes, the
/// one that refunds the rest of the old period comes first, then the one that charges, then one
/// without money. Remaining ties are ordered by when a state without a date was seen, by its
/// period, and by identity, so that the order of arrival never matters.
func inBusinessOrder(
  _ events: consuming [Event], before asOf: Instant = Instant(milliseconds: .max)
) -> [Event] {
  if events.contains(where: { $0.time >= asOf }) { events.removeAll { $0.time >= asOf } }
  for index in events.indices.dropFirst() where precedes(events[index], events[index - 1]) {
    events.sort(by: precedes)
    break
  }
  return events
}

private func precedes(_ left: Event, _ right: Event) -> Bool {
  if left.time != right.time { return left.time < right.time }
  let (leftRank, rightRank) = (rank(left), rank(right))
  if leftRank != rightRank { return leftRank < rightRank }
  if left.seenAt != right.seenAt { return left.seenAt < right.seenAt }
  let (leftStart, rightStart) = (left.periodStart ?? left.time, right.periodStart ?? right.time)
  if leftStart != rightStart { return leftStart < rightStart }
  let open = Instant(milliseconds: .max)
  let (leftEnd, rightEnd) = (left.periodEnd ?? open, right.periodEnd ?? open)
  return leftEnd != rightEnd ? leftEnd < rightEnd : left.identity < right.identity
}

private func rank(_ event: Event) -> Int {
  switch event.kind {
  case .expired, .trialExpired, .endedInvoluntarily: 0
  case .trialStarted: 1
  case .started, .trialConverted, .purchased, .resubscribed: 2
  case .renewed, .recovered, .resumed: 3
  case .upgraded, .downgraded, .productChanged:
    event.isRefundBooking ? 4 : event.chargeKind != nil ? 5 : 6
  case .extended, .graceEntered, .billingRetry, .trialBillingRetry: 7
  case .canceled, .trialCanceled: 8
  case .uncanceled: 9
  case .refunded, .purchaseRefunded, .revoked: 10
  case .paused: 11
  case .other, .observed: 12
  }
}

extension [Event] {
  /// The events, in business order, with the base plan added to products named without one: the
  /// plan of the previous event, else of the next one.
  ///
  /// A product change names the old product without its base plan.
  func namingBasePlans(_ plans: BasePlans) -> [Event] {
    guard !plans.products.isEmpty, contains(where: { plans.products[$0.product] != nil }) else {
      return self
    }
    var events = self
    var known: [StringID: StringID] = [:]
    func name(_ index: Int) {
      let previous = events[index].previousProduct
      events[index].previousProduct = known[previous] ?? previous
      if let product = plans.products[events[index].product] {
        known[product] = events[index].product
      } else if let plan = known[events[index].product] {
        events[index].product = plan
      }
    }
    events.indices.forEach(name)
    known = [:]
    events.indices.reversed().forEach(name)
    return events
  }
}
