import Domain
import Subscriptions

/// Counts the charges that an end in the snapshot proves and no event reported.
extension Reconciler {
  /// Whether a later end proves a missing charge, and is not another end of the same period.
  func provesCharges(_ match: EntitlementMatch, from base: Instant, to end: Instant) -> Bool {
    let beyond = end.since(base)
    guard beyond > gap, !showsSameCharges(match) else { return false }
    if isOn(match, past: base), match.entitlement.renewState != .billingIssue { return true }
    // A failing payment's end is the end of grace: most of a period later or, in Play, up to 30
    // days for a shorter period. A charge recovered in retry pays for a whole period.
    let (state, isFailing) = (match.lineage.state, match.entitlement.renewState == .billingIssue)
    let isGivenUp = state.isInBillingRetry && state.expiredAt != nil && end <= state.lastEventAt
    let isActive = isOn(match)
    if isFailing && isActive || isGivenUp, beyond < .days(31) { return false }
    // After a change to a shorter product, the shown end is one of its periods later.
    let lengths = [periodLength(state), knownLength(of: match.entitlement)?.mean]
    guard let length = lengths.compactMap(\.self).min()?.milliseconds else {
      let hasFailed = state.paymentsFailed.contains { base - .days(1) <= $0 && $0 < end }
      return !hasFailed || beyond >= .days(31)
    }
    if isFailing || state.isInBillingRetry || !isActive {
      return beyond.milliseconds >= length / 10 * 9
    }
    // No extension changes the product.
    return isOfOtherProduct(match) || beyond.milliseconds >= length / 2
  }

  /// Whether access continues for longer than the gap after an end.
  func isOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    isOn(match) && knownAt > end + gap
  }

  /// Whether events already have the snapshot's newest charge or its counter.
  func showsSameCharges(_ match: EntitlementMatch) -> Bool {
    // Each transaction of a list was evaluated by its id, if charges have their own.
    if let newest = match.entitlement.newestTransaction {
      return capabilities.body != .collection || match.lineage.state.store.startsWithOriginal
        || newest.id != newest.originalID
    }
    let state = match.lineage.latest
    // Counting can restart with a purchase after a reported end.
    let known = match.lineage.state
    if let end = known.periodEnd, isExpired(known, at: end), isOn(match, past: end) { return false }
    // No counter counts a product change, nor a start under a new id.
    if unreportedPurchase(match) != nil { return false }
    guard !state.isTrial, !state.charges.isEmpty, let count = match.renewsCount,
      let shown = renewalsShown(match)
    else { return false }
    return Int64(count) <= shown
  }

  /// The charges that the snapshot counts beyond the known ones; nil if either side has no count.
  ///
  /// A trial's conversion precedes the first counted charge.
  private func chargesCounted(_ match: EntitlementMatch) -> Int64? {
    guard let count = match.renewsCount, renewalsSeen(match.lineage) != nil,
      let elsewhere = paidElsewhere(match)
    else { return nil }
    let state = match.lineage.latest
    let isConverted = !state.isTrial || !state.subscriptionCharges.isEmpty
    let left = Int64(count) - renewalsKnown(match.lineage) - elsewhere + (isConverted ? 0 : 1)
    return left > 0 ? left : nil
  }

  /// The smallest number of charges that explains an end at `end`.
  func charges(_ match: EntitlementMatch, from base: Instant, until end: Instant) -> Int64 {
    let state = match.lineage.state
    // Nothing dates an unannounced change of product, and the length can be unknown.
    if isOfOtherProduct(match)
      || namesOtherProduct(match) && knownLength(of: match.entitlement) == nil
    {
      return 1
    }
    if let counted = chargesCounted(match) {
      // Orders that other orders' numbers prove are found by these.
      let isByOrder = match.lineage.countedCharges.contains(where: \.isByOrder)
      return isByOrder ? min(counted, fewest(match, from: base, until: end)) : counted
    }
    // A trial's conversion in billing retry can be at any time, not only whole periods later.
    if state.isTrial, state.isInBillingRetry { return 1 }
    if let reported = state.reportedEnd, reported > base, reported <= end + rules.endTolerance {
      let first = fewest(match, from: base, until: reported)
      let isFailing = match.entitlement.renewState == .billingIssue || state.isInBillingRetry
      return isFailing ? first : first + periods(match, from: reported, until: end)
    }
    return fewest(match, from: base, until: end)
  }

  /// The smallest number of charges that explains an end.
  ///
  /// If the payment had failed, the first charge may have been at any time within the horizon.
  private func fewest(_ match: EntitlementMatch, from base: Instant, until end: Instant) -> Int64 {
    guard hasFailed(match.lineage.state, at: base),
      let length = periodLength(match.lineage.state)?.milliseconds, length > 0
    else { return max(1, periods(match, from: base, until: end)) }
    let beyond = end.since(base + rules.fold.retryHorizon).milliseconds
    return max(1, (beyond + length - 1) / length)
  }

  /// Whether the failed payment was the one due at `end`, not that of a later, missing period.
  func hasFailed(_ state: LineageState, at end: Instant) -> Bool {
    guard state.isInBillingRetry, state.reportedEnd != nil, let failedAt = state.paymentFailedAt
    else { return state.isInBillingRetry }
    return failedAt <= end + gap
  }

  /// Whether the snapshot names a product that no event of the last period names.
  private func namesOtherProduct(_ match: EntitlementMatch) -> Bool {
    guard let products = storeProducts(match.entitlement.product), !match.lineage.product.isEmpty
    else { return false }
    return !products.contains(match.lineage.product)
  }

  /// Whether the snapshot shows the period of a product after an unannounced change; one announced
  /// for the next renewal can be shown already.
  func isOfOtherProduct(_ match: EntitlementMatch) -> Bool {
    guard namesOtherProduct(match) else { return false }
    guard let next = match.lineage.state.scheduledProduct else { return true }
    return storeProducts(match.entitlement.product)?.contains(match.lineage.text(next)) != true
  }

  /// The length of the periods of `product`, or of the latest one if that is zero: as configured or
  /// listed, else that of its last paid period, perhaps of an offer, or of any last one.
  func periodLength(_ state: LineageState, of product: StringID = 0) -> Interval? {
    if let length = knownLength(of: product, state) { return length.mean }
    let paid = state.subscriptionCharges
    let own = product == 0 ? nil : paid.last { $0.periodEnd != nil && $0.product == product }
    guard let last = own ?? paid.last(where: { $0.periodEnd != nil }), let end = last.periodEnd,
      end > last.periodStart
    else { return nil }
    return end.since(last.periodStart)
  }

  private func knownLength(of product: StringID, _ state: LineageState) -> PeriodLength? {
    let product = product == 0 ? state.product : product
    return rules.fold.periods[product]
      ?? rules.fold.prices.period(of: product, in: state.store, at: knownAt)
  }

  /// When the first of `count` periods of `product` until `end` began, not before `earliest`; nil
  /// if unknown.
  func begin(
    of count: Int64 = 1, periodsUntil end: Instant, _ state: LineageState, product: StringID = 0,
    earliest: Instant = Instant(milliseconds: .min)
  ) -> Instant? {
    guard let length = periodLength(state, of: product) else { return nil }
    let begun = max(earliest, end - Interval(milliseconds: length.milliseconds * count))
    guard begun > earliest, let known = knownLength(of: product, state) else { return begun }
    return max(earliest, known.end(from: end, times: -Int(count)))
  }

  /// The length of the shown product's period; nil if it is another product of unknown length.
  func shownLength(_ match: EntitlementMatch) -> Interval? {
    guard namesOtherProduct(match) else { return periodLength(match.lineage.state) }
    return knownLength(of: match.entitlement)?.mean
  }

  /// The configured or listed length of the entitlement's product, even if no event names it.
  func knownLength(of entitlement: Entitlement) -> PeriodLength? {
    guard !rules.lengths.isEmpty, let products = storeProducts(entitlement.product),
      let length = products.first.flatMap({ rules.length(of: $0) }),
      products.dropFirst().allSatisfy({ rules.length(of: $0) == length })
    else { return nil }
    return length
  }

  /// When the period with the shown end began; nil if unknown or after the snapshot.
  func begin(ofPeriodShownBy match: EntitlementMatch) -> Instant? {
    guard let end = match.entitlement.expiresAt else { return nil }
    let begin =
      knownLength(of: match.entitlement)?.start(before: end)
      ?? (namesOtherProduct(match) ? nil : begin(periodsUntil: end, match.lineage.state))
    return begin.flatMap { $0 <= knownAt + gap ? $0 : nil }
  }

  func periods(_ match: EntitlementMatch, from: Instant, until: Instant) -> Int64 {
    guard let length = shownLength(match), length > .seconds(0) else { return 0 }
    let span = until.since(from)
    // An open end counts whole periods; a known one is rounded because months differ in length.
    guard match.entitlement.expiresAt != nil else { return span.milliseconds / length.milliseconds }
    // If the last period would begin after the snapshot, periods have become longer.
    if until - length > knownAt + gap { return 1 }
    // In grace and after it, the shown end is later than that of the last period.
    if match.entitlement.renewState == .billingIssue || !isOn(match) {
      return (span.milliseconds + length.milliseconds / 10) / length.milliseconds
    }
    return span.rounded(dividingBy: length)
  }
}
