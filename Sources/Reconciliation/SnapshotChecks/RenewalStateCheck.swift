import Domain
import Subscriptions

extension Reconciler {
  /// Compares whether the subscription renews on both sides.
  ///
  /// A cancel or a mismatch usually has no date in a snapshot. It is then dated at the lineage's
  /// latest event, the earliest possible time: at the latest one, it would stay pending.
  func compareRenewal(_ match: EntitlementMatch) {
    let lastEventAt = match.lineage.state.lastEventAt
    switch match.entitlement.renewState {
    case .canceled where !isOverByStates(match) && isSwitchMissing(match):
      raiseState(
        .missedCancel, match, at: match.entitlement.autoRenewOffAt ?? lastEventAt,
        "\(describe(match.entitlement)); no cancel event arrived")
    case .billingIssue where isBillingIssueMissing(match): raiseBillingIssue(match)
    case .willRenew where contradictsRenewal(match):
      raiseState(
        .renewStateMismatch, match, at: lastEventAt,
        "events show a cancel; \(describe(match.entitlement))")
    case .canceled, .billingIssue, .willRenew, .nonRenewable, .unknown, nil: break
    }
  }

  private func isBillingIssueMissing(_ match: EntitlementMatch) -> Bool {
    !match.lineage.state.isInBillingRetry && !match.lineage.state.accessRevoked
      && !isReportedLater(match.lineage, .failedPayment)
  }

  /// Whether the state that shows the end of a canceled subscription is missing.
  private func isEndMissing(_ match: EntitlementMatch) -> Bool {
    match.entitlement.renewState == .canceled && isOverByStates(match) && isSwitchMissing(match)
      && !isReportedLater(match.lineage, .expiry)
  }

  /// Whether it is over and its provider sends states, which show the end and not the cancel.
  private func isOverByStates(_ match: EntitlementMatch) -> Bool { !sendsEvents && isOver(match) }

  /// Whether nothing reported that auto-renew went off; expiry, refund and revocation imply that
  /// nothing renews, so no cancel is expected then.
  ///
  /// An ended subscription has its own expiry, unless the store gave up collecting, which is sent
  /// as a cancel. A list of purchases shows such an end like a payment that is still failing.
  private func isSwitchMissing(_ match: EntitlementMatch) -> Bool {
    let (state, entitlement) = (match.lineage.state, match.entitlement)
    if state.isInBillingRetry {
      guard entitlement.isActive != nil, !state.isTrial || wasGivenUp(entitlement)
      else { return false }
    } else if sendsEvents, isOver(match), !wasGivenUp(entitlement) {
      return false
    }
    // A refund or a revocation ends access before the period's end.
    if isOver(match), earlyEnd(of: match) != nil { return false }
    return !state.isAutoRenewOff && state.expiredAt == nil && !mayBeRevoked(match.lineage)
      && !isReportedLater(match.lineage, .cancel) && !isRefundMissed(match.lineage)
      && entitlement.newestTransaction?.revokedAt == nil && !isCancelReported(match)
  }

  /// Whether an earlier cancel is the one that the snapshot shows.
  private func isCancelReported(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    guard let off = match.entitlement.autoRenewOffAt else {
      return !state.isInBillingRetry && isServingCommitment(match.lineage)
    }
    // A cancel before the first event was not expected to arrive.
    guard isWatched(off, match.lineage) else { return true }
    return state.lastSwitchedOff.map { $0 >= off - rules.endTolerance } ?? false
  }

  /// Whether a monthly plan with a 12-month commitment still renews after its cancel, until the
  /// year of the commitment is over.
  private func isServingCommitment(_ lineage: LineageInput) -> Bool {
    let state = lineage.state
    guard let cancel = state.lastCancelAt, !state.churned.contains(where: { $0.at >= cancel })
    else { return false }
    if let length = periodLength(lineage.state), !length.isMonth { return false }
    let start = state.charges.last { $0.kind == .first || $0.kind == .conversion }
    let begun = (start ?? state.subscriptionCharges.first)?.time
    // Before any period is known, only the cancel is known.
    guard let begun, begun <= cancel else { return begun == nil && knownAt < cancel + .days(366) }
    let year = Interval.days(366).milliseconds
    return cancel.since(begun).milliseconds / year == knownAt.since(begun).milliseconds / year
  }

  /// Whether a cancel contradicts the snapshot; a missed charge has switched renewal on again,
  /// unless it is an older one, and so has a later renewal.
  private func contradictsRenewal(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    return state.isAutoRenewOff && !state.accessRevoked
      && !isOver(match) && missing(in: match.lineage, after: state).isEmpty
      && !isReportedLater(match.lineage, .renewal)
  }

  /// Finds ends that an event should have reported: auto-renew was off on one side, and no payment
  /// failed.
  func compareExpirations() {
    for match in matches where isExpirationMissing(match) {
      // Until the gap has passed, a renewal that the snapshot announces may still be processed.
      let wait = match.entitlement.renewState == .willRenew ? gap : .seconds(0)
      guard let end = unreportedEnd(match), end + wait < knownAt, isWatched(end, match.lineage)
      else { continue }
      raiseExpiration(match, at: end)
    }
    for match in runningMatches where isEndMissing(match) {
      raiseExpiration(match, at: unreportedEnd(match) ?? match.lineage.state.lastEventAt)
    }
  }

  private func raiseExpiration(_ match: EntitlementMatch, at end: Instant) {
    raiseState(
      .missedExpiration, match, at: end,
      "canceled, and ended \(end.text); \(describe(match.entitlement)); no expiry event arrived")
  }

  /// Whether an expiry is missing; while a payment fails, none is until the store gives up.
  private func isExpirationMissing(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    let isOff = state.isAutoRenewOff || match.entitlement.renewState == .canceled
    guard sendsEvents, isOff, match.entitlement.renewState != .billingIssue, isOver(match),
      state.expiredAt == nil, !hasGivenUp(state), !mayBeRevoked(match.lineage),
      !wasGivenUp(match.entitlement), !isRefundMissed(match.lineage),
      !isReportedLater(match.lineage, .expiry)
    else { return false }
    // A trial whose conversion could not be charged expires, unless a cancel after its end showed
    // that the store had given up; a paid subscription is canceled instead.
    guard state.isInBillingRetry else { return true }
    return state.isTrial && match.entitlement.isActive != nil && !isCanceledAfterEnd(state)
  }

  /// The end that no expiry reported; nil if the ends differ, which is a separate break.
  private func unreportedEnd(_ match: EntitlementMatch) -> Instant? {
    let state = match.lineage.state
    // Purple sends neither the end nor the length of a trial.
    guard let known = state.effectiveEnd else {
      return capabilities.sendsPeriodEnds ? nil : match.entitlement.expiresAt
    }
    if state.isInBillingRetry { return max(known, state.lastEventAt) }
    guard let shown = match.entitlement.expiresAt else { return known }
    if agree(shown, known) || state.periodEnd.map({ agree(shown, $0) }) ?? false { return known }
    return missing(in: match.lineage, after: state).isEmpty ? nil : shown
  }

  /// Raises a break about the last period; that of an event only if the provider sends it.
  func raiseState(
    _ code: BreakCode, _ match: EntitlementMatch, at: Instant, _ evidence: String
  ) {
    let isSent = match.lineage.state.isSentOnChange && !isReplaced(match.lineage)
    guard !code.isMissing || isSent else { return }
    // An older charge that arrives late does not change when the period was charged.
    let charged = match.lineage.state.subscriptionCharges.last?.time
    raise(
      BreakDraft(
        code: code, subject: subject(match.lineage), key: .period(charged), expectedAt: at,
        worth: code.isMissing ? nothing : (nil, .none), evidence: evidence))
  }

  func raiseBillingIssue(_ match: EntitlementMatch) {
    let state = match.lineage.state
    // The store starts to collect a day before the end; an earlier failure has no date.
    let end = state.reportedEnd ?? state.periodEnd
    let due = end.flatMap { $0 - .days(1) <= knownAt ? min($0, knownAt) : nil } ?? state.lastEventAt
    raiseState(
      .missedBillingIssue, match, at: hasGivenUp(state) ? due : max(due, state.lastEventAt),
      "\(describe(match.entitlement)); no billing retry event arrived")
  }

  /// The source of the entitlements as text.
  var snapshotWords: String {
    guard isOfWebhook else { return "the snapshot shows" }
    return "the entitlements in the webhook of \(view.capturedAt.text) show"
  }

  func describe(_ entitlement: Entitlement) -> String {
    let access = entitlement.isActive(at: knownAt).map { $0 ? "active" : "inactive" }
    var words = "\(snapshotWords) \(access ?? "entitlement \(entitlement.id)")"
    if let end = entitlement.expiresAt { words += " until \(end.text)" }
    if let state = entitlement.renewState { words += ", \(state.words)" }
    return words
  }
}

extension RenewState {
  var words: String {
    switch self {
    case .nonRenewable: "not renewable"
    case .unknown: "renewal unknown"
    case .willRenew: "will renew"
    case .canceled: "canceled"
    case .billingIssue: "billing issue"
    }
  }
}
