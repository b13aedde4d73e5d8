import Subscriptions
import Domain

/// What both sides report about the last period of a subscription.
extension Reconciler {
  func agree(_ left: Instant, _ right: Instant) -> Bool {
    left.isWithin(rules.endTolerance, of: right)
  }

  /// Whether the snapshot shows access.
  func isOn(_ entitlement: Entitlement) -> Bool { entitlement.isActive(at: knownAt) == true }
  func isOn(_ match: EntitlementMatch) -> Bool { isOn(match.entitlement) }

  /// Whether the snapshot shows that access ended.
  func isOver(_ entitlement: Entitlement) -> Bool { entitlement.isActive(at: knownAt) == false }
  func isOver(_ match: EntitlementMatch) -> Bool { isOver(match.entitlement) }

  /// The shown end and the paid end, if the shown one is earlier.
  ///
  /// The break stays the same when the paid end has passed.
  func earlyEnd(of match: EntitlementMatch) -> (shown: Instant, known: Instant)? {
    guard let known = match.lineage.state.periodEnd, let shown = match.entitlement.expiresAt,
      shown < known, !agree(shown, known)
    else { return nil }
    return (shown, known)
  }

  func isAfterLastPeriod(_ charge: MissingCharge, _ state: LineageState) -> Bool {
    guard let at = charge.at else { return false }
    return begin(ofLastPeriodIn: state).map { at > $0 } ?? true
  }

  /// The missing charges after the last period that `state` reports.
  func missing(in lineage: LineageInput, after state: LineageState) -> [MissingCharge] {
    missing(in: lineage).filter { isAfterLastPeriod($0, state) }
  }

  /// When the last reported period began.
  func begin(ofLastPeriodIn state: LineageState) -> Instant? {
    state.subscriptionCharges.last?.time ?? state.trials.last?.start
  }

  /// Whether an event after the snapshot reports what the snapshot already shows.
  ///
  /// Cancels, failed payments and ends have the time at which they were noticed. Those of a later
  /// period do not explain the snapshot.
  func isReportedLater(_ lineage: LineageInput, _ notice: Notice) -> Bool {
    lineage.current?.noticesSince.contains(notice) ?? false
  }

  /// Whether the store gave up: a cancel after the end is the store's, which collected until then.
  func hasGivenUp(_ state: LineageState) -> Bool {
    !state.isInBillingRetry && isCanceledAfterEnd(state)
  }

  func isCanceledAfterEnd(_ state: LineageState) -> Bool {
    guard let end = state.reportedEnd ?? state.periodEnd, let cancel = state.lastCancelAt
    else { return false }
    return cancel > end + rules.endTolerance
  }

  /// Whether auto-renew went off after the end: the payment had failed and the store gave up.
  func wasGivenUp(_ entitlement: Entitlement) -> Bool {
    guard let off = entitlement.autoRenewOffAt, let end = entitlement.expiresAt else {
      return false
    }
    return off > end + rules.endTolerance
  }

  /// Whether a refund ended access, or one whose charge is missing may have.
  ///
  /// It has not if a charge followed, whether that arrived or is missing too.
  func mayBeRevoked(_ lineage: LineageInput) -> Bool {
    let state = lineage.state
    let paid = state.subscriptionCharges.last?.time
    return state.accessRevoked || state.isTrialGivenBack
      || state.refunds.contains { refund in
        let charged = refund.chargedAt ?? refund.time
        return !refund.chargeIsKnown && (paid.map { charged >= $0 } ?? true)
          && !missing(in: lineage).contains { $0.at.map { $0 > charged + gap } ?? false }
      }
  }

  /// Whether an expiry reported the end at `base`; one that is a period later ended another one.
  func isExpired(_ state: LineageState, at base: Instant) -> Bool {
    guard let expiredAt = state.expiredAt else { return false }
    // The expiry after a later charge is not that of the period until `base`.
    if let last = state.subscriptionCharges.last, last.time > base + gap {
      return state.churned.contains { $0.isExpired && $0.at.isWithin(gap, of: base) }
    }
    let reported = state.reportedEnd ?? (capabilities.sendsPeriodEnds ? base : state.lastEventAt)
    return min(reported, max(base, expiredAt)) <= base + gap
  }

  /// The code of a missing charge at `at`, after a paid period that ended at `end`.
  func codeOfCharge(at: Instant, after end: Instant, _ state: LineageState) -> BreakCode {
    hasLapsed(state, at: end, before: at) && at > end + gap ? .missedStart : .missedRenewal
  }

  /// Whether the subscription had lapsed before a charge: an expiry reported the end at `base`, or
  /// the store had given up collecting.
  func hasLapsed(_ state: LineageState, at base: Instant, before charge: Instant) -> Bool {
    isExpired(state, at: base) || state.gaveUpAt.map { charge >= $0 } ?? false
  }

  func hasRefundsOnly(_ state: LineageState) -> Bool {
    state.charges.isEmpty && state.trials.isEmpty
      && Set(state.transactions).isSubset(of: state.refunds.map(\.transaction))
  }

  /// Whether an event reports each lapse; otherwise states show the end.
  var sendsEvents: Bool { capabilities.body == .event }

  /// Whether events show an active subscription and the entitlement an inactive one.
  func isAhead(_ match: EntitlementMatch) -> Bool {
    isOver(match) && isActive(match.lineage.state, at: knownAt)
      && !isInUnreportedGrace(match) && !isRefundMissed(match.lineage)
      && !isTransferred(match.lineage) && !isReportedLater(match.lineage, .revocation)
      && !isDerivedEndShown(match) && !isEndShownLater(match)
  }

  /// Whether a later state without access shows that the period had ended: within the gap of its
  /// end, that is an expiry, which counts at the end.
  private func isEndShownLater(_ match: EntitlementMatch) -> Bool {
    guard !sendsEvents, let end = match.lineage.state.effectiveEnd, end <= knownAt + gap
    else { return false }
    return isReportedLater(match.lineage, .expiry)
      || match.lineage.latest.churned.contains { agree($0.at, end) }
  }

  /// Whether access ended at an end derived from the product's length, which is as inexact as the
  /// time at which the charge was reported, or while a payment fails: how long access lasts then is
  /// only assumed.
  private func isDerivedEndShown(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.state
    guard !capabilities.sendsPeriodEnds, let shown = match.entitlement.expiresAt, shown <= knownAt,
      let paid = state.isInBillingRetry ? state.periodEnd : state.effectiveEnd
    else { return false }
    let known = missing(in: match.lineage, after: state).compactMap(\.end).reduce(paid, max)
    if known.isWithin(gap, of: shown) { return true }
    guard state.isInBillingRetry, known < shown else { return false }
    let length = periodLength(match.lineage.state)?.milliseconds ?? 0
    return shown.since(known).milliseconds < length / 10 * 9
  }

  /// Whether the shown end is the paid end: a list of purchases lacks the grace after it.
  private func isInUnreportedGrace(_ match: EntitlementMatch) -> Bool {
    guard match.entitlement.isActive == nil, let end = match.entitlement.expiresAt,
      let known = match.lineage.state.periodEnd
    else { return false }
    return agree(end, known)
  }

  /// Whether a change that opened another lineage, and was charged there, ended the last period, or
  /// can have, if the snapshot shows that lineage instead and its start is missing.
  func isReplaced(_ lineage: LineageInput) -> Bool {
    let state = lineage.latest
    guard let begun = begin(ofLastPeriodIn: state), let end = state.effectiveEnd else {
      return false
    }
    func mayReplace(_ next: LineageInput) -> Bool {
      next.latest.store == state.store && next.app == lineage.app
        && missing(in: next).contains { charge in
          charge.opensLineage && charge.at.map { begun < $0 && $0 <= end + gap } ?? false
        }
    }
    let isGone = user.snapshot != nil && match(of: lineage) == nil
    if isGone && matches.contains(where: { mayReplace($0.lineage) }) { return true }
    let product = lineage.text(state.product)
    return replacements[product.withoutBasePlan ?? product]?.contains { next in
      let changed = next.latest.firstEventAt
      return next.name != lineage.name && next.latest.store == state.store
        && next.app == lineage.app && begun < changed && changed <= end + gap
        && !next.latest.subscriptionCharges.isEmpty
    } ?? false
  }

  /// Whether it is paid or in trial beyond `instant`, according to events only.
  func isActive(_ state: LineageState, at instant: Instant) -> Bool {
    guard state.isSubscription, !state.accessRevoked, !state.isTrialGivenBack,
      state.firstEventAt < instant,
      let end = state.effectiveEnd
    else { return false }
    return end > instant + rules.endTolerance
  }

  /// Whether the account was transferred, which is not a break.
  func isTransferred(_ lineage: LineageInput) -> Bool {
    lineage.isHeldByAnotherUser || (!lineage.user.isEmpty && !lineage.user.isExactly(user.user))
  }
}

extension LineageInput {
  /// The product change that is its first event; nil if it began otherwise.
  var changeThatOpens: ProductChange? {
    latest.productChanges.first.flatMap { $0.time == latest.firstEventAt ? $0 : nil }
  }
}

extension Trial {
  /// The code of the first charge after it, missing at `at`; a conversion when the time is unknown.
  func codeOfCharge(at: Instant?) -> BreakCode {
    guard let convertibleUntil, let at, at > convertibleUntil else { return .missedConversion }
    return .missedStart
  }
}
