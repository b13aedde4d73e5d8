import Subscriptions
import Domain

/// How many charges an end in the snapshot proves that no event told.
extension Reconciler {
  func isPaidOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    isOn(match, past: end) && match.entitlement.renewState == .willRenew
      && !speaksOfSameCharges(match)
  }

  /// Whether a later end means a charge that never came, rather than another end of the same
  /// period.
  func provesCharges(
    _ match: EntitlementMatch, from base: Instant, to end: Instant
  ) -> Bool {
    let beyond = end.since(base)
    guard beyond > rules.fold.renewalGap, !speaksOfSameCharges(match) else { return false }
    if isOn(match, past: base), match.entitlement.renewState != .billingIssue { return true }
    guard let length = periodLength(match.lineage)?.milliseconds else { return true }
    // The end of a failing payment is that of its grace: most of a period, and in Play up to 30
    // days of a shorter one. A charge out of retry pays for a whole period.
    let (state, isFailing) = (match.lineage.state, match.entitlement.renewState == .billingIssue)
    let isGivenUp = state.isInBillingRetry && state.isExpiryTold && end <= state.lastEventAt
    let isActive = match.entitlement.isActive(at: knownAt) == true
    if isFailing && isActive || isGivenUp, beyond < .days(31) { return false }
    let isInRetry = isFailing || state.isInBillingRetry
    return beyond.milliseconds >= (isInRetry ? length / 10 * 9 : length / 2)
  }

  /// Whether access goes on more than the gap behind an end.
  private func isOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    match.entitlement.isActive(at: knownAt) == true && knownAt > end + rules.fold.renewalGap
  }

  /// Whether the snapshot's newest charge, or its counter, is known from the events.
  private func speaksOfSameCharges(_ match: EntitlementMatch) -> Bool {
    // Every transaction of a list has been judged by its id.
    if !match.entitlement.transactions.isEmpty { return true }
    let state = match.lineage.latest
    // Counting may begin anew with what was bought after an end that was told.
    let known = match.lineage.state
    if let end = known.periodEnd, isExpired(known, at: end), isOn(match, past: end) { return false }
    guard !state.isTrial, !state.charges.isEmpty, let count = match.renewsCount,
      let seen = renewalsSeen(match.lineage)
    else { return false }
    return Int64(count) <= seen
  }

  /// The charges that the snapshot counts beyond those that are known; nil where either side does
  /// not count.
  ///
  /// A trial's conversion comes before the first that is counted.
  private func chargesCounted(_ match: EntitlementMatch) -> Int64? {
    guard let count = match.renewsCount, renewalsSeen(match.lineage) != nil,
      let elsewhere = paidElsewhere(match)
    else { return nil }
    let state = match.lineage.latest
    let isConverted = !state.isTrial || !state.subscriptionCharges.isEmpty
    let left = Int64(count) - renewalsKnown(match.lineage) - elsewhere + (isConverted ? 0 : 1)
    return left > 0 ? left : nil
  }

  /// The fewest charges that explain an end at `end`.
  func charges(_ match: EntitlementMatch, from base: Instant, until end: Instant) -> Int64 {
    let state = match.lineage.state
    // How long the periods of another product are, nothing tells.
    if namesOtherProduct(match) { return 1 }
    if let counted = chargesCounted(match) { return counted }
    // A trial's conversion out of billing retry comes at any time, not whole periods later.
    if state.isTrial, state.isInBillingRetry { return 1 }
    if let told = state.toldEnd, told > base, told <= end + rules.endTolerance {
      let first = fewest(match, from: base, until: told)
      let isFailing = match.entitlement.renewState == .billingIssue || state.isInBillingRetry
      return isFailing ? first : first + periods(match, from: told, until: end)
    }
    return fewest(match, from: base, until: end)
  }

  /// The fewest charges that explain an end, out of billing retry where the payment had failed: the
  /// first may then have come at any time within the horizon.
  private func fewest(
    _ match: EntitlementMatch, from base: Instant, until end: Instant
  ) -> Int64 {
    guard hasFailed(match.lineage.state, at: base),
      let length = periodLength(match.lineage)?.milliseconds, length > 0
    else { return max(1, periods(match, from: base, until: end)) }
    let beyond = end.since(base + rules.fold.retryHorizon).milliseconds
    return max(1, (beyond + length - 1) / length)
  }

  /// Whether it was the payment due at `end` that failed, rather than one of a later period whose
  /// charge never came.
  private func hasFailed(_ state: LineageState, at end: Instant) -> Bool {
    guard state.isInBillingRetry, state.toldEnd != nil, let failedAt = state.paymentFailedAt
    else { return state.isInBillingRetry }
    return failedAt <= end + rules.fold.renewalGap
  }

  /// Whether the snapshot names a product that no event of the last period does.
  private func namesOtherProduct(_ match: EntitlementMatch) -> Bool {
    guard let products = storeProducts(match.entitlement.product), !match.lineage.product.isEmpty
    else { return false }
    return !products.contains(match.lineage.product)
  }

  /// Whether the snapshot speaks of the period of a product that was changed to, unannounced.
  func isOfOtherProduct(_ match: EntitlementMatch) -> Bool {
    namesOtherProduct(match) && !isScheduled(match)
  }

  /// Whether a change of product to the snapshot's was announced for the next renewal; it may be
  /// shown already.
  func isScheduled(_ match: EntitlementMatch) -> Bool {
    guard let next = match.lineage.state.scheduledProduct else { return false }
    return storeProducts(match.entitlement.product)?.contains(match.lineage.text(next)) ?? false
  }

  func periodLength(_ lineage: LineageInput) -> Interval? { periodLength(lineage, lineage.state) }

  /// The configured or listed length, else that of the last period paid for, which can be an offer
  /// or a part of one.
  func periodLength(_ lineage: LineageInput, _ state: LineageState) -> Interval? {
    let listed = rules.fold.prices.period(of: state.product, in: state.store, at: knownAt)
    if let length = rules.fold.periods[state.product] ?? listed { return length.mean }
    let paid = state.subscriptionCharges.last { $0.periodEnd != nil }
    guard let paid, let end = paid.periodEnd, end > paid.periodStart else { return nil }
    return end.since(paid.periodStart)
  }

  /// The length of what is shown; nil where nothing tells that of another product.
  private func shownLength(_ match: EntitlementMatch) -> Interval? {
    guard namesOtherProduct(match) else { return periodLength(match.lineage) }
    return toldLength(of: match.entitlement)?.mean
  }

  /// The configured or listed length of the entitlement's product, though no event may name it.
  func toldLength(of entitlement: Entitlement) -> PeriodLength? {
    let lengths = Set((storeProducts(entitlement.product) ?? []).map { rules.lengths[$0] })
    return lengths.count == 1 ? lengths.first ?? nil : nil
  }

  /// When the period began whose end is shown; nil where nothing tells its length, or where it
  /// would have to begin after the snapshot.
  func begin(ofPeriodShownBy match: EntitlementMatch) -> Instant? {
    guard let end = match.entitlement.expiresAt else { return nil }
    let told = toldLength(of: match.entitlement)?.start(before: end)
    let begin = told ?? shownLength(match).map { end - $0 }
    return begin.flatMap { $0 <= knownAt + rules.fold.renewalGap ? $0 : nil }
  }

  func periods(_ match: EntitlementMatch, from: Instant, until: Instant) -> Int64 {
    guard let length = shownLength(match), length > .seconds(0) else { return 0 }
    let span = until.since(from).milliseconds
    // An open end counts whole periods; a told one is rounded, since months differ in length.
    guard match.entitlement.expiresAt != nil else { return span / length.milliseconds }
    // A last period that would begin after the snapshot proves that periods are longer by now.
    if until - length > knownAt + rules.fold.renewalGap { return 1 }
    return (span + length.milliseconds / 2) / length.milliseconds
  }
}

extension Reconciler {
  mutating func raisePeriods(
    _ match: EntitlementMatch, after base: Instant, count: Int64
  ) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard isWatched(after: base, match) else {
      counts.beforeFirstEvent += 1
      return
    }
    let restart = restartAfterLapse(match, after: base)
    var (code, count, at) = (BreakCode.missedRenewal, count, base)
    var key = state.renewalOrdinal.map { BreakKey.ordinal($0 + 1) } ?? .after(base)
    if state.isStartSeen, state.renewalOrdinal == nil { key = .ordinal(1) }
    if let restart {
      (code, at, count) = (.missedStart, restart.at, restart.count)
      key = .after(restart.since)
    } else if state.isTrial {
      (code, key) = (.missedConversion, .ordinal(0))
    } else if isOfOtherProduct(match) {
      (code, at) = (.missedProductChange, min(base, state.lastEventAt))
      key = .product(match.entitlement.product)
    }
    if at == base, count == 1, let recovered = recovery(match, after: base) { at = recovered }
    let product = product(match, after: base)
    let money = estimate(lineage, product: product, of: code, count: count)
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product), key: key, expectedAt: at,
        missingEvents: count,
        estimate: money.amount, basis: money.basis,
        evidence: "events know the subscription until \(base.text); "
          + told(match.entitlement),
        action: nextStep(code, user.provider)),
      for: MissingCharge(
        lineage: lineage.name, code: code, at: at, end: match.entitlement.expiresAt,
        count: count))
  }

  /// When the payment due at `base` came that had failed first: a period before the end that is
  /// shown; nil where it did not fail, or where that end is of a payment that fails again.
  private func recovery(_ match: EntitlementMatch, after base: Instant) -> Instant? {
    let state = match.lineage.state
    guard hasFailed(state, at: base), match.entitlement.renewState != .billingIssue,
      let end = match.entitlement.expiresAt, state.toldEnd.map({ agree($0, end) }) ?? true
    else { return nil }
    return begin(ofPeriodShownBy: match).map { max(base, $0) }
  }

  /// The store product that the snapshot speaks of; when no map tells it, the one that events say
  /// was held at `base`.
  private func product(_ match: EntitlementMatch, after base: Instant) -> String {
    let products = storeProducts(match.entitlement.product) ?? []
    return products.count == 1 ? products[0] : product(of: match.lineage, at: base)
  }

  /// Whether a charge after `base` would have reached the ledger.
  private func isWatched(after base: Instant, _ match: EntitlementMatch) -> Bool {
    let about = subject(match.lineage)
    if isWatched(base, about) { return true }
    guard let length = shownLength(match) ?? periodLength(match.lineage) else { return false }
    return isWatched((match.entitlement.expiresAt ?? knownAt) - length, about)
  }

  /// A subscription that had ended did not renew, and a trial that had did not convert: it was
  /// bought again.
  ///
  /// - Returns: about when, how many charges were made since, and what tells this start from others
  ///   of the lineage whatever is shown later.
  private func restartAfterLapse(
    _ match: EntitlementMatch, after base: Instant
  ) -> (at: Instant, count: Int64, since: Instant)? {
    let state = match.lineage.state
    guard !state.isTrial || (state.isExpiryTold && !state.isInBillingRetry) else { return nil }
    if let started = match.startedAt, started > base + rules.fold.renewalGap {
      guard let end = match.entitlement.expiresAt else { return (started, 1, started) }
      return (started, max(1, periods(match, from: started, until: end)), started)
    }
    // Else nothing tells when it was bought again but the period that was bought.
    let length = periodLength(match.lineage) ?? .seconds(0)
    let begun = max(base, begin(ofPeriodShownBy: match) ?? base)
    // A store may go on renewing what it gave money back for, period by period.
    let beyond = (match.entitlement.expiresAt ?? base).since(base + length).milliseconds
    let isTakenAway = state.accessTakenAway && max(0, beyond) > length.milliseconds / 2
    return isTakenAway || isExpired(state, at: base) ? (begun, 1, base) : nil
  }

  /// Whether an expiry told the end at `base`; one that came a period later ended a period that was
  /// paid for.
  private func isExpired(_ state: LineageState, at base: Instant) -> Bool {
    guard let expiredAt = state.expiredAt else { return false }
    let told =
      state.toldEnd ?? (user.provider.capabilities.sendsPeriodEnds ? base : state.lastEventAt)
    return min(told, max(base, expiredAt)) <= base + rules.fold.renewalGap
  }
}

extension PeriodLength {
  /// So many days; a month is a mean one of 30.4375 days, as the contract's MRR has it.
  var mean: Interval {
    switch self {
    case .days(let count): .days(Int64(count))
    case .months(let count): .minutes(Int64(count) * 43_830)
    }
  }
}
