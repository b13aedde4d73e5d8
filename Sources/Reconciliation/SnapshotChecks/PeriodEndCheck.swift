import Domain
import Subscriptions

extension Reconciler {
  /// Compares the product of the last period on both sides.
  func compareProducts(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard let products = storeProducts(match.entitlement.product), isOfOtherProduct(match)
    else { return }
    // A missing charge after the last one may be that of the change.
    guard
      !missing(in: lineage).contains(where: {
        $0.at == nil || $0.code == .missedProductChange || isAfterLastPeriod($0, state)
      })
    else { return }
    // The change arrived, with a later time than the snapshot's.
    if let reported = lineage.current?.product, products.contains(lineage.text(reported)) { return }
    // Refunds alone name one-time purchases, not products held before the first event.
    let newest = match.entitlement.newestTransaction?.at ?? match.startedAt
    if hasRefundsOnly(state), !(newest.map { isWatched($0, lineage) } ?? false) { return }
    let held = Set(state.charges.map { lineage.text($0.product) })
      .union(state.trials.map { lineage.text($0.product) })
    // A change without money and without its own date may not be shown yet.
    let changed = held.union(
      state.unpaidChanges.flatMap { [$0.product, $0.previousProduct] }.map { lineage.text($0) })
    if !state.provider.capabilities.sendsWholeCharges, !state.unpaidChanges.isEmpty,
      !changed.isDisjoint(with: products)
    {
      return
    }
    let code: BreakCode = held.isDisjoint(with: products) ? .missedProductChange : .productMismatch
    raise(
      BreakDraft(
        code: code, subject: subject(lineage), key: .product(match.entitlement.product),
        expectedAt: state.lastEventAt, severity: .low,
        evidence: "events have product \(lineage.product), the snapshot shows "
          + "\(match.entitlement.product) (\(products.joined(separator: ", ")))"))
  }

  /// Compares the end of the last period on both sides.
  func compareEnds() {
    for match in comparableMatches where !isReplacedUnseen(match) && !isMoved(match.lineage) {
      if isOfWebhook {
        if showsMore(match) { compareEnds(match) }
      } else if !isAhead(match) {
        compareEnds(match)
      } else if capabilities.sendsPeriodEnds, let (shown, known) = earlyEnd(of: match),
        lastMissing(after: match)?.end.map({ agree($0, shown) }) != true
      {
        raiseEnds(match, known: match.lineage.state.effectiveEnd ?? known, snapshot: shown)
      }
    }
  }

  private func compareEnds(_ match: EntitlementMatch) {
    let (state, entitlement) = (match.lineage.state, match.entitlement)
    guard let known = state.periodEnd else { return }
    // A missed charge without a known end, or with one that changed later, explains any end.
    let later = missing(in: match.lineage, after: state)
    guard later.allSatisfy({ $0.end.map { $0 <= knownAt + gap } ?? false }) else { return }
    // A change to a shorter product can end before the period that it replaced.
    let base = lastMissing(after: match)?.end ?? known
    guard let end = entitlement.expiresAt else {
      if isOn(match, past: base), entitlement.renewState == .willRenew, !showsSameCharges(match) {
        raisePeriods(match, after: base, count: periods(match, from: base, until: knownAt) + 1)
      }
      return
    }
    let isRefundInDoubt = later.isEmpty && isOnAfterRefund(match)
    if agree(end, base) && !isRefundInDoubt { return }
    if state.effectiveEnd.map({ agree(end, $0) }) ?? false { return }
    // A refunded period can still be shown with its paid end.
    let isTaken =
      state.accessRevoked || state.isTrialGivenBack || isReportedLater(match.lineage, .revocation)
    if isTaken && isOver(entitlement) { return }
    if isRefundMissed(match.lineage) { return }
    // The charge with this end arrived, with a later time than that of the snapshot.
    if isReportedLater(end, than: known, match.lineage) || isBookedLater(match) { return }
    // A failing payment moves the shown end to the end of grace.
    let isGrace = entitlement.renewState == .billingIssue && !state.isInBillingRetry && end > known
    // A state of the charge can report an end that does not count; an end more than the gap before
    // the paid end is a revocation that no event reported.
    let isLastReported =
      end > known - gap && state.lastReportedEnd.map { agree(end, $0) } ?? false
    if end > base, hasGivenUp(state), state.lastCancelAt.map({ end < $0 }) ?? false {
      if isWatched(base, match.lineage) { raiseBillingIssue(match) }
    } else if end > base, provesCharges(match, from: base, to: end) {
      raisePeriods(match, after: base, count: charges(match, from: base, until: end))
    } else if capabilities.sendsPeriodEnds, later.isEmpty,
      !state.accessRevoked || isRefundInDoubt, !isGrace, !isOfOtherProduct(match), !isLastReported
    {
      raiseEnds(match, known: state.effectiveEnd ?? known, snapshot: end)
    }
  }

  /// The last of the charges that are missing after the last reported period.
  private func lastMissing(after match: EntitlementMatch) -> MissingCharge? {
    missing(in: match.lineage, after: match.lineage.state).max {
      ($0.at?.milliseconds ?? 0) < ($1.at?.milliseconds ?? 0)
    }
  }

  private func raiseEnds(_ match: EntitlementMatch, known: Instant, snapshot: Instant) {
    // What ended or continued the access happened at the earlier end, if that is over.
    let ended = min(known, snapshot)
    let lastEventAt = match.lineage.state.lastEventAt
    let at = ended <= knownAt ? max(ended, lastEventAt) : lastEventAt
    raiseState(
      .expiryMismatch, match, at: isOfWebhook ? knownAt : at,
      "events end the period at \(known.text), \(snapshotWords) \(snapshot.text)")
  }

  private func raisePeriods(_ match: EntitlementMatch, after base: Instant, count: Int64) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard isWatched(after: base, match) else { return omit(.beforeFirstEvent) }
    let restart = restartAfterLapse(match, after: base)
    var (code, count, at) = (BreakCode.missedRenewal, count, base)
    if let restart {
      (code, at, count) = (.missedStart, restart.at, restart.count)
    } else if state.isTrial {
      code = .missedConversion
    } else if isOfOtherProduct(match) {
      let begun =
        begin(ofPeriodShownBy: match) ?? match.entitlement.lastPurchasedAt ?? state.lastEventAt
      (code, at) = (.missedProductChange, min(base, max(begun, state.lastEventAt)))
    }
    if at == base, count == 1, let recovered = recovery(match, after: base) { at = recovered }
    // The event of a period that began when the webhook was created can still arrive.
    if isOfWebhook, at == base, count == 1, let begun = begin(ofPeriodShownBy: match),
      begun > base + gap
    {
      at = begun
    }
    let product = product(match, after: base)
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product),
        key: .product(match.entitlement.product), expectedAt: at, missingEvents: count,
        worth: estimate(lineage, product: product, of: code, count: count),
        evidence: "events show the subscription until \(base.text); "
          + describe(match.entitlement)), of: lineage, until: match.entitlement.expiresAt)
  }

  /// Whether access continues although events revoked it.
  ///
  /// A list of purchases does not show whether access is on. If the snapshot shows the refund too,
  /// something else keeps access on.
  private func isOnAfterRefund(_ match: EntitlementMatch) -> Bool {
    match.lineage.state.accessRevoked && match.entitlement.isActive == true
      && match.entitlement.newestTransaction?.revokedAt == nil
  }

  /// Whether a newer event reported the end that a snapshot shows, for the current period or for
  /// one that others have followed since.
  private func isReportedLater(_ end: Instant, than known: Instant, _ lineage: LineageInput) -> Bool
  {
    guard let current = lineage.current else { return false }
    if let reported = current.periodEnd, reported != known, agree(end, reported) { return true }
    return current.subscriptionCharges.contains { charge in
      charge.periodEnd.map { $0 > known && agree(end, $0) } ?? false
    }
  }

  /// Whether only a newer state shows the listed charge, with whatever end: another can have
  /// replaced it since, or grace have followed.
  private func isBookedLater(_ match: EntitlementMatch) -> Bool {
    guard capabilities.body == .collection, let current = match.lineage.current,
      let listed = match.entitlement.newestTransaction
    else { return false }
    let key = transactionKey(listed.id)
    func isBooked(_ charge: Charge) -> Bool { charge.transaction == key }
    return !match.lineage.state.charges.contains(where: isBooked)
      && current.charges.contains(where: isBooked)
  }

  /// When the payment due at `base`, which had failed first, was made: one period before the shown
  /// end; nil if it did not fail, or if that end is of a payment that fails again.
  private func recovery(_ match: EntitlementMatch, after base: Instant) -> Instant? {
    let state = match.lineage.state
    guard hasFailed(state, at: base), match.entitlement.renewState != .billingIssue,
      let end = match.entitlement.expiresAt, state.reportedEnd.map({ agree($0, end) }) ?? true
    else { return nil }
    return begin(ofPeriodShownBy: match).map { max(base, $0) }
  }

  /// The store product that the snapshot shows; if it is not mapped, that of events at `base`.
  private func product(_ match: EntitlementMatch, after base: Instant) -> String {
    let products = storeProducts(match.entitlement.product) ?? []
    return soldProduct(products, in: match.lineage.store(shownAs: match.entitlement.store))
      ?? product(of: match.lineage, at: base)
  }

  /// Whether a charge after `base` would have reached the ledger.
  private func isWatched(after base: Instant, _ match: EntitlementMatch) -> Bool {
    let about = subject(match.lineage)
    if isWatched(base, about) { return true }
    guard let length = shownLength(match) ?? periodLength(match.lineage.state) else { return false }
    return isWatched((match.entitlement.expiresAt ?? knownAt) - length, about)
  }

  /// The restart after a lapse: a subscription that had ended did not renew, and a trial that had
  /// ended did not convert, but was bought again.
  ///
  /// - Returns: the approximate time, and the number of charges since.
  private func restartAfterLapse(
    _ match: EntitlementMatch, after base: Instant
  ) -> (at: Instant, count: Int64)? {
    let state = match.lineage.state
    guard !state.isTrial || (state.expiredAt != nil && !state.isInBillingRetry) else { return nil }
    if let started = match.startedAt, started > base + gap {
      guard let end = match.entitlement.expiresAt else { return (started, 1) }
      return (started, max(1, periods(match, from: started, until: end)))
    }
    // Otherwise only the bought period dates it.
    let length = periodLength(match.lineage.state) ?? .seconds(0)
    let shown = begin(ofPeriodShownBy: match) ?? base
    // Nothing renews before the end: a purchase after a refund does. Months differ in length.
    if state.accessRevoked, let revoked = state.effectiveEnd, shown >= revoked,
      base.since(shown).milliseconds > length.milliseconds / 7
    {
      return (shown, 1)
    }
    let begun = max(base, shown)
    // A store can continue to renew a refunded subscription, period by period.
    let beyond = (match.entitlement.expiresAt ?? base).since(base + length).milliseconds
    let isRevoked = state.accessRevoked && beyond > length.milliseconds / 2
    return isRevoked || hasLapsed(state, at: base, before: begun) ? (begun, 1) : nil
  }
}
