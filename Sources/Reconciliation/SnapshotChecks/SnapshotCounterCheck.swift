import Subscriptions
import Domain

extension Reconciler {
  /// The snapshot's counter compared with received events, without those that earlier checks found
  /// missing.
  func compareCounters() {
    for match in matches where isComparable(match) && !isBegunElsewhere(match) {
      guard let count = match.renewsCount, let seen = renewalsSeen(match.lineage),
        Int64(count) > seen, !isListed(count, match),
        let elsewhere = paidElsewhere(match)
      else { continue }
      let found = renewalsKnown(match.lineage) - seen
      let left = Int64(count) - seen - found - elsewhere - paidBeforeOurTime(match)
      guard left > 0 else { continue }
      raiseRenewals(
        match.lineage, count: left, at: firstHole(match.lineage), provenBy: .snapshot,
        "the snapshot counts \(count) renewals; \(seen) are known, \(found) found missing")
    }
  }

  /// Whether the entitlement lists as many payments as it counts: each has been evaluated by its
  /// id.
  private func isListed(_ count: Int32, _ match: EntitlementMatch) -> Bool {
    let trials = Set(match.lineage.latest.trials.map(\.transaction))
    let paid = match.entitlement.transactions.count {
      ![.oneTime, .trialStarted, .free].contains($0.kind) && !trials.contains(transactionKey($0.id))
    }
    return Int64(paid) > Int64(count)
  }

  /// Listed payments of before the first event ever taken in, where no event counts for the ledger.
  ///
  /// A renewal that brings its number along counts them.
  private func paidBeforeOurTime(_ match: EntitlementMatch) -> Int64 {
    guard !user.provider.capabilities.sendsRenewalOrdinals else { return 0 }
    let lineage = match.lineage
    let about = subject(lineage)
    return Int64(
      match.entitlement.transactions.count { transaction in
        guard let at = transaction.at, !isWatched(at, about) else { return false }
        return transaction.kind != .trialStarted
          && !lineage.latest.transactions.contains(transactionKey(transaction.id))
      })
  }

  /// The first end that no charge follows within the gap, the last one included.
  private func firstHole(_ lineage: LineageInput) -> Instant {
    let paid = lineage.state.subscriptionCharges
    if let end = firstHole(paid[...]) { return end }
    let end = lineage.state.periodEnd ?? lineage.state.lastEventAt
    return end < knownAt ? end : lineage.state.lastEventAt
  }
}
