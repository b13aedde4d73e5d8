import Domain
import Subscriptions

/// How long what a comparison came to stands: it need not be made again before.
///
/// Every comparison of a check with the moment that a snapshot shows is one with an instant listed
/// here, moved by one of `shifts`; a moment too many costs a comparison, one too few a wrong break.
extension Reconciler {
  /// The last moment at which a snapshot of the same content shows the same; nil when as-of itself
  /// matters.
  var standsUntil: Instant? {
    guard let entitlements = user.snapshot?.entitlements else { return Instant(milliseconds: .max) }
    let listed = entitlements.flatMap(\.transactions)
    // What is dated after as-of is not expected before it.
    let dates = listed.flatMap { [$0.at, $0.revokedAt] }
    guard dates.allSatisfy({ $0.map { $0 < rules.fold.asOf } ?? true }) else { return nil }
    // What has no date gets one by the capture.
    guard listed.allSatisfy({ $0.at != nil }) else { return knownAt - Interval(milliseconds: 1) }
    var last = Instant(milliseconds: .max)
    let (shifts, shown) = (shifts, knownAt)
    func stand(until moments: [Instant]) {
      for moment in moments {
        for shift in shifts where moment + shift >= shown { last = min(last, moment + shift) }
      }
    }
    // A lineage that begins after the capture is compared once the snapshot knows it.
    for lineage in user.lineages + user.newerLineages {
      stand(until: moments(of: lineage.state))
      if let current = lineage.current { stand(until: moments(of: current)) }
    }
    for entitlement in entitlements { stand(until: moments(of: entitlement)) }
    return last
  }

  private var shifts: [Interval] {
    let gap = rules.fold.renewalGap.milliseconds
    return [0, gap, -gap, -Interval.days(1).milliseconds, -rules.endTolerance.milliseconds].map {
      Interval(milliseconds: $0)
    }
  }

  private func moments(of state: LineageState) -> [Instant] {
    [
      state.firstEventAt, state.lastEventAt, state.periodEnd, state.reportedEnd,
      state.lastReportedEnd, state.effectiveEnd, state.silentEnd, state.trials.last?.end,
      state.trials.last?.convertibleUntil,
    ].compactMap { $0 } + commitmentYears(state)
  }

  /// The ends of the years of a 12-month commitment that a cancel leaves running.
  private func commitmentYears(_ state: LineageState) -> [Instant] {
    guard let cancel = state.lastCancelAt else { return [] }
    let begun = ([cancel] + state.charges.map(\.time)).min() ?? cancel
    let starts = [cancel, begun] + state.charges.filter { $0.kind != .renewal }.map(\.time)
    return starts.map { start in
      let years = max(0, knownAt.since(start).milliseconds) / Interval.days(366).milliseconds
      return start + .days(366 * (years + 1))
    }
  }

  private func moments(of entitlement: Entitlement) -> [Instant] {
    let begin = entitlement.expiresAt.flatMap { end in
      knownLength(of: entitlement)?.start(before: end)
    }
    return [
      entitlement.startedAt, entitlement.trialStartedAt, entitlement.firstPurchasedAt,
      entitlement.lastPurchasedAt, entitlement.expiresAt, entitlement.autoRenewOffAt, begin,
    ].compactMap { $0 }
      + entitlement.transactions.flatMap { [$0.at, $0.expiresAt, $0.revokedAt] }
      .compactMap { $0 }
  }
}
