import Subscriptions
import Domain

extension Reconciler {
  /// A trial that the snapshot dates, and no event announced.
  func findMissingTrial(_ match: EntitlementMatch) {
    let lineage = match.lineage
    guard let at = match.entitlement.trialStartedAt, lineage.latest.trials.isEmpty, at < knownAt,
      !isKnown(at), !missing(in: lineage).contains(where: \.isFree), isWatched(at, subject(lineage))
    else { return }
    let product = productBegun(in: lineage, at: at)
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage, product: product),
        expectedAt: at, estimate: .zero, basis: .provider,
        evidence: "the snapshot starts a trial at \(at.text); no trial start came"),
      for: MissingCharge(
        lineage: lineage.name, code: .missedStart, at: at, end: nil, isFree: true,
        opensLineage: true))
  }

  /// A latest purchase that the snapshot dates, and no event reports.
  func findMissingLastPurchase(_ match: EntitlementMatch) {
    let (lineage, entitlement) = (match.lineage, match.entitlement)
    let state = lineage.latest
    guard let at = entitlement.lastPurchasedAt, at < knownAt, at != entitlement.trialStartedAt,
      state.subscriptionCharges.last.map({ $0.time + rules.fold.renewalGap < at }) ?? true,
      !isKnown(at), !missing(in: lineage).contains(where: { isAfterLastPeriod($0, state) }),
      isWatched(at, subject(lineage))
    else { return }
    let code = lastPurchase(at, state)
    let product = product(of: lineage, at: at)
    let money = estimate(
      lineage, product: product, of: code, at: at,
      isOffer: entitlement.grant == .offerCode && entitlement.hasOfferCode)
    let last = state.subscriptionCharges.last.map { "the last charge is of \($0.time.text)" }
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product), expectedAt: at,
        estimate: money.amount, basis: money.basis,
        evidence: "the snapshot shows a purchase of \(at.text); \(last ?? "no charge came")"),
      for: MissingCharge(
        lineage: lineage.name, code: code, at: at, end: entitlement.expiresAt,
        opensLineage: code == .missedStart && state.charges.isEmpty))
  }

  private func lastPurchase(_ at: Instant, _ state: LineageState) -> BreakCode {
    if state.isTrial, let trial = state.trials.last {
      let isConversion = trial.convertibleUntil.map { at <= $0 } ?? true
      return isConversion ? .missedConversion : .missedStart
    }
    guard let end = state.periodEnd else { return .missedStart }
    return isExpired(state, at: end) && at > end + rules.fold.renewalGap
      ? .missedStart : .missedRenewal
  }

  /// Whether an event or a listed transaction of the user is of that time, within the gap.
  func isKnown(_ instant: Instant) -> Bool {
    func isNear(_ other: Instant) -> Bool {
      abs(other.since(instant).milliseconds) <= rules.fold.renewalGap.milliseconds
    }
    return (view?.transactions.contains { $0.at.map(isNear) ?? false } ?? false)
      || (lineagesOfAnyTime + sandbox).contains { lineage in
        let state = lineage.latest
        return state.charges.contains { isNear($0.time) || isNear($0.periodStart) }
          || state.trials.contains { isNear($0.start) }
          || state.unseenPeriods.contains { isNear($0.start ?? $0.end) }
      }
  }
}
