import Domain
import Subscriptions

/// Counts the charges that an end in the snapshot proves and no event reported.
extension Reconciler {
  func isPaidOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    isOn(match, past: end) && match.entitlement.renewState == .willRenew && !showsSameCharges(match)
  }

  /// Whether a later end proves a missing charge, and is not another end of the same period.
  func provesCharges(_ match: EntitlementMatch, from base: Instant, to end: Instant) -> Bool {
    let beyond = end.since(base)
    guard beyond > gap, !showsSameCharges(match) else { return false }
    if isOn(match, past: base), match.entitlement.renewState != .billingIssue { return true }
    // A failing payment's end is the end of grace: most of a period later or, in Play, up to 30
    // days for a shorter period. A charge recovered in retry pays for a whole period.
    let (state, isFailing) = (match.lineage.state, match.entitlement.renewState == .billingIssue)
    let isGivenUp = state.isInBillingRetry && state.isExpiryReported && end <= state.lastEventAt
    let isActive = isOn(match)
    if isFailing && isActive || isGivenUp, beyond < .days(31) { return false }
    guard let length = periodLength(match.lineage)?.milliseconds else { return true }
    let isInRetry = isFailing || state.isInBillingRetry
    return beyond.milliseconds >= (isInRetry ? length / 10 * 9 : length / 2)
  }

  /// Whether access continues for longer than the gap after an end.
  private func isOn(_ match: EntitlementMatch, past end: Instant) -> Bool {
    isOn(match) && knownAt > end + gap
  }

  /// Whether events already have the snapshot's newest charge or its counter.
  private func showsSameCharges(_ match: EntitlementMatch) -> Bool {
    // Each transaction of a list was evaluated by its id.
    if !match.entitlement.transactions.isEmpty { return true }
    let state = match.lineage.latest
    // Counting can restart with a purchase after a reported end.
    let known = match.lineage.state
    if let end = known.periodEnd, isExpired(known, at: end), isOn(match, past: end) { return false }
    guard !state.isTrial, !state.charges.isEmpty, let count = match.renewsCount,
      let seen = renewalsSeen(match.lineage)
    else { return false }
    // A charge after the snapshot or its end is not one that it counts.
    let paid = state.subscriptionCharges
    let latest = match.entitlement.expiresAt.map { $0 + gap }
    let shown = paid.filter { charge in
      let isLater = latest.flatMap { latest in charge.periodEnd.map { $0 > latest } } ?? false
      return charge.time <= knownAt + gap && !isLater
    }
    guard shown.count < paid.count else { return Int64(count) <= seen }
    guard !shown.isEmpty else { return false }
    let counted = shown.compactMap { $0.ordinal ?? $0.renewalCount.map(Int64.init) }.max() ?? 0
    let first: Int64 = isFirstMissing(match.lineage) ? 0 : 1
    return Int64(count) <= max(counted, Int64(shown.count) - first)
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
    // The length of another product's periods is unknown.
    if namesOtherProduct(match) { return 1 }
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
      let length = periodLength(match.lineage)?.milliseconds, length > 0
    else { return max(1, periods(match, from: base, until: end)) }
    let beyond = end.since(base + rules.fold.retryHorizon).milliseconds
    return max(1, (beyond + length - 1) / length)
  }

  /// Whether the failed payment was the one due at `end`, and not that of a later period whose
  /// charge is missing.
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

  func periodLength(_ lineage: LineageInput) -> Interval? { periodLength(lineage, lineage.state) }

  /// The configured or listed length, else that of the last paid period, which can be an offer's or
  /// a shortened one.
  func periodLength(_ lineage: LineageInput, _ state: LineageState) -> Interval? {
    if let length = knownLength(of: state) { return length.mean }
    let paid = state.subscriptionCharges.last { $0.periodEnd != nil }
    guard let paid, let end = paid.periodEnd, end > paid.periodStart else { return nil }
    return end.since(paid.periodStart)
  }

  private func knownLength(of state: LineageState) -> PeriodLength? {
    rules.fold.periods[state.product]
      ?? rules.fold.prices.period(of: state.product, in: state.store, at: knownAt)
  }

  /// When the first of `count` periods until `end` began, at the earliest at `earliest`; nil if
  /// their length is unknown.
  func begin(
    of count: Int64 = 1, periodsUntil end: Instant, _ lineage: LineageInput,
    _ state: LineageState, earliest: Instant = Instant(milliseconds: .min)
  ) -> Instant? {
    guard let length = periodLength(lineage, state) else { return nil }
    let begun = max(earliest, end - Interval(milliseconds: length.milliseconds * count))
    guard begun > earliest, let known = knownLength(of: state) else { return begun }
    return max(earliest, known.end(from: end, times: -Int(count)))
  }

  /// The length of the shown product's period; nil if it is another product whose length is
  /// unknown.
  func shownLength(_ match: EntitlementMatch) -> Interval? {
    guard namesOtherProduct(match) else { return periodLength(match.lineage) }
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

  /// When the period with the shown end began; nil if its length is unknown, or if it would begin
  /// after the snapshot.
  func begin(ofPeriodShownBy match: EntitlementMatch) -> Instant? {
    guard let end = match.entitlement.expiresAt else { return nil }
    let lineage = match.lineage
    let begin =
      knownLength(of: match.entitlement)?.start(before: end)
      ?? (namesOtherProduct(match) ? nil : begin(periodsUntil: end, lineage, lineage.state))
    return begin.flatMap { $0 <= knownAt + gap ? $0 : nil }
  }

  func periods(_ match: EntitlementMatch, from: Instant, until: Instant) -> Int64 {
    guard let length = shownLength(match), length > .seconds(0) else { return 0 }
    let span = until.since(from)
    // An open end counts whole periods; a known one is rounded because months differ in length.
    guard match.entitlement.expiresAt != nil else { return span.milliseconds / length.milliseconds }
    // If the last period would begin after the snapshot, periods have become longer.
    if until - length > knownAt + gap { return 1 }
    return span.rounded(dividingBy: length)
  }
}

extension PeriodLength {
  /// The mean length; a month has 30.4375 days, as for the contract's MRR.
  var mean: Interval {
    switch self {
    case .days(let count): .days(Int64(count))
    case .months(let count): .minutes(Int64(count) * 43_830)
    }
  }
}

/// Counts the known payments of a subscription.
extension Reconciler {
  /// Number of renewals known to have happened: the counter, or the paid transactions after the
  /// first.
  ///
  /// The SDK counts "from the second paid transaction", so product changes and new starts count
  /// there although they are not renewals. Nil while the lineage's start is unknown.
  func renewalsSeen(_ lineage: LineageInput) -> Int64? {
    let paid = paidAfterFirst(lineage)
    if let counted = countedUp(lineage) { return max(counted, paid) }
    let state = lineage.latest
    guard isFirstMissing(lineage) || state.isStartSeen || !state.trials.isEmpty else { return nil }
    return paid
  }

  /// The last counter plus the later payments without one.
  private func countedUp(_ lineage: LineageInput) -> Int64? {
    let uncounted = lineage.latest.subscriptionCharges.reversed().prefix {
      $0.ordinal == nil && $0.renewalCount == nil
    }
    return lineage.latest.renewalOrdinal.map { $0 + Int64(uncounted.count) }
  }

  /// The number of payments after the first; all received ones, if the first is missing.
  private func paidAfterFirst(_ lineage: LineageInput) -> Int64 {
    let state = lineage.latest
    // Some providers send unpaid changes as separate transactions.
    let changes = Set(state.unpaidChanges.map(\.transaction)).filter { change in
      change != 0 && !state.charges.contains { $0.transaction == change }
    }
    let paid = state.subscriptionCharges.count + changes.count
    return isFirstMissing(lineage) ? Int64(paid) : max(0, Int64(paid) - 1)
  }

  /// Whether the first payment was found to be missing.
  private func isFirstMissing(_ lineage: LineageInput) -> Bool {
    missing(in: lineage).contains { !$0.isFree && isFirst($0, in: lineage) }
  }

  /// Whether a missing charge precedes the first received one; a new start after a lapse does not
  /// count.
  func isFirst(_ charge: MissingCharge, in lineage: LineageInput) -> Bool {
    guard charge.code == .missedConversion || (charge.code == .missedStart && charge.opensLineage)
    else { return false }
    let first = lineage.latest.subscriptionCharges.first
    guard let first, let at = charge.at else { return true }
    return at <= first.time
  }

  /// The number of payments of the user's earlier subscriptions that the entitlement's counter can
  /// include; nil if they cannot be counted.
  ///
  /// These are the subscriptions that it lists, and those that match no other entitlement.
  func paidElsewhere(_ match: EntitlementMatch) -> Int64? {
    let listed = Set(match.entitlement.transactions.map { transactionKey($0.id) })
    var paid: Int64 = 0
    for (index, lineage) in lineages.enumerated()
    where lineage.name != match.lineage.name && lineage.latest.isSubscription
      && lineage.latest.firstEventAt < match.lineage.latest.firstEventAt
      && (!origins.lineages.contains(index)
        || !listed.isDisjoint(with: lineage.latest.transactions))
    {
      guard renewalsSeen(lineage) != nil else { return nil }
      let isPaid = !lineage.latest.subscriptionCharges.isEmpty || isFirstMissing(lineage)
      paid += renewalsKnown(lineage) + (isPaid ? 1 : 0)
    }
    return paid
  }

  /// `renewalsSeen` plus what earlier checks found missing, each payment once.
  ///
  /// The counter of the last charge includes missing charges before it; the number of charges does
  /// not.
  func renewalsKnown(_ lineage: LineageInput) -> Int64 {
    let charges = lineage.latest.charges
    let found = missing(in: lineage).filter { !$0.isFree && !isFirst($0, in: lineage) }
    let paid = paidAfterFirst(lineage) + total(found)
    guard let counted = countedUp(lineage) else { return paid }
    let hasGaps = charges.compactMap(\.ordinal).count < lineage.latest.renewalOrdinal ?? 0
    guard let last = charges.last(where: { $0.ordinal != nil }), hasGaps else {
      return max(counted + total(found), paid)
    }
    return max(counted + total(found.filter { $0.at.map { $0 > last.time } ?? false }), paid)
  }

  func total(_ charges: [MissingCharge]) -> Int64 { charges.reduce(0) { $0 + $1.count } }

  func firstGap(_ paid: ArraySlice<Charge>) -> Instant? {
    for (charge, next) in zip(paid, paid.dropFirst()) {
      if let end = charge.periodEnd, next.periodStart > end + gap { return end }
    }
    return nil
  }

  /// Raises missing charges of `lineage`; the first was due at `at`, the last paid until `end`.
  ///
  /// - Parameter product: defaults to the product that a renewal renewed or a start began.
  func raiseCharge(
    _ code: BreakCode, of lineage: LineageInput, product: String? = nil, count: Int64 = 1,
    at: Instant, until end: Instant? = nil, isFree: Bool = false, opensLineage: Bool = false,
    provenBy proof: EvidenceKind = .events, _ evidence: String
  ) {
    let usual =
      code == .missedRenewal ? self.product(of: lineage, at: at) : productBegun(in: lineage, at: at)
    let product = product ?? usual
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product), expectedAt: at,
        missingEvents: count,
        worth: isFree
          ? nothing : estimate(lineage, product: product, of: code, count: count, at: at),
        provenBy: proof, evidence: evidence),
      of: lineage, until: end, isFree: isFree, opensLineage: opensLineage)
  }
}
