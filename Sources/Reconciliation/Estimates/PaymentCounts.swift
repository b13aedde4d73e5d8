import Domain
import Subscriptions

/// Counts the known payments of a subscription.
extension Reconciler {
  /// The renewals known to have happened: the counter, or the paid transactions after the first.
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

  /// `renewalsSeen` without what the snapshot cannot count: charges after it or after its end.
  func renewalsShown(_ match: EntitlementMatch) -> Int64? {
    guard let seen = renewalsSeen(match.lineage) else { return nil }
    let paid = match.lineage.latest.subscriptionCharges
    let latest = match.entitlement.expiresAt.map { $0 + gap }
    let shown = paid.filter { charge in
      let isLater = latest.flatMap { latest in charge.periodEnd.map { $0 > latest } } ?? false
      return charge.time <= knownAt + gap && !isLater
    }
    guard shown.count < paid.count else { return seen }
    guard !shown.isEmpty else { return nil }
    let counted = shown.compactMap { $0.ordinal ?? $0.renewalCount.map(Int64.init) }.max() ?? 0
    return max(counted, Int64(shown.count) - (isFirstMissing(match.lineage) ? 0 : 1))
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
  func isFirstMissing(_ lineage: LineageInput) -> Bool {
    missing(in: lineage).contains { !$0.isFree && isFirst($0, in: lineage) }
  }

  /// Whether a missing charge precedes the first received one; starts after a lapse do not count.
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
  /// The counter of the last charge, unlike the number of charges, includes missing ones before it.
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
    at: Instant, until end: Instant? = nil, isFree: Bool = false, isOffer: Bool = false,
    opensLineage: Bool = false, isProvenByEvents: Bool = true, _ evidence: String
  ) {
    let product = product ?? self.product(of: lineage, at: at, isStart: code != .missedRenewal)
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product), expectedAt: at,
        missingEvents: count,
        worth: isFree
          ? nothing
          : estimate(lineage, product: product, of: code, count: count, at: at, isOffer: isOffer),
        isProvenByEvents: isProvenByEvents, evidence: evidence),
      of: lineage, until: end, isFree: isFree, opensLineage: opensLineage)
  }
}
