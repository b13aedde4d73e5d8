import Timeline
import Vocabulary

/// Second pass: a lineage's last known period and the entitlement that comes from it.
extension Reconciliation {
  mutating func compareLineages(_ matches: [EntitlementMatch]) {
    for match in matches {
      findMissingStart(match)
      if isAhead(match) {
        raiseAhead(match.lineage, says: told(match.entitlement))
        continue
      }
      compareEnds(match)
      compareProducts(match)
      compareRenewal(match)
    }
  }

  /// A life that began while we were listening, and whose beginning never came.
  private mutating func findMissingStart(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.latest)
    guard !state.isStartSeen, state.trials.isEmpty, let started = match.startedAt,
      started < knownAt, missing(in: lineage).isEmpty,
      isWatched(started, subject(lineage))
    else { return }
    let firstPaid = state.charges.first { $0.kind != .oneTime }
    if let firstPaid {
      let begins = min(firstPaid.periodStart, firstPaid.time)
      guard started + rules.rules.renewalGap < begins else { return }
    }
    let isFree = firstPaid == nil && match.entitlement.isTrial == true
    let money = estimate(lineage, product: lineage.product)
    let came = firstPaid.map { "the first charge that came is of \($0.time.text)" }
    raise(
      BreakDraft(
        code: .missedStart, subject: subject(lineage), key: "ordinal 0", expectedAt: started,
        missingEvents: 1, estimate: isFree ? .zero : money.amount,
        basis: isFree ? .provider : money.basis,
        evidence: "the snapshot says started \(started.text); " + (came ?? "no charge ever came"),
        action: nextStep(.missedStart, user.provider)),
      for: MissingCharge(
        original: lineage.original, code: .missedStart, at: started,
        end: firstPaid == nil ? match.entitlement.expiresAt : nil, isFree: isFree))
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
    if agree(end, base) || state.effectiveEnd.map({ agree(end, $0) }) ?? false { return }
    // What was given back may still be shown with the end that was paid for.
    let isOff = entitlement.isActive(at: knownAt) == false
    if state.accessTakenAway && isOff { return }
    if missedRefunds.contains(match.lineage.original) { return }
    if end > base, provesCharges(match, from: base, to: end) {
      raisePeriods(match, after: base, count: charges(match, from: base, until: end))
    } else if later.isEmpty, !state.accessTakenAway, !explainsByBilling(match, end: end) {
      if end > known, hasGivenUp(state) {
        raiseBillingIssue(match)
      } else {
        raiseEnds(match, known: state.effectiveEnd ?? known, snapshot: end)
      }
    }
  }

  /// A cancel that was told after the end is the store's, which had tried to collect until then.
  func hasGivenUp(_ state: LineageState) -> Bool {
    guard !state.isInBillingRetry, let cancel = state.lastCancelAt, let end = state.periodEnd
    else { return false }
    return cancel > end + rules.endTolerance
  }

  private func isAfterLastPeriod(_ charge: MissingCharge, _ state: LineageState) -> Bool {
    guard let at = charge.at else { return false }
    let last = state.charges.last { $0.kind != .oneTime }
    let begun = last?.time ?? state.trials.last?.start
    return begun.map { at > $0 } ?? true
  }

  func agree(_ left: Instant, _ right: Instant) -> Bool {
    let difference = left.since(right)
    return abs(difference.milliseconds) <= rules.endTolerance.milliseconds
  }

  private func isPaidOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    match.entitlement.isActive(at: knownAt) == true && match.entitlement.renewState == .willRenew
      && knownAt > end + rules.rules.renewalGap && !speaksOfSameCharges(match)
  }

  /// Whether a later end means a charge that never came, rather than another end of the same
  /// period.
  private func provesCharges(
    _ match: EntitlementMatch, from base: Instant, to end: Instant
  ) -> Bool {
    let beyond = end.since(base)
    guard beyond > rules.rules.renewalGap, !speaksOfSameCharges(match) else { return false }
    let isActive = match.entitlement.isActive(at: knownAt) == true
    let runsPast = isActive && knownAt > base + rules.rules.renewalGap
    if runsPast, match.entitlement.renewState != .billingIssue { return true }
    guard let length = periodLength(match.lineage)?.milliseconds else { return true }
    // The end of a failing payment is that of its grace, which may take most of a period.
    let isFailing = match.entitlement.renewState == .billingIssue
    return beyond.milliseconds >= (isFailing ? length / 10 * 9 : length / 2)
  }

  /// Whether the snapshot's newest charge, or its counter, is known from the events.
  private func speaksOfSameCharges(_ match: EntitlementMatch) -> Bool {
    let state = match.lineage.latest
    if let newest = match.entitlement.newestTransaction {
      let key = transactionKey(newest.id)
      return state.charges.contains { $0.transaction == key }
        || state.trials.contains { $0.transaction == key }
    }
    guard !state.isTrial, !state.charges.isEmpty, let count = match.renewsCount,
      let seen = renewalsSeen(match.lineage)
    else { return false }
    return Int64(count) <= seen
  }

  /// A failing payment moves the end that a snapshot shows to that of the grace.
  private func explainsByBilling(_ match: EntitlementMatch, end: Instant) -> Bool {
    guard match.entitlement.renewState == .billingIssue, let known = match.lineage.state.periodEnd
    else { return false }
    return !match.lineage.state.isInBillingRetry && end > known
  }

  func periodLength(_ lineage: LineageCase) -> Interval? {
    let state = lineage.state
    let paid = state.charges.last { $0.kind != .oneTime && $0.periodEnd != nil }
    if let paid, let end = paid.periodEnd, end > paid.periodStart {
      return end.since(paid.periodStart)
    }
    switch rules.rules.periods[state.product] {
    case .days(let count): return .days(Int64(count))
    // A mean month of 30.4375 days, as the contract's MRR has it.
    case .months(let count): return .hours(Int64(count) * 730 + Int64(count) / 2)
    case nil: return nil
    }
  }

  /// The fewest charges that explain an end at `end`.
  private func charges(_ match: EntitlementMatch, from base: Instant, until end: Instant) -> Int64 {
    let state = match.lineage.state
    // How long the periods of another product are, nothing tells.
    if changesProduct(match) { return 1 }
    if let told = state.toldEnd, told > base, told <= end + rules.endTolerance {
      let first = max(1, periods(match, from: base, until: told))
      let isFailing = match.entitlement.renewState == .billingIssue || state.isInBillingRetry
      return isFailing ? first : first + periods(match, from: told, until: end)
    }
    guard state.isInBillingRetry, let length = periodLength(match.lineage)?.milliseconds,
      length > 0
    else { return max(1, periods(match, from: base, until: end)) }
    // A charge out of billing retry may have come at any time within the horizon.
    let beyond = end.since(base + rules.rules.retryHorizon).milliseconds
    return max(1, (beyond + length - 1) / length)
  }

  /// Whether the snapshot names a product that no event of the last period does.
  private func changesProduct(_ match: EntitlementMatch) -> Bool {
    guard let products = storeProducts(match.entitlement.product), !match.lineage.product.isEmpty
    else { return false }
    return !products.contains(match.lineage.product)
  }

  /// Whether a change of product to the snapshot's was announced for the next renewal.
  private func isScheduled(_ match: EntitlementMatch) -> Bool {
    guard let next = match.lineage.state.scheduledProduct else { return false }
    return storeProducts(match.entitlement.product)?.contains(match.lineage.text(next)) ?? false
  }

  /// The store product that the snapshot speaks of, the lineage's when no map tells it.
  private func product(_ match: EntitlementMatch) -> String {
    let products = storeProducts(match.entitlement.product) ?? []
    return products.count == 1 ? products[0] : match.lineage.product
  }

  private func periods(_ match: EntitlementMatch, from: Instant, until: Instant) -> Int64 {
    guard let length = periodLength(match.lineage)?.milliseconds, length > 0 else { return 0 }
    let span = until.since(from).milliseconds
    // An open end counts whole periods; a told one is rounded, since months differ in length.
    return match.entitlement.expiresAt == nil ? span / length : (span + length / 2) / length
  }
}

extension Reconciliation {
  private mutating func raisePeriods(
    _ match: EntitlementMatch, after base: Instant, count: Int64
  ) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard isWatched(after: base, match) else {
      counts.beforeFirstEvent += 1
      return
    }
    let restart = restartAfterLapse(match, after: base)
    var (code, count, at) = (BreakCode.missedRenewal, count, base)
    var key = state.renewalOrdinal.map { "ordinal \($0 + 1)" } ?? "after \(base.milliseconds)"
    if state.isStartSeen, state.renewalOrdinal == nil { key = "ordinal 1" }
    if let restart {
      (code, at, key) = (.missedStart, restart.at, "after \(base.milliseconds)")
      count = restart.count
    } else if state.isTrial {
      (code, key) = (.missedConversion, "ordinal 0")
    } else if changesProduct(match), !isScheduled(match) {
      (code, at) = (.missedProductChange, min(base, state.lastEventAt))
    }
    let money = estimate(lineage, product: product(match), count: count)
    raise(
      BreakDraft(
        code: code, subject: subject(lineage), key: key, expectedAt: at, missingEvents: count,
        estimate: money.amount, basis: money.basis,
        evidence: "events know the subscription until \(base.text); "
          + told(match.entitlement),
        action: nextStep(code, user.provider)),
      for: MissingCharge(
        original: lineage.original, code: code, at: at, end: match.entitlement.expiresAt,
        count: count))
  }

  /// Whether a charge after `base` would have reached the ledger.
  private func isWatched(after base: Instant, _ match: EntitlementMatch) -> Bool {
    let about = subject(match.lineage)
    if isWatched(base, about) { return true }
    guard let length = periodLength(match.lineage) else { return false }
    return isWatched((match.entitlement.expiresAt ?? knownAt) - length, about)
  }

  /// A subscription that had ended did not renew: it was bought again.
  private func restartAfterLapse(
    _ match: EntitlementMatch, after base: Instant
  ) -> (at: Instant, count: Int64)? {
    let state = match.lineage.state
    guard !state.isTrial else { return nil }
    if let started = match.startedAt, started > base + rules.rules.renewalGap {
      guard let end = match.entitlement.expiresAt else { return (started, 1) }
      return (started, max(1, periods(match, from: started, until: end)))
    }
    return state.isExpiryTold ? (base, 1) : nil
  }

  private mutating func raiseEnds(
    _ match: EntitlementMatch, known: Instant, snapshot: Instant
  ) {
    raise(
      BreakDraft(
        code: .expiryMismatch, subject: subject(match.lineage),
        key: "period " + String(match.lineage.state.charges.count),
        expectedAt: match.lineage.state.lastEventAt, severity: .low,
        evidence: "events say the period ends \(known.text), the snapshot says "
          + "\(snapshot.text)",
        action: nextStep(.expiryMismatch, user.provider)))
  }

  private mutating func compareProducts(_ match: EntitlementMatch) {
    let (lineage, state) = (match.lineage, match.lineage.state)
    guard let products = storeProducts(match.entitlement.product), !lineage.product.isEmpty,
      !products.contains(lineage.product), missing(in: lineage).isEmpty
    else { return }
    // A change that takes effect at the next renewal may be shown already.
    guard !isScheduled(match) else { return }
    let held = Set(state.charges.map { lineage.text($0.product) })
      .union(state.trials.map { lineage.text($0.product) })
    let code: BreakCode =
      held.isDisjoint(with: products) ? .missedProductChange : .productMismatch
    raise(
      BreakDraft(
        code: code, subject: subject(lineage), key: "product " + match.entitlement.product,
        expectedAt: state.lastEventAt, missingEvents: code.isMissing ? 1 : 0, severity: .low,
        evidence: "events say product \(lineage.product), the snapshot says "
          + "\(match.entitlement.product) (\(products.joined(separator: ", ")))",
        action: nextStep(code, user.provider)))
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
