import Domain

/// The events of one subscription: reported and derived ones.
///
/// Derived events depend on the set of observations in business order, so neither the order nor the
/// number of deliveries matters. A reported event replaces a derived one with the same meaning.
struct StateSequence {
  /// The events in business order, without observations.
  let events: [Event]
  /// When the first derived event that does not count yet happens.
  private(set) var next: Instant?

  /// Derives events from `reported`, the counted ones in business order, including observations.
  init(of reported: [Event], collections: Collections, rules: FoldSettings) {
    let reported = reported.withDeclinedOrders(rules)
    var events = reported.keeping { $0.kind != .observed }
    if reported.contains(where: { $0.observation != nil }) {
      var derived = Derivation(reported: reported, collections: collections, rules: rules).run()
      next = derived.lazy.map(\.time).filter { $0 >= rules.asOf }.min()
      if !derived.isEmpty {
        derived.insert(contentsOf: events, at: 0)
        events = inBusinessOrder(consume derived, before: rules.asOf)
      }
      events = events.withoutPastPurchases
    }
    self.events = events.withoutPastEnds.withoutPastProducts.withConversions(rules)
  }
}

extension [Event] {
  /// The events, with a charge from a state of a single purchase, which has no kind, as a renewal
  /// if it continues any provider's period within the gap, or out of billing retry.
  func withRenewals(_ rules: FoldSettings) -> [Event] {
    var events = self
    var (end, cycle): (Instant?, BillingCycle?) = (nil, nil)
    var (isFailing, isOver) = (false, false)
    for index in indices {
      let event = self[index]
      if event.isBillingProblem { isFailing = true }
      if event.isEnd { isOver = true }
      guard event.opensSubscription else { continue }
      let horizon = isFailing ? rules.retryHorizon : rules.renewalGap
      if event.kind == .started || event.kind == .resubscribed && !isOver,
        event.provider.capabilities.body == .purchase,
        end.map({ event.time <= $0 + horizon }) ?? false
      {
        events[index].kind = .renewed
        events[index].startsLineage = false
      }
      let length = event.kind == .trialStarted ? nil : rules.periodLength(of: event)
      cycle = length.map {
        BillingCycle(after: cycle, paidAt: event.time, length: $0, gap: rules.renewalGap)
      }
      end = event.periodEnd.flatMap { $0 > event.time ? $0 : nil } ?? cycle?.end
      (isFailing, isOver) = (false, false)
    }
    return events
  }

  /// The events, with the first charge after a trial as its conversion, whatever its name, if it is
  /// within the gap of the trial's end or recovered from billing retry.
  ///
  /// iaptic and Purple have no conversion event and report a renewal.
  func withConversions(_ rules: FoldSettings) -> [Event] {
    guard contains(where: { $0.kind == .trialStarted }) else { return self }
    var events = self
    var trial: Int?
    for (index, event) in enumerated() {
      if event.kind == .trialStarted { trial = index }
      guard let charge = event.chargeKind, charge != .oneTime else { continue }
      if let start = trial, charge == .renewal, !event.provider.capabilities.namesConversions,
        self[start..<index].isConverted(by: event, rules)
      {
        events[index].kind = .trialConverted
      } else if trial == nil, charge == .conversion, !event.provider.capabilities.namesConversions {
        // Another provider reported the conversion.
        events[index].kind = .renewed
      }
      trial = nil
    }
    return events
  }

  /// The events without ends of a period that another has followed: it no longer gave access.
  ///
  /// Only iaptic sends such ends without a state.
  var withoutPastEnds: [Event] {
    withoutPast(\.transaction) { event in
      event.provider.capabilities.body == .collection && event.observation == nil && event.isEnd
    }
  }

  /// The events without those of a purchase after another one replaced it.
  var withoutPastPurchases: [Event] {
    withoutPast(\.lineage) { $0.kind != .other && $0.kind != .purchased }
  }

  /// The events without those that `isDropped` of a period or purchase that another has followed;
  /// refunds stay because they are money.
  private func withoutPast(
    _ id: (Event) -> Int64, _ isDropped: (Event) -> Bool
  ) -> [Event] {
    var opened: Set<Int64> = []
    var holder: Int64 = 0
    return keeping { event in
      let id = id(event)
      if event.opensSubscription, id != 0 {
        opened.insert(id)
        holder = id
      }
      let isPast = holder != id && opened.contains(id)
      return !isPast || event.kind.isRefund || !isDropped(event)
    }
  }
}

extension ArraySlice<Event> {
  /// Whether `charge`, the first charge after the trial in these events, is its conversion.
  func isConverted(by charge: Event, _ rules: FoldSettings) -> Bool {
    let events = Array(self)
    var pass = PeriodPass(events: events, bookings: [], rules: rules)
    guard let trial = pass.run().first else { return false }
    return trial.isConverted(at: charge.start(after: trial), events, rules)
  }
}
