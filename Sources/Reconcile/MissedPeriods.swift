import Timeline
import Vocabulary

/// Second pass, continued: how many charges an end in the snapshot proves that no event told.
extension Reconciliation {
  func isPaidOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    match.entitlement.isActive(at: knownAt) == true && match.entitlement.renewState == .willRenew
      && knownAt > end + rules.base.renewalGap && !speaksOfSameCharges(match)
  }

  /// Whether a later end means a charge that never came, rather than another end of the same
  /// period.
  func provesCharges(
    _ match: EntitlementMatch, from base: Instant, to end: Instant
  ) -> Bool {
    let beyond = end.since(base)
    guard beyond > rules.base.renewalGap, !speaksOfSameCharges(match) else { return false }
    let isActive = match.entitlement.isActive(at: knownAt) == true
    let runsPast = isActive && knownAt > base + rules.base.renewalGap
    if runsPast, match.entitlement.renewState != .billingIssue { return true }
    guard let length = periodLength(match.lineage)?.milliseconds else { return true }
    // The end of a failing payment is that of its grace: most of a period, and in Play up to 30
    // days of a shorter one. A charge out of retry pays for a whole period.
    let (state, isFailing) = (match.lineage.state, match.entitlement.renewState == .billingIssue)
    let isGivenUp = state.isInBillingRetry && state.isExpiryTold && end <= state.lastEventAt
    if isFailing && isActive || isGivenUp, beyond < .days(31) { return false }
    let isInRetry = isFailing || state.isInBillingRetry
    return beyond.milliseconds >= (isInRetry ? length / 10 * 9 : length / 2)
  }

  /// Whether the snapshot's newest charge, or its counter, is known from the events.
  private func speaksOfSameCharges(_ match: EntitlementMatch) -> Bool {
    // Every transaction of a list has been judged by its id.
    if !match.entitlement.transactions.isEmpty { return true }
    let state = match.lineage.latest
    guard !state.isTrial, !state.charges.isEmpty, let count = match.renewsCount,
      let seen = renewalsSeen(match.lineage)
    else { return false }
    return Int64(count) <= seen
  }

  /// The fewest charges that explain an end at `end`.
  func charges(_ match: EntitlementMatch, from base: Instant, until end: Instant) -> Int64 {
    let state = match.lineage.state
    // How long the periods of another product are, nothing tells.
    if namesOtherProduct(match) { return 1 }
    // A trial's conversion out of billing retry comes at any time, not whole periods later.
    if state.isTrial, state.isInBillingRetry { return 1 }
    if let told = state.toldEnd, told > base, told <= end + rules.endTolerance {
      let first = max(1, periods(match, from: base, until: told))
      let isFailing = match.entitlement.renewState == .billingIssue || state.isInBillingRetry
      return isFailing ? first : first + periods(match, from: told, until: end)
    }
    guard state.isInBillingRetry, let length = periodLength(match.lineage)?.milliseconds,
      length > 0
    else { return max(1, periods(match, from: base, until: end)) }
    // A charge out of billing retry may have come at any time within the horizon.
    let beyond = end.since(base + rules.base.retryHorizon).milliseconds
    return max(1, (beyond + length - 1) / length)
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

  func periodLength(_ lineage: LineageCase) -> Interval? { periodLength(lineage, lineage.state) }

  func periodLength(_ lineage: LineageCase, _ state: LineageState) -> Interval? {
    let paid = state.charges.last { $0.kind != .oneTime && $0.periodEnd != nil }
    if let paid, let end = paid.periodEnd, end > paid.periodStart {
      return end.since(paid.periodStart)
    }
    switch rules.base.periods[state.product] {
    case .days(let count): return .days(Int64(count))
    // A mean month of 30.4375 days, as the contract's MRR has it.
    case .months(let count): return .hours(Int64(count) * 730 + Int64(count) / 2)
    case nil: return nil
    }
  }

  func periods(_ match: EntitlementMatch, from: Instant, until: Instant) -> Int64 {
    guard let length = periodLength(match.lineage)?.milliseconds, length > 0 else { return 0 }
    let span = until.since(from).milliseconds
    // An open end counts whole periods; a told one is rounded, since months differ in length.
    return match.entitlement.expiresAt == nil ? span / length : (span + length / 2) / length
  }
}

extension Reconciliation {
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
      (code, at, key) = (.missedStart, restart.at, .after(restart.at))
      count = restart.count
    } else if state.isTrial {
      (code, key) = (.missedConversion, .ordinal(0))
    } else if isOfOtherProduct(match) {
      (code, at) = (.missedProductChange, min(base, state.lastEventAt))
      key = .product(match.entitlement.product)
    }
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
        original: lineage.original, code: code, at: at, end: match.entitlement.expiresAt,
        count: count))
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
    guard let length = periodLength(match.lineage) else { return false }
    return isWatched((match.entitlement.expiresAt ?? knownAt) - length, about)
  }

  /// A subscription that had ended did not renew, and a trial that had did not convert: it was
  /// bought again.
  private func restartAfterLapse(
    _ match: EntitlementMatch, after base: Instant
  ) -> (at: Instant, count: Int64)? {
    let state = match.lineage.state
    guard !state.isTrial || (state.isExpiryTold && !state.isInBillingRetry) else { return nil }
    if let started = match.startedAt, started > base + rules.base.renewalGap {
      guard let end = match.entitlement.expiresAt else { return (started, 1) }
      return (started, max(1, periods(match, from: started, until: end)))
    }
    // An expiry that came a period later ended one that was paid for.
    let lapse = state.toldEnd ?? (tellsEnds ? base : state.lastEventAt)
    return state.isExpiryTold && lapse <= base + rules.base.renewalGap ? (base, 1) : nil
  }
}
