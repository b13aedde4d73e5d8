import Domain
import Subscriptions

extension Reconciler {
  /// Finds the missing starts that the snapshot dates while the feed was active: of the first
  /// access and, after a lapse, of the present one.
  func findMissingStart(_ match: EntitlementMatch) {
    let lineage = match.lineage
    if let first = match.firstStartedAt, first != match.startedAt {
      // The first purchase was of the earlier subscription, if its start is unknown.
      let earlier = allLineages.first { other in
        let state = other.latest
        return state.isSubscription && !state.isStartSeen && first < state.firstEventAt
          && state.firstEventAt < lineage.latest.firstEventAt
      }
      findMissingStart(of: earlier ?? lineage, at: first, match)
    }
    if let started = match.startedAt { findMissingStart(of: lineage, at: started, match) }
  }

  private func findMissingStart(
    of lineage: LineageInput, at started: Instant, _ match: EntitlementMatch
  ) {
    let state = lineage.latest
    guard state.trials.isEmpty, started < knownAt,
      missing(in: lineage).isEmpty,
      // Although a start arrived, the snapshot can date an earlier purchase that no event reports.
      !state.isStartSeen || match.entitlement.firstPurchasedAt == started
    else { return }
    let firstPaid = state.subscriptionCharges.first
    // Access can continue from another lineage, as through a product change on Play.
    guard firstPaid.map({ started + gap < min($0.periodStart, $0.time) }) ?? true,
      !isKnown(started)
    else { return }
    guard isWatched(started, lineage) else {
      if state.isStartSeen { raiseOlder(lineage, than: started) }
      return
    }
    let isFree =
      state.isTrialNoticed || firstPaid == nil && match.entitlement.isTrial == true
    let first = firstPaid.map { "the first charge that arrived is of \($0.time.text)" }
    raiseCharge(
      .missedStart, of: lineage, at: started,
      until: firstPaid == nil ? match.entitlement.expiresAt : nil, isFree: isFree,
      opensLineage: true, isProvenByEvents: false,
      "\(snapshotWords) a start of \(started.text); \(first ?? "no charge ever arrived")")
  }

  /// Records that a subscription counted as new began before the feed: nothing is missing.
  private func raiseOlder(_ lineage: LineageInput, than started: Instant) {
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage), key: .after(started), expectedAt: started,
        isInformational: true,
        evidence: "the snapshot dates the first purchase at \(started.text), before the first "
          + "event of the feed: the subscription counts as new and was first_seen"))
  }

  /// Finds a trial that the snapshot dates and no event reported.
  func findMissingTrial(_ match: EntitlementMatch) {
    let lineage = match.lineage
    guard let at = match.entitlement.trialStartedAt, lineage.latest.trials.isEmpty, at < knownAt,
      !isKnown(at), !missing(in: lineage).contains(where: \.isFree), isWatched(at, lineage)
    else { return }
    raiseCharge(
      .missedStart, of: lineage, at: at, isFree: true, opensLineage: true, isProvenByEvents: false,
      "the snapshot starts a trial at \(at.text); no trial start arrived")
  }

  /// Finds a latest purchase that the snapshot dates and no event reports.
  func findMissingLastPurchase(_ match: EntitlementMatch) {
    let (lineage, entitlement) = (match.lineage, match.entitlement)
    let state = lineage.latest
    guard let at = unreportedPurchase(match), missing(in: lineage, after: state).isEmpty,
      isWatched(at, lineage)
    else { return }
    let trial = state.isTrial ? state.trials.last : nil
    let code =
      trial?.codeOfCharge(at: at)
      ?? state.periodEnd.map { codeOfCharge(at: at, after: $0, state) } ?? .missedStart
    let last = state.subscriptionCharges.last.map { "the last charge is of \($0.time.text)" }
    raiseCharge(
      code, of: lineage, product: product(of: lineage, at: at), at: at,
      until: entitlement.expiresAt,
      isOffer: entitlement.grant == .offerCode && entitlement.hasOfferCode,
      opensLineage: code == .missedStart && state.charges.isEmpty, isProvenByEvents: false,
      "the snapshot shows a purchase of \(at.text); \(last ?? "no charge arrived")")
  }

  /// When the snapshot dates a purchase after the last charge that no event reports; nil if it does
  /// not.
  func unreportedPurchase(_ match: EntitlementMatch) -> Instant? {
    let entitlement = match.entitlement
    guard let at = entitlement.lastPurchasedAt, at < knownAt, at != entitlement.trialStartedAt,
      match.lineage.latest.subscriptionCharges.last.map({ $0.time + gap < at }) ?? true,
      !isKnown(at)
    else { return nil }
    return at
  }

  /// Whether an event or a listed transaction of the user is at that time, within the gap.
  func isKnown(_ instant: Instant) -> Bool {
    func isNear(_ other: Instant) -> Bool { other.isWithin(gap, of: instant) }
    return view.transactions.contains { $0.kind != .oneTime && $0.at.map(isNear) ?? false }
      || (allLineages + sandbox).contains { lineage in
        let state = lineage.latest
        return state.subscriptionCharges.contains { isNear($0.time) || isNear($0.periodStart) }
          || state.trials.contains { isNear($0.start) }
          || state.unseenPeriods.contains { isNear($0.start ?? $0.end) }
      }
  }
}
