import EventStore
import Domain

/// What the rest of a ledger shows of the events that a drill removes.
struct DrillEvidence {
  /// All events of their users before the damage.
  var events: [UserKey: [Event]] = [:]
  /// The newest snapshots of their users.
  var snapshots: [UserKey: Snapshot] = [:]
  /// When every app of a provider had sent its first event.
  var allFirst: [Provider: Instant] = [:]

  /// Explains why nothing can show that the event is missing; nil when something can.
  func excuse(for damage: Damage) -> String? {
    var event = damage.candidate.event
    if let loss = damage.loss { (event.kind, event.transaction) = (.observed, loss.transaction) }
    return excuse(for: event, of: damage.candidate.holder)
  }

  /// Explains why no comparison can show that `event` of `holder` is missing; nil when one can.
  func excuse(for event: Event, of holder: UserKey) -> String? {
    guard let snapshot = snapshots[holder], snapshot.capturedAt >= event.time else {
      return "no later snapshot"
    }
    let events = events[holder] ?? []
    if events.count == 1, snapshot.app.isEmpty,
      allFirst[holder.provider].map({ event.time < $0 }) ?? false
    {
      return "the only event of a user whose snapshot names no app"
    }
    let shown = snapshot.entitlements.flatMap(\.transactions)
      .last { transactionKey($0.id) == event.transaction }
    switch event.kind.codeWhenMissed {
    case .missedRefund: return shown?.revokedAt != nil ? nil : "not in the snapshot"
    case .missedCancel, .missedExpiration, .missedBillingIssue, .missedProductChange:
      let others = events.filter {
        $0.lineage == event.lineage && $0.identity != event.identity
      }
      if others.contains(where: { $0.time >= event.time && $0.time <= snapshot.capturedAt }) {
        return "a later event implies it"
      }
      let before = others.reversed().prefix { $0.kind.isStop || $0.kind.codeWhenMissed == nil }
      return event.kind.codeWhenMissed == .missedExpiration && before.contains { $0.kind.isStop }
        ? "an earlier event implies it" : nil
    default: return shown == nil ? "not in the snapshot" : nil
    }
  }
}

extension EventKind {
  /// Whether an end after it needs no event of its own.
  var isStop: Bool {
    let stops = [BreakCode.missedCancel, .missedBillingIssue, .missedRefund, .missedExpiration]
    return codeWhenMissed.map(stops.contains) ?? false
  }
}
