import Subscriptions
import Domain

extension Reconciler {
  /// Ends that an event should have reported: auto-renew was off on one side, and no payment
  /// failed.
  func compareExpirations() {
    for match in matches where isExpirationMissing(match) {
      guard let end = unreportedEnd(match), end < knownAt, isWatched(end, subject(match.lineage))
      else { continue }
      raise(
        stateDraft(
          .missedExpiration, match, at: end, missing: 1,
          "canceled, and ended \(end.text); \(describe(match.entitlement)); no expiry event came"))
    }
  }

  /// What ends while its payment fails has no expiry as long as the store collects.
  private func isExpirationMissing(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    let isOff = state.isAutoRenewOff || match.entitlement.renewState == .canceled
    guard sendsExpirations, isOff, match.entitlement.renewState != .billingIssue,
      !state.isExpiryReported,
      !hasGivenUp(state), !mayBeRevoked(state),
      match.entitlement.isActive(at: knownAt) == false, !wasGivenUp(match.entitlement),
      !missedRefunds.contains(match.lineage.name),
      !isReportedLater(match.lineage, \.isExpiryReported)
    else { return false }
    // A trial whose conversion could not be charged expires, unless a cancel after its end showed
    // that the store had given up; a paid subscription is canceled.
    guard state.isInBillingRetry else { return true }
    return state.isTrial && match.entitlement.isActive != nil && !isCanceledAfterEnd(state)
  }

  /// The end that no expiry reported; nil where the ends differ, which is a break of its own.
  private func unreportedEnd(_ match: EntitlementMatch) -> Instant? {
    let state = match.lineage.state
    // Purple sends neither end nor length of a trial.
    guard let known = state.effectiveEnd else {
      return user.provider.capabilities.sendsPeriodEnds ? nil : match.entitlement.expiresAt
    }
    if state.isInBillingRetry { return max(known, state.lastEventAt) }
    guard let shown = match.entitlement.expiresAt else { return known }
    if agree(shown, known) || state.periodEnd.map({ agree(shown, $0) }) ?? false { return known }
    return missing(in: match.lineage).contains { isAfterLastPeriod($0, state) } ? shown : nil
  }
}
