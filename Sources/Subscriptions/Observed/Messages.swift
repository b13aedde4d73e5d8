import Domain

extension [Event] {
  /// The events without earlier copies of a message: a repeated message can have a new date and
  /// shows the purchases at that time.
  ///
  /// Copies report one event, even if they differ; of those whose collection shows the reported
  /// transaction, else of all, the one received last counts.
  var withLastOfEachMessage: [Event] {
    let last = Dictionary(lazy.filter { $0.collection != 0 }.map { (MessagePart($0), $0) }) {
      $0.isEarlierCopy(than: $1) ? $1 : $0
    }
    return keeping { event in
      guard event.collection != 0, let latest = last[MessagePart(event)] else { return true }
      return latest.identity == event.identity && latest.time == event.time
    }
  }

  /// The events, with each repetition of a charge or refund in another message with the same state
  /// turned into an observation of that state.
  var withChargesReportedOnce: [Event] {
    guard contains(where: { $0.collection != 0 }) else { return self }
    var reported: Set<ReportedCharge> = []
    return map { event in
      guard event.collection != 0, event.transaction != 0,
        event.kind.isRefund || event.chargeKind != nil
      else { return event }
      let charge = ReportedCharge(
        transaction: event.transaction, kind: event.kind, product: event.product,
        periodEnd: event.periodEnd, revenue: event.revenue, state: event.observation)
      if reported.insert(charge).inserted { return event }
      var shown = event
      shown.kind = .observed
      return shown
    }
  }
}

/// An event of an iaptic message, or the state of one purchase in it.
private struct MessagePart: Hashable {
  let message: Int64
  /// All 0 for a reported event.
  private var lineage: Int64 = 0
  private var transaction: Int64 = 0
  private var product: StringID = 0

  init(_ event: Event) {
    message = event.collection
    guard event.kind == .observed else { return }
    (lineage, transaction, product) = (event.lineage, event.transaction, event.product)
  }
}

/// A charge or refund of a transaction as iaptic reports it, at any time and in any message.
private struct ReportedCharge: Hashable {
  let transaction: Int64
  let kind: EventKind
  let product: StringID
  let periodEnd: Instant?
  let revenue: Revenue?
  let state: Observation?
}

extension Event {
  /// Whether the copy `other` counts instead of this one: a later one, unless only this one has the
  /// state, which its collection showed.
  func isEarlierCopy(than other: Event) -> Bool {
    guard (observation == nil) == (other.observation == nil) else { return observation == nil }
    let never = Instant(milliseconds: .min)
    return (received ?? never, time, body, identity)
      < (other.received ?? never, other.time, other.body, other.identity)
  }
}
