import Subscriptions
import Domain

extension Reconciler {
  /// A subscription that the snapshot saw begin while the feed was running needs its start.
  func findMissingStart(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.latest)
    guard state.trials.isEmpty, let started = match.startedAt, started < knownAt,
      missing(in: lineage).isEmpty, !state.isStartSeen || isFirstPurchase(started, of: match)
    else { return }
    let firstPaid = state.subscriptionCharges.first
    if let firstPaid {
      let begins = min(firstPaid.periodStart, firstPaid.time)
      guard started + rules.fold.renewalGap < begins else { return }
    }
    guard isWatched(started, subject(lineage)) else {
      if state.isStartSeen { raiseOlder(lineage, than: started) }
      return
    }
    let isFree = firstPaid == nil && match.entitlement.isTrial == true
    let product = productBegun(in: lineage, at: started)
    let money = estimate(lineage, product: product, at: started)
    let came = firstPaid.map { "the first charge that came is of \($0.time.text)" }
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage, product: product),
        expectedAt: started, estimate: isFree ? .zero : money.amount,
        basis: isFree ? .provider : money.basis,
        evidence: "the snapshot starts it at \(started.text); " + (came ?? "no charge ever came")),
      for: MissingCharge(
        lineage: lineage.name, code: .missedStart, at: started,
        end: firstPaid == nil ? match.entitlement.expiresAt : nil, isFree: isFree,
        opensLineage: true))
  }

  /// Whether the snapshot dates a first purchase of the entitlement that no event reports, although
  /// the subscription's start arrived.
  private func isFirstPurchase(_ started: Instant, of match: EntitlementMatch) -> Bool {
    match.entitlement.firstPurchasedAt == started && !isKnown(started)
  }

  /// Records that a subscription which counts as new began before the feed: nothing is missing.
  private func raiseOlder(_ lineage: LineageInput, than started: Instant) {
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage), key: .after(started), expectedAt: started,
        missingEvents: 0, isMereInformation: true, severity: .info,
        evidence: "the snapshot dates the first purchase at \(started.text), before the first "
          + "event of the feed: the subscription counts as new and was first_seen"))
  }
}
