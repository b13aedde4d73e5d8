import Subscriptions
import Domain

/// How many payments of a subscription are known.
extension Reconciler {
  /// Renewals known to have happened: the counter, or the paid transactions after the first.
  ///
  /// The SDK counts "from the second paid transaction", so a product change and a new start count
  /// there although they are no renewals. Nil while the start of the lineage is unknown.
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

  /// How many payments came after the first; all that came, where the first is what never did.
  private func paidAfterFirst(_ lineage: LineageInput) -> Int64 {
    let state = lineage.latest
    // Changes that come without money are transactions of their own with some providers.
    let changes = Set(state.unpaidChanges.map(\.transaction)).filter { change in
      change != 0 && !state.charges.contains { $0.transaction == change }
    }
    let paid = state.subscriptionCharges.count + changes.count
    return isFirstMissing(lineage) ? Int64(paid) : max(0, Int64(paid) - 1)
  }

  /// Whether the first payment was found missing.
  private func isFirstMissing(_ lineage: LineageInput) -> Bool {
    missing(in: lineage).contains { !$0.isFree && isFirst($0, in: lineage) }
  }

  /// Whether a missing charge came before the first that came; a start after a lapse is none.
  func isFirst(_ charge: MissingCharge, in lineage: LineageInput) -> Bool {
    guard charge.code == .missedConversion || (charge.code == .missedStart && charge.opensLineage)
    else { return false }
    let first = lineage.latest.subscriptionCharges.first
    guard let first, let at = charge.at else { return true }
    return at <= first.time
  }

  /// Payments of earlier subscriptions of the user, which a counter of the entitlement can include:
  /// of the subscriptions that it lists and that match no other entitlement; nil where they cannot
  /// be counted.
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

  /// `renewalsSeen` with what earlier checks found missing, each payment once.
  ///
  /// The last charge's counter includes missing charges before it, the number of charges does not.
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

  func firstHole(_ paid: ArraySlice<Charge>) -> Instant? {
    for (charge, next) in zip(paid, paid.dropFirst()) {
      if let end = charge.periodEnd, next.periodStart > end + rules.fold.renewalGap { return end }
    }
    return nil
  }

  func raiseRenewals(
    _ lineage: LineageInput, count: Int64, at: Instant, provenBy proof: EvidenceKind,
    _ evidence: String
  ) {
    let product = product(of: lineage, at: at)
    let money = estimate(lineage, product: product, of: .missedRenewal, count: count, at: at)
    raise(
      BreakDraft(
        code: .missedRenewal, subject: subject(lineage, product: product),
        expectedAt: at, missingEvents: count, estimate: money.amount, basis: money.basis,
        provenBy: proof, evidence: evidence),
      for: MissingCharge(
        lineage: lineage.name, code: .missedRenewal, at: at, end: nil, count: count))
  }
}
