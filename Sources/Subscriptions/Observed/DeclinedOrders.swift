import Domain

extension [Event] {
  /// The events, in order, with states of a declined Play order moved to the purchase to renew.
  ///
  /// Play names the last order of a subscription, whether charged, pending or declined: while a
  /// payment fails, and after it finally failed, that order was not paid.
  func withDeclinedOrders(_ rules: FoldSettings) -> [Event] {
    guard contains(where: { $0.store == .playStore && $0.lacksPayment }) else { return self }
    var orders = PlayOrders(rules: rules)
    var renewed: [Int64: Int64] = [:]
    for place in asSeen(indices) {
      if let order = orders.read(self[place]) { renewed[self[place].identity] = order }
    }
    if renewed.isEmpty { return self }
    return map { event in
      guard let order = renewed[event.identity] else { return event }
      var shown = event
      shown.transaction = order
      // The price belongs to the declined order.
      shown.revenue = nil
      shown.price = nil
      return shown
    }
  }
}

/// The orders of Play's subscriptions, as far as events show them.
private struct PlayOrders {
  /// The newest order of a subscription that was paid or started a trial.
  private struct Paid {
    var id: Int64
    let start: Instant
    /// The end without grace.
    var end: Instant
  }

  private let rules: FoldSettings
  private var newest: [Int64: Paid] = [:]
  private var paid: Set<OfLineage<Int64>> = []
  /// Declined orders, with the latest end shown for each.
  private var declined: [OfLineage<Int64>: Instant] = [:]

  init(rules: FoldSettings) { self.rules = rules }

  /// Reads an event; returns the order that should renew if the event shows a declined one.
  mutating func read(_ event: Event) -> Int64? {
    guard event.store == .playStore, event.transaction != 0, let end = event.periodEnd,
      event.observation != nil || event.opensPurchase
    else { return nil }
    let order = OfLineage(event, event.transaction)
    if let last = newest[event.lineage], !paid.contains(order),
      isDeclined(event, order, end, after: last)
    {
      declined[order] = Swift.max(end, declined[order] ?? end)
      return last.id
    }
    paid.insert(order)
    guard let last = newest[event.lineage], last.id == event.transaction || end < last.end else {
      newest[event.lineage] = Paid(id: event.transaction, start: event.paidFrom, end: end)
      return nil
    }
    if last.id == event.transaction, !event.isFailing {
      newest[event.lineage]?.end = Swift.max(end, last.end)
    }
    return nil
  }

  /// Whether an unpaid order failed: its end is still that of the previous period or of its grace.
  private func isDeclined(
    _ event: Event, _ order: OfLineage<Int64>, _ end: Instant, after last: Paid
  ) -> Bool {
    guard let state = event.observation, !event.opensPurchase, !event.kind.isRefund,
      event.kind != .revoked
    else { return false }
    let due = last.end + rules.renewalGap
    let isOver = end < last.end - rules.renewalGap
    // The order was charged when the previous period ended.
    let isCharged = state.lastChargedAt.map { $0 >= last.end - rules.renewalGap } ?? false
    guard !isOver, !isCharged else { return false }
    let isKnown = declined[order] != nil
    if end <= due { return event.lacksPayment || isKnown }
    guard event.isFailing || event.lacksPayment && isKnown else { return false }
    if let shown = declined[order], end <= shown { return true }
    if state.isTimeInferred != true, event.time <= due { return true }
    let length = rules.periodLength(of: event) ?? PeriodLength(from: last.start, to: last.end)
    return end + monthsDiffer < length.end(from: last.end)
  }
}

extension Event {
  /// Whether it shows a purchase whose payment fails or that gives no access.
  var lacksPayment: Bool {
    observation != nil && (isFailing || observation?.isOwned == false)
  }

  var isFailing: Bool { observation?.isInBillingRetry == true || isBillingProblem }

  /// The latest start of the period that it reports or shows.
  var paidFrom: Instant {
    observation?.lastChargedAt ?? Swift.min(periodStart ?? time, time)
  }
}
