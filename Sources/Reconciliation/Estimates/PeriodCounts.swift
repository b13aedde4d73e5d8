import Subscriptions
import Domain

/// How many charges an end in the snapshot proves that no event reported.
extension Reconciler {
  func isPaidOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    isOn(match, past: end) && match.entitlement.renewState == .willRenew
      && !showsSameCharges(match)
  }

  /// Whether a later end means a charge that never came, rather than another end of the same
  /// period.
  func provesCharges(
    _ match: EntitlementMatch, from base: Instant, to end: Instant
  ) -> Bool {
    let beyond = end.since(base)
    guard beyond > rules.fold.renewalGap, !showsSameCharges(match) else { return false }
    if isOn(match, past: base), match.entitlement.renewState != .billingIssue { return true }
    guard let length = periodLength(match.lineage)?.milliseconds else { return true }
    // The end of a failing payment is that of its grace: most of a period, and in Play up to 30
    // days of a shorter one. A charge out of retry pays for a whole period.
    let (state, isFailing) = (match.lineage.state, match.entitlement.renewState == .billingIssue)
    let isGivenUp = state.isInBillingRetry && state.isExpiryReported && end <= state.lastEventAt
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
  private func showsSameCharges(_ match: EntitlementMatch) -> Bool {
    // Every transaction of a list has been evaluated by its id.
    if !match.entitlement.transactions.isEmpty { return true }
    let state = match.lineage.latest
    // Counting can restart with a purchase after a reported end.
    let known = match.lineage.state
    if let end = known.periodEnd, isExpired(known, at: end), isOn(match, past: end) { return false }
    guard !state.isTrial, !state.charges.isEmpty, let count = match.renewsCount,
      let seen = renewalsSeen(match.lineage)
    else { return false }
    return Int64(count) <= seen
  }

  /// The charges that the snapshot counts beyond the known ones; nil where either side has no
  /// count.
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
    // The length of another product's periods is unknown.
    if namesOtherProduct(match) { return 1 }
    if let counted = chargesCounted(match) { return counted }
    // A trial's conversion out of billing retry comes at any time, not whole periods later.
    if state.isTrial, state.isInBillingRetry { return 1 }
    if let reported = state.reportedEnd, reported > base, reported <= end + rules.endTolerance {
      let first = fewest(match, from: base, until: reported)
      let isFailing = match.entitlement.renewState == .billingIssue || state.isInBillingRetry
      return isFailing ? first : first + periods(match, from: reported, until: end)
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
  func hasFailed(_ state: LineageState, at end: Instant) -> Bool {
    guard state.isInBillingRetry, state.reportedEnd != nil, let failedAt = state.paymentFailedAt
    else { return state.isInBillingRetry }
    return failedAt <= end + rules.fold.renewalGap
  }

  /// Whether the snapshot names a product that no event of the last period does.
  private func namesOtherProduct(_ match: EntitlementMatch) -> Bool {
    guard let products = storeProducts(match.entitlement.product), !match.lineage.product.isEmpty
    else { return false }
    return !products.contains(match.lineage.product)
  }

  /// Whether the snapshot shows the period of a product after an unannounced change.
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

  /// The length of the shown product's period; nil if unknown for another product.
  func shownLength(_ match: EntitlementMatch) -> Interval? {
    guard namesOtherProduct(match) else { return periodLength(match.lineage) }
    return knownLength(of: match.entitlement)?.mean
  }

  /// The configured or listed length of the entitlement's product, though no event may name it.
  func knownLength(of entitlement: Entitlement) -> PeriodLength? {
    guard !rules.lengths.isEmpty, let products = storeProducts(entitlement.product) else {
      return nil
    }
    let lengths = Set(products.map(rules.length))
    return lengths.count == 1 ? lengths.first ?? nil : nil
  }

  /// When the period began whose end is shown; nil where its length is unknown, or where it
  /// would have to begin after the snapshot.
  func begin(ofPeriodShownBy match: EntitlementMatch) -> Instant? {
    guard let end = match.entitlement.expiresAt else { return nil }
    let reported = knownLength(of: match.entitlement)?.start(before: end)
    let begin = reported ?? shownLength(match).map { end - $0 }
    return begin.flatMap { $0 <= knownAt + rules.fold.renewalGap ? $0 : nil }
  }

  func periods(_ match: EntitlementMatch, from: Instant, until: Instant) -> Int64 {
    guard let length = shownLength(match), length > .seconds(0) else { return 0 }
    let span = until.since(from).milliseconds
    // An open end counts whole periods; a known one is rounded, since months differ in length.
    guard match.entitlement.expiresAt != nil else { return span / length.milliseconds }
    // A last period that would begin after the snapshot proves that periods are longer by now.
    if until - length > knownAt + rules.fold.renewalGap { return 1 }
    return (span + length.milliseconds / 2) / length.milliseconds
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
