import EventStore
import Domain

/// What a user's newest snapshot can show of a damaged event.
struct SnapshotEvidence {
  private let capturedAt: Instant
  private let namesApp: Bool
  /// Transactions in the snapshot, and whether they were revoked.
  private var isRevoked: [Int64: Bool] = [:]

  init(_ snapshot: Snapshot) {
    capturedAt = snapshot.capturedAt
    namesApp = !snapshot.app.isEmpty
    for transaction in snapshot.entitlements.flatMap(\.transactions) {
      isRevoked[transactionKey(transaction.id)] = transaction.revokedAt != nil
    }
  }

  /// Explains why no comparison can show that `event` is missing; nil when one can.
  ///
  /// `events` and `snapshot` are of the event's user; by `allFirst` every app of the provider had
  /// sent its first event.
  static func excuse(
    for event: Event, among events: [Event], _ snapshot: SnapshotEvidence?, allFirst: Instant
  ) -> String? {
    guard let snapshot, snapshot.capturedAt >= event.time else { return "no later snapshot" }
    if events.count == 1, !snapshot.namesApp, event.time < allFirst {
      return "the only event of a user whose snapshot names no app"
    }
    switch event.kind.codeWhenMissed {
    case .missedRefund:
      return snapshot.isRevoked[event.transaction] == true ? nil : "not in the snapshot"
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
    default:
      return snapshot.isRevoked[event.transaction] == nil ? "not in the snapshot" : nil
    }
  }
}

/// What the rest of a ledger shows of the events that a drill removes.
struct DrillEvidence {
  /// All events of their users before the damage.
  var events: [UserKey: [Event]] = [:]
  var snapshots: [UserKey: SnapshotEvidence] = [:]
  /// When every app of a provider had sent its first event.
  var allFirst: [Provider: Instant] = [:]

  /// Explains why nothing can show that the event is missing; nil when something can.
  func excuse(for damage: Damage) -> String? {
    let candidate = damage.candidate
    var event = candidate.event
    if let loss = damage.loss { (event.kind, event.transaction) = (.observed, loss.transaction) }
    return SnapshotEvidence.excuse(
      for: event, among: events[candidate.holder] ?? [], snapshots[candidate.holder],
      allFirst: allFirst[candidate.row.provider] ?? Instant(milliseconds: .min))
  }
}

extension EventKind {
  /// Whether an end after it needs no event of its own.
  var isStop: Bool {
    switch codeWhenMissed {
    case .missedCancel, .missedBillingIssue, .missedRefund, .missedExpiration: true
    default: false
    }
  }
}
