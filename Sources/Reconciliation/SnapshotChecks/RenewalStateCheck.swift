import Subscriptions
import Domain

extension Reconciler {
  /// Whether the subscription renews on both sides.
  ///
  /// A cancel or a mismatch mostly has no date in a snapshot. It is then dated at the lineage's
  /// latest event, the earliest possible time: waiting for the latest possible one would never end.
  func compareRenewal(_ match: EntitlementMatch) {
    switch match.entitlement.renewState {
    case .canceled where isCancelMissing(match): raiseCancel(match)
    case .billingIssue where isBillingIssueMissing(match): raiseBillingIssue(match)
    case .willRenew where contradictsRenewal(match): raiseRenewState(match)
    case .canceled, .billingIssue, .willRenew, .nonRenewable, .unknown, nil: break
    }
  }

  private func isBillingIssueMissing(_ match: EntitlementMatch) -> Bool {
    !match.lineage.state.isInBillingRetry && !match.lineage.state.accessRevoked
      && !isReportedLater(match.lineage, \.isInBillingRetry)
  }

  /// Expiry, refund and revocation imply that nothing renews: no cancel is expected.
  ///
  /// An ended subscription has an expiry of its own, unless the store gave up collecting, which is
  /// sent as a cancel. A list of purchases shows such an end like a payment that is still failing.
  private func isCancelMissing(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    if state.isInBillingRetry {
      guard match.entitlement.isActive != nil,
        !state.isTrial || wasGivenUp(match.entitlement)
      else { return false }
    } else if sendsExpirations, match.entitlement.isActive(at: knownAt) == false {
      guard wasGivenUp(match.entitlement) else { return false }
    }
    return !state.isAutoRenewOff && !state.isExpiryReported && !mayBeRevoked(state)
      && !wasCutShort(match) && !isReportedLater(match.lineage, \.isAutoRenewOff)
      && !missedRefunds.contains(match.lineage.name)
      && match.entitlement.newestTransaction?.revokedAt == nil
      && !isCancelReported(match)
  }

  /// Whether access ended before the period did: a refund or a revocation took it away.
  private func wasCutShort(_ match: EntitlementMatch) -> Bool {
    match.entitlement.isActive(at: knownAt) == false && earlyEnd(of: match) != nil
  }

  /// Whether an earlier cancel is the one that the snapshot shows.
  private func isCancelReported(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    guard let off = match.entitlement.autoRenewOffAt else {
      return !state.isInBillingRetry && isServingCommitment(match.lineage)
    }
    // Of the cancel before the first event nothing had to come.
    guard isWatched(off, subject(match.lineage)) else { return true }
    return state.lastCancelAt.map { $0 >= off - rules.endTolerance } ?? false
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

  private func raiseCancel(_ match: EntitlementMatch) {
    raise(
      stateDraft(
        .missedCancel, match,
        at: match.entitlement.autoRenewOffAt ?? match.lineage.state.lastEventAt, missing: 1,
        "\(describe(match.entitlement)); no cancel event came"))
  }

  /// A charge that was missed has switched renewal on again, unless an older one is missing.
  private func contradictsRenewal(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    return state.isAutoRenewOff && !state.accessRevoked
      && match.entitlement.isActive(at: knownAt) != false
      && !missing(in: match.lineage).contains { isAfterLastPeriod($0, state) }
  }

  private func raiseRenewState(_ match: EntitlementMatch) {
    raise(
      stateDraft(
        .renewStateMismatch, match, at: match.lineage.state.lastEventAt, missing: 0,
        "events show a cancel; \(describe(match.entitlement))"))
  }
}
