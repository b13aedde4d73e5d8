import EventStore
import Domain

/// What a user's newest snapshot could show of a damaged event.
struct DrillWitness {
  private let capturedAt: Instant
  private let namesApp: Bool
  /// Transactions that the snapshot names, and whether they were taken back.
  private var isRevoked: [Int64: Bool] = [:]

  init(_ snapshot: Snapshot) {
    capturedAt = snapshot.capturedAt
    namesApp = !snapshot.app.isEmpty
    for transaction in snapshot.entitlements.flatMap(\.transactions) {
      isRevoked[transactionKey(transaction.id)] = transaction.revokedAt != nil
    }
  }

  /// Why no comparison could have shown that `event` never came; nil when one should have.
  ///
  /// - Parameters:
  ///   - told: everything that was told of the event's user.
  ///   - witness: the user's snapshot; nil when there is none.
  ///   - allFirst: when every app of the provider had sent its first event.
  static func excuse(
    for event: Event, told: [Event], _ witness: DrillWitness?, allFirst: Instant
  ) -> String? {
    guard let witness, witness.capturedAt >= event.time else { return "no later snapshot" }
    if told.count == 1, !witness.namesApp, event.time < allFirst {
      return "the only event of a user whose snapshot names no app"
    }
    let others = told.filter { $0.lineage == event.lineage }
    switch event.kind.codeWhenMissed {
    case .missedRefund:
      return witness.isRevoked[event.transaction] == true ? nil : "not in the snapshot"
    case .missedCancel, .missedExpiration, .missedBillingIssue, .missedProductChange:
      let told = others.filter { $0.identity != event.identity }
      if told.contains(where: { $0.time >= event.time && $0.time <= witness.capturedAt }) {
        return "a later event implies it"
      }
      let before = told.reversed().prefix { $0.kind.isStop || $0.kind.codeWhenMissed == nil }
      return event.kind.codeWhenMissed == .missedExpiration && before.contains { $0.kind.isStop }
        ? "an earlier event implies it" : nil
    default:
      return witness.isRevoked[event.transaction] == nil ? "not in the snapshot" : nil
    }
  }
}

/// The evidence of the events that a drill removes, in the rest of the ledger.
struct DrillTestimony {
  /// All events of their users before the damage.
  var told: [DrillHolder: [Event]] = [:]
  var witnesses: [DrillHolder: DrillWitness] = [:]
  /// When every app of a provider had sent its first event.
  var allFirst: [Provider: Instant] = [:]

  /// Why nothing could have shown that the event never came; nil when something should have.
  func excuse(for damage: Damage) -> String? {
    let candidate = damage.candidate
    var event = candidate.event
    if let loss = damage.loss { (event.kind, event.transaction) = (.observed, loss.transaction) }
    return DrillWitness.excuse(
      for: event, told: told[candidate.holder] ?? [], witnesses[candidate.holder],
      allFirst: allFirst[candidate.row.provider] ?? Instant(milliseconds: .min))
  }
}

extension EventKind {
  /// After which an end needs no event of its own.
  var isStop: Bool {
    switch codeWhenMissed {
    case .missedCancel, .missedBillingIssue, .missedRefund, .missedExpiration: true
    default: false
    }
  }
}
