import Subscriptions
import Domain

/// Whether the subscription goes on, as both sides say.
extension Reconciler {
  /// Compares what both sides say about renewal.
  ///
  /// A cancel or a mismatch mostly has no date in a snapshot. Without one it is dated at the
  /// lineage's latest event, the earliest it can have happened: waiting for the latest possible
  /// moment would never end.
  mutating func compareRenewal(_ match: EntitlementMatch) {
    switch match.entitlement.renewState {
    case .canceled where isCancelMissing(match): raiseCancel(match)
    case .billingIssue where isBillingIssueMissing(match): raiseBillingIssue(match)
    case .willRenew where contradictsRenewal(match): raiseRenewState(match)
    case .canceled, .billingIssue, .willRenew, .nonRenewable, .unknown, nil: break
    }
  }

  private func isBillingIssueMissing(_ match: EntitlementMatch) -> Bool {
    !match.lineage.state.isInBillingRetry && !match.lineage.state.accessTakenAway
      && !isToldLater(match.lineage, \.isInBillingRetry)
  }

  /// Expiry, refund and revocation imply that nothing renews: no cancel is expected.
  ///
  /// What has ended has an expiry of its own, unless the store gave up collecting: that is told as
  /// a cancel. A list of purchases cannot tell such an end from a payment that is failing still.
  private func isCancelMissing(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    if state.isInBillingRetry {
      guard match.entitlement.isActive != nil,
        !state.isTrial || wasGivenUp(match.entitlement)
      else { return false }
    } else if tellsExpiry, match.entitlement.isActive(at: knownAt) == false {
      guard wasGivenUp(match.entitlement) else { return false }
    }
    return !state.isAutoRenewOff && !state.isExpiryTold && !mayBeTakenAway(state)
      && !wasCutShort(match) && !isToldLater(match.lineage, \.isAutoRenewOff)
      && !missedRefunds.contains(match.lineage.name)
      && match.entitlement.newestTransaction?.revokedAt == nil
      && !isCancelTold(match)
  }

  /// Whether access ended before the period did: a refund or a revocation took it away.
  private func wasCutShort(_ match: EntitlementMatch) -> Bool {
    match.entitlement.isActive(at: knownAt) == false && earlyEnd(of: match) != nil
  }

  /// Whether auto-renew went off after the end: the payment had failed, and the store gave up.
  private func wasGivenUp(_ entitlement: Entitlement) -> Bool {
    guard let off = entitlement.autoRenewOffAt, let end = entitlement.expiresAt else {
      return false
    }
    return off > end + rules.endTolerance
  }

  /// Whether an earlier cancel is the one that the snapshot shows.
  private func isCancelTold(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    guard let off = match.entitlement.autoRenewOffAt else {
      return !state.isInBillingRetry && isServingCommitment(match.lineage)
    }
    // Of the cancel before the first event nothing had to come.
    guard isWatched(off, subject(match.lineage)) else { return true }
    return state.lastCancelAt.map { $0 >= off - rules.endTolerance } ?? false
  }

  /// Whether a refund ended access, or one whose charge never came may have.
  private func mayBeTakenAway(_ state: LineageState) -> Bool {
    let paid = state.subscriptionCharges.last?.time
    return state.accessTakenAway || state.isTrialGivenBack
      || state.refunds.contains { refund in
        !refund.chargeIsKnown && (paid.map { (refund.chargedAt ?? refund.time) >= $0 } ?? true)
      }
  }

  /// A monthly plan with a 12-month commitment goes on renewing after its cancel, until the year
  /// of the commitment is over.
  private func isServingCommitment(_ lineage: LineageInput) -> Bool {
    let state = lineage.state
    guard let cancel = state.lastCancelAt else { return false }
    if let length = periodLength(lineage), !length.isMonth { return false }
    let start = state.charges.last { $0.kind == .first || $0.kind == .conversion }
    let begun = (start ?? state.subscriptionCharges.first)?.time
    // Before any period is known, the cancel is all there is to go by.
    guard let begun, begun <= cancel else { return begun == nil && knownAt < cancel + .days(366) }
    let year = Interval.days(366).milliseconds
    return cancel.since(begun).milliseconds / year == knownAt.since(begun).milliseconds / year
  }

  private mutating func raiseCancel(_ match: EntitlementMatch) {
    raise(
      stateDraft(
        .missedCancel, match,
        at: match.entitlement.autoRenewOffAt ?? match.lineage.state.lastEventAt, missing: 1,
        "\(told(match.entitlement)); no cancel event came"))
  }

  mutating func raiseBillingIssue(_ match: EntitlementMatch) {
    let state = match.lineage.state
    // The store begins to collect a day before the end. What failed before that has no date.
    let collects = state.periodEnd.map { $0 - .days(1) <= knownAt } ?? false
    let due = collects ? min(state.periodEnd ?? knownAt, knownAt) : state.lastEventAt
    raise(
      stateDraft(
        .missedBillingIssue, match, at: hasGivenUp(state) ? due : max(due, state.lastEventAt),
        missing: 1,
        "\(told(match.entitlement)); no billing retry event came"))
  }

  /// A charge that was missed has switched renewal on again, unless an older one is missing.
  private func contradictsRenewal(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    return state.isAutoRenewOff && !state.accessTakenAway
      && match.entitlement.isActive(at: knownAt) != false
      && !missing(in: match.lineage).contains { isAfterLastPeriod($0, state) }
  }

  private mutating func raiseRenewState(_ match: EntitlementMatch) {
    raise(
      stateDraft(
        .renewStateMismatch, match, at: match.lineage.state.lastEventAt, missing: 0,
        "events say canceled; \(told(match.entitlement))"))
  }

  /// Ends that were due to be told: auto-renew was off, as one side says, and no payment failed.
  mutating func compareExpirations(_ matches: [EntitlementMatch]) {
    for match in matches where isExpirationMissing(match) {
      guard let end = untoldEnd(match), end < knownAt, isWatched(end, subject(match.lineage))
      else { continue }
      raise(
        stateDraft(
          .missedExpiration, match, at: end, missing: 1,
          "canceled, and ended \(end.text); \(told(match.entitlement)); no expiry event came"))
    }
  }

  /// What ends while its payment fails has no expiry as long as the store collects.
  private func isExpirationMissing(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    let isOff = state.isAutoRenewOff || match.entitlement.renewState == .canceled
    guard tellsExpiry, isOff, match.entitlement.renewState != .billingIssue, !state.isExpiryTold,
      !hasGivenUp(state), !mayBeTakenAway(state),
      match.entitlement.isActive(at: knownAt) == false, !wasGivenUp(match.entitlement),
      !missedRefunds.contains(match.lineage.name),
      !isToldLater(match.lineage, \.isExpiryTold)
    else { return false }
    // A trial whose conversion could not be charged expires, unless a cancel after its end told
    // that the store had given up; what was paid for is canceled.
    guard state.isInBillingRetry else { return true }
    return state.isTrial && match.entitlement.isActive != nil && !isCanceledAfterEnd(state)
  }

  /// The end that no expiry told; nil where the ends differ, which is a break of its own.
  private func untoldEnd(_ match: EntitlementMatch) -> Instant? {
    let state = match.lineage.state
    // Of a trial Purple tells no end at all, and no length.
    guard let known = state.effectiveEnd else {
      return user.provider.capabilities.sendsPeriodEnds ? nil : match.entitlement.expiresAt
    }
    if state.isInBillingRetry { return max(known, state.lastEventAt) }
    guard let shown = match.entitlement.expiresAt else { return known }
    if agree(shown, known) || state.periodEnd.map({ agree(shown, $0) }) ?? false { return known }
    return missing(in: match.lineage).contains { isAfterLastPeriod($0, state) } ? shown : nil
  }

  /// Whether an event is sent when a subscription lapses; else the end is read from states.
  var tellsExpiry: Bool { user.provider.capabilities.body == .event }

  private func stateDraft(
    _ code: BreakCode, _ match: EntitlementMatch, at: Instant, missing: Int64, _ evidence: String
  ) -> BreakDraft {
    BreakDraft(
      code: code, subject: subject(match.lineage),
      key: lastPeriod(match.lineage.state), expectedAt: at,
      missingEvents: missing, estimate: missing > 0 ? .zero : nil, basis: .provider,
      severity: .low, evidence: evidence,
      action: nextStep(code, user.provider))
  }
}
