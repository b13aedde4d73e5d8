import Domain
import Subscriptions

/// How long what a comparison came to stands: it need not be made again before.
///
/// Every comparison of a check with the moment that a snapshot shows is one with an instant listed
/// here, moved by one of the shifts; a moment too many costs a comparison, one too few a wrong
/// break.
extension Reconciler {
  /// The last moment at which a snapshot of the same content shows the same; nil when as-of itself
  /// matters.
  var standsUntil: Instant? {
    guard let entitlements = user.snapshot?.entitlements else { return Instant(milliseconds: .max) }
    var standing = Standing(shown: knownAt, rules)
    var isDated = true
    for transaction in entitlements.lazy.flatMap(\.transactions) {
      // What is dated after as-of is not expected before it.
      if let at = transaction.at, at >= rules.fold.asOf { return nil }
      if let at = transaction.revokedAt, at >= rules.fold.asOf { return nil }
      isDated = isDated && transaction.at != nil
      standing.add(transaction.at)
      standing.add(transaction.expiresAt)
      standing.add(transaction.revokedAt)
    }
    // What has no date gets one by the capture.
    guard isDated else { return knownAt - Interval(milliseconds: 1) }
    // A lineage that begins after the capture is compared once the snapshot knows it.
    for lineage in user.lineages + user.newerLineages {
      standing.add(lineage.state)
      if let current = lineage.current { standing.add(current) }
    }
    for entitlement in entitlements {
      standing.add(entitlement.startedAt)
      standing.add(entitlement.trialStartedAt)
      standing.add(entitlement.firstPurchasedAt)
      standing.add(entitlement.lastPurchasedAt)
      standing.add(entitlement.expiresAt)
      standing.add(entitlement.autoRenewOffAt)
      standing.add(
        entitlement.expiresAt.flatMap { knownLength(of: entitlement)?.start(before: $0) })
    }
    return standing.until
  }
}

private struct Standing {
  private let shown: Instant
  private let shifts: [Int64]
  private(set) var until = Instant(milliseconds: .max)

  init(shown: Instant, _ rules: ReconciliationSettings) {
    self.shown = shown
    let gap = rules.fold.renewalGap.milliseconds
    shifts = [0, gap, -gap, -Interval.days(1).milliseconds, -rules.endTolerance.milliseconds]
  }

  mutating func add(_ moment: Instant?) {
    guard let moment else { return }
    for shift in shifts {
      let shifted = moment + Interval(milliseconds: shift)
      if shifted >= shown { until = min(until, shifted) }
    }
  }

  mutating func add(_ state: LineageState) {
    add(state.firstEventAt)
    add(state.lastEventAt)
    add(state.periodEnd)
    add(state.reportedEnd)
    add(state.lastReportedEnd)
    add(state.effectiveEnd)
    add(state.silentEnd)
    add(state.trials.last?.end)
    add(state.trials.last?.convertibleUntil)
    // The ends of the years of a 12-month commitment that a cancel leaves running.
    guard let cancel = state.lastCancelAt else { return }
    let begun = state.charges.lazy.map(\.time).min().map { min($0, cancel) } ?? cancel
    let starts = state.charges.filter { $0.kind != .renewal }.map(\.time)
    for start in [cancel, begun] + starts {
      let years = max(0, shown.since(start).milliseconds) / Interval.days(366).milliseconds
      add(start + .days(366 * (years + 1)))
    }
  }
}
