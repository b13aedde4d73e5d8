import EventStore
import Domain

struct DrillCandidate {
  /// Random rank: for equal seeds, an event has the same rank whatever else the ledger contains.
  let rank: UInt64
  let row: LineageRow
  let event: Event

  /// The user of the event, or else its lineage.
  var holder: UserKey {
    UserKey(provider: row.provider, user: row.user == 0 ? row.key : row.user)
  }
}

/// A sample of the events in a ledger: the lowest ranks, at most one per user, so that each later
/// break belongs to one damage.
///
/// It stores only the requested number of events, however many are offered.
struct DrillSample {
  let seed: UInt64
  let count: Int
  let asOf: Instant
  private(set) var chosen: [DrillCandidate] = []
  private(set) var rankOf: [UserKey: UInt64] = [:]

  mutating func offer(_ event: Event, of row: LineageRow) {
    guard event.environment == .production, event.time < asOf,
      event.kind.codeWhenMissed != nil || event.observation != nil
    else { return }
    var fingerprint = Fingerprint(seed: seed)
    fingerprint.combine(UInt64(bitPattern: event.identity))
    let candidate = DrillCandidate(
      rank: UInt64(bitPattern: fingerprint.value), row: row, event: event)
    if chosen.count == count, let last = chosen.last, candidate.rank >= last.rank { return }
    if let known = rankOf[candidate.holder] {
      guard candidate.rank < known else { return }
      chosen.removeAll { $0.rank == known && $0.holder == candidate.holder }
    }
    let place = chosen.firstIndex { $0.rank > candidate.rank } ?? chosen.count
    chosen.insert(candidate, at: place)
    rankOf[candidate.holder] = candidate.rank
    guard chosen.count > count, let dropped = chosen.popLast() else { return }
    rankOf[dropped.holder] = nil
  }
}

extension EventKind {
  /// The break that the loss of the event is; nil for kinds that are not drilled.
  var codeWhenMissed: BreakCode? {
    switch self {
    case .trialStarted: .missedStart
    case .refunded, .purchaseRefunded, .revoked: .missedRefund
    case .canceled, .trialCanceled: .missedCancel
    case .expired, .trialExpired, .endedInvoluntarily: .missedExpiration
    case .billingRetry, .trialBillingRetry, .graceEntered: .missedBillingIssue
    case .upgraded, .downgraded, .productChanged: .missedProductChange
    default: chargeKind?.codeWhenMissed
    }
  }
}
