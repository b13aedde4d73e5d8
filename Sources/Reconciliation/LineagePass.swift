import Subscriptions
import Domain

/// A lineage's last known period and the entitlement that comes from it.
extension Reconciler {
  mutating func compareLineages(_ matches: [EntitlementMatch]) {
    for match in matches where isComparable(match) && !isBegunElsewhere(match) {
      findMissingStart(match)
      if isReplacedUnseen(match) { continue }
      if isAhead(match) {
        if user.provider.capabilities.sendsPeriodEnds, let (shown, known) = earlyEnd(of: match) {
          raiseEnds(match, known: match.lineage.state.effectiveEnd ?? known, snapshot: shown)
        } else {
          raiseAhead(match.lineage, says: told(match.entitlement))
        }
        continue
      }
      compareEnds(match)
      compareProducts(match)
      compareRenewal(match)
    }
  }

  /// Whether the snapshot speaks of a period that events could know.
  ///
  /// Where renewals are not told of whom, it does while both sides know one end.
  func isComparable(_ match: EntitlementMatch) -> Bool {
    guard !isComparable(match.lineage) else { return true }
    guard let end = match.entitlement.expiresAt, let known = match.lineage.state.periodEnd
    else { return false }
    return end > knownAt && agree(end, known)
  }

  /// Renewals that are told without user and original id cannot be put to the subscription that
  /// they renew: it looks as if it had fallen silent, and nothing is missing.
  func isComparable(_ lineage: LineageInput) -> Bool {
    let state = lineage.state
    return state.provider.capabilities.linksRenewals(in: state.store) || !state.isSubscription
  }

  /// A life that began while we were listening, and whose beginning never came.
  private mutating func findMissingStart(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.latest)
    guard !state.isStartSeen, state.trials.isEmpty, let started = match.startedAt,
      started < knownAt, missing(in: lineage).isEmpty,
      isWatched(started, subject(lineage))
    else { return }
    let firstPaid = state.subscriptionCharges.first
    if let firstPaid {
      let begins = min(firstPaid.periodStart, firstPaid.time)
      guard started + rules.fold.renewalGap < begins else { return }
    }
    let isFree = firstPaid == nil && match.entitlement.isTrial == true
    let product = productBegun(in: lineage, at: started)
    let money = estimate(lineage, product: product)
    let came = firstPaid.map { "the first charge that came is of \($0.time.text)" }
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage, product: product), key: .ordinal(0),
        expectedAt: started, missingEvents: 1, estimate: isFree ? .zero : money.amount,
        basis: isFree ? .provider : money.basis,
        evidence: "the snapshot says started \(started.text); " + (came ?? "no charge ever came"),
        action: nextStep(.missedStart, user.provider)),
      for: MissingCharge(
        lineage: lineage.name, code: .missedStart, at: started,
        end: firstPaid == nil ? match.entitlement.expiresAt : nil, isFree: isFree,
        opensLineage: true))
  }

  private mutating func compareEnds(_ match: EntitlementMatch) {
    let (state, entitlement) = (match.lineage.state, match.entitlement)
    guard let known = state.periodEnd else { return }
    var base = known
    let later = missing(in: match.lineage).filter { isAfterLastPeriod($0, state) }
    for charge in later {
      // A missed charge that does not tell its end explains any end.
      guard let end = charge.end else { return }
      base = max(base, end)
    }
    guard let end = entitlement.expiresAt else {
      if isPaidOn(match, past: base) {
        raisePeriods(match, after: base, count: periods(match, from: base, until: knownAt) + 1)
      }
      return
    }
    let isRefundInDoubt = later.isEmpty && isOnAfterRefund(match)
    if agree(end, base) && !isRefundInDoubt { return }
    if state.effectiveEnd.map({ agree(end, $0) }) ?? false { return }
    // What was given back may still be shown with the end that was paid for.
    let isOff = entitlement.isActive(at: knownAt) == false
    let isTaken =
      state.accessTakenAway || state.isTrialGivenBack
      || isToldLater(match.lineage, \.accessTakenAway)
    if isTaken && isOff { return }
    if missedRefunds.contains(match.lineage.name) { return }
    // The charge of the end came, with a later time than that of the snapshot.
    if isToldLater(end, than: known, match.lineage) { return }
    if end > base, later.isEmpty, hasGivenUp(state),
      state.lastCancelAt.map({ end < $0 }) ?? false
    {
      if isWatched(base, subject(match.lineage)) { raiseBillingIssue(match) }
    } else if end > base, provesCharges(match, from: base, to: end) {
      raisePeriods(match, after: base, count: charges(match, from: base, until: end))
    } else if user.provider.capabilities.sendsPeriodEnds, later.isEmpty,
      !state.accessTakenAway || isRefundInDoubt, !explainsByBilling(match, end: end),
      !isOfOtherProduct(match), !isLastWord(end, state)
    {
      raiseEnds(match, known: state.effectiveEnd ?? known, snapshot: end)
    }
  }

  /// The end that is shown, and that which was paid for, where the shown one came before it.
  ///
  /// The break is the same one when the end that was paid for has come.
  func earlyEnd(of match: EntitlementMatch) -> (shown: Instant, known: Instant)? {
    guard let known = match.lineage.state.periodEnd, let shown = match.entitlement.expiresAt,
      shown < known, !agree(shown, known)
    else { return nil }
    return (shown, known)
  }

  /// Whether access goes on of which events say that it was taken away.
  ///
  /// A list of purchases does not say whether it is on. Where the snapshot tells of the refund as
  /// well, something else keeps it on.
  private func isOnAfterRefund(_ match: EntitlementMatch) -> Bool {
    match.lineage.state.accessTakenAway && match.entitlement.isActive == true
      && match.entitlement.newestTransaction?.revokedAt == nil
  }

  /// A cancel that was told after the end is the store's, which had tried to collect until then.
  func hasGivenUp(_ state: LineageState) -> Bool {
    !state.isInBillingRetry && state.toldEnd == nil && isCanceledAfterEnd(state)
  }

  func isCanceledAfterEnd(_ state: LineageState) -> Bool {
    guard let end = state.periodEnd, let cancel = state.lastCancelAt else { return false }
    return cancel > end + rules.endTolerance
  }

  func isAfterLastPeriod(_ charge: MissingCharge, _ state: LineageState) -> Bool {
    guard let at = charge.at else { return false }
    return begin(ofLastPeriodIn: state).map { at > $0 } ?? true
  }

  /// When the last period that was told was opened.
  func begin(ofLastPeriodIn state: LineageState) -> Instant? {
    state.subscriptionCharges.last?.time ?? state.trials.last?.start
  }

  /// What tells the running period from the others of its lineage: when it was charged, which an
  /// older charge that comes late does not move.
  func lastPeriod(_ state: LineageState) -> BreakKey {
    .period(state.subscriptionCharges.last?.time)
  }

  /// Whether an event that is newer than the snapshot tells what the snapshot shows already.
  ///
  /// Cancels, failed payments and ends carry the time at which they were noticed. What a charge has
  /// followed since is another story.
  func isToldLater(
    _ lineage: LineageInput, _ isTold: (LineageState) -> Bool
  ) -> Bool {
    guard let current = lineage.current,
      current.charges.count == lineage.state.charges.count
    else { return false }
    return isTold(current)
  }

  /// Whether the end that a snapshot shows is one that a newer event told, be it of the period that
  /// runs by now or of one that others have followed since.
  private func isToldLater(_ end: Instant, than known: Instant, _ lineage: LineageInput) -> Bool {
    guard let current = lineage.current else { return false }
    if let told = current.periodEnd, told != known, agree(end, told) { return true }
    return current.subscriptionCharges.contains { charge in
      charge.periodEnd.map { $0 > known && agree(end, $0) } ?? false
    }
  }

  /// Whether a state of the charge told the later end that is shown, though another one counts.
  ///
  /// What ends before that which was paid for was taken away, and nothing told of that.
  private func isLastWord(_ end: Instant, _ state: LineageState) -> Bool {
    guard let told = state.lastToldEnd, let known = state.periodEnd else { return false }
    return agree(end, told) && end > known
  }

  func agree(_ left: Instant, _ right: Instant) -> Bool {
    let difference = left.since(right)
    return abs(difference.milliseconds) <= rules.endTolerance.milliseconds
  }

  /// A failing payment moves the end that a snapshot shows to that of the grace.
  private func explainsByBilling(_ match: EntitlementMatch, end: Instant) -> Bool {
    guard match.entitlement.renewState == .billingIssue, let known = match.lineage.state.periodEnd
    else { return false }
    return !match.lineage.state.isInBillingRetry && end > known
  }
}

extension Reconciler {
  private mutating func raiseEnds(
    _ match: EntitlementMatch, known: Instant, snapshot: Instant
  ) {
    raise(
      BreakDraft(
        code: .expiryMismatch, subject: subject(match.lineage),
        key: lastPeriod(match.lineage.state), expectedAt: match.lineage.state.lastEventAt,
        severity: .low,
        evidence: "events say the period ends \(known.text), the snapshot says "
          + "\(snapshot.text)",
        action: nextStep(.expiryMismatch, user.provider)))
  }

  private mutating func compareProducts(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard let products = storeProducts(match.entitlement.product), isOfOtherProduct(match)
    else { return }
    // A charge that is missing since the last one may be that of the change.
    let later = missing(in: lineage).filter { $0.at == nil || isAfterLastPeriod($0, state) }
    guard later.isEmpty else { return }
    // The change came, with a later time than that of the snapshot.
    if let told = lineage.current?.product, products.contains(lineage.text(told)) { return }
    // Refunds alone name what was bought once, not what was held when the first event came.
    if isRefundsAlone(state), !isNewestWatched(match) { return }
    let held = Set(state.charges.map { lineage.text($0.product) })
      .union(state.trials.map { lineage.text($0.product) })
    // One that came without money and without a date of its own may not be shown yet.
    let changed = held.union(
      state.unpaidChanges.flatMap { [$0.product, $0.previousProduct] }.map { lineage.text($0) })
    if !state.provider.capabilities.sendsWholeCharges, !state.unpaidChanges.isEmpty,
      !changed.isDisjoint(with: products)
    {
      return
    }
    let code: BreakCode =
      held.isDisjoint(with: products) ? .missedProductChange : .productMismatch
    raise(
      BreakDraft(
        code: code, subject: subject(lineage), key: .product(match.entitlement.product),
        expectedAt: state.lastEventAt, missingEvents: code.isMissing ? 1 : 0, severity: .low,
        evidence: "events say product \(lineage.product), the snapshot says "
          + "\(match.entitlement.product) (\(products.joined(separator: ", ")))",
        action: nextStep(code, user.provider)))
  }

  func isRefundsAlone(_ state: LineageState) -> Bool {
    state.charges.isEmpty && state.trials.isEmpty
      && Set(state.transactions).isSubset(of: state.refunds.map(\.transaction))
  }

  private func isNewestWatched(_ match: EntitlementMatch) -> Bool {
    let newest = match.entitlement.newestTransaction?.at ?? match.startedAt
    return newest.map { isWatched($0, subject(match.lineage)) } ?? false
  }

  /// What the entitlement says, in words.
  func told(_ entitlement: Entitlement) -> String {
    var words = "the snapshot says "
    switch entitlement.isActive(at: knownAt) {
    case true?: words += "active"
    case false?: words += "inactive"
    case nil: words += "entitlement \(entitlement.id)"
    }
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
