import Subscriptions
import Domain

/// Counters that jump, and counters that are higher than what came.
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

  /// What the last counter says, with the payments since that brought none.
  private func countedUp(_ lineage: LineageInput) -> Int64? {
    let uncounted = lineage.latest.subscriptionCharges.reversed().prefix {
      $0.ordinal == nil && $0.renewalCount == nil
    }
    return lineage.latest.renewalOrdinal.map { $0 + Int64(uncounted.count) }
  }

  /// How many payments came after the first; all that came, where the first is what never did.
  private func paidAfterFirst(_ lineage: LineageInput) -> Int64 {
    let state = lineage.latest
    let charged = Set(state.charges.map(\.transaction))
    // Changes that come without money are transactions of their own with some providers.
    let changes = Set(state.unpaidChanges.map(\.transaction)).subtracting(charged)
    let paid = state.subscriptionCharges.count + changes.count { $0 != 0 }
    return isFirstMissing(lineage) ? Int64(paid) : max(0, Int64(paid) - 1)
  }

  /// Whether the first payment was found missing.
  private func isFirstMissing(_ lineage: LineageInput) -> Bool {
    missing(in: lineage).contains { !$0.isFree && isFirst($0, in: lineage) }
  }

  /// Whether a missing charge came before the first that came; a start after a lapse is none.
  private func isFirst(_ charge: MissingCharge, in lineage: LineageInput) -> Bool {
    guard charge.code == .missedConversion || (charge.code == .missedStart && charge.opensLineage)
    else { return false }
    let first = lineage.latest.subscriptionCharges.first
    guard let first, let at = charge.at else { return true }
    return at <= first.time
  }

  /// Gaps between the counters of the events themselves; no snapshot is needed.
  mutating func findCounterGaps() {
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      let start = findStartOfCounting(lineage)
      let paid = lineage.latest.subscriptionCharges
      var counter = RenewalCounter(
        after: start == nil ? nil : 0,
        isStartSeen: start == nil && lineage.latest.isStartSeen)
      for index in paid.indices {
        let jump = counter.take(paid[index].kind, counter: paid[index].renewalCount)
        if let jump { raiseGap(lineage, jump, since: start, paid[...index]) }
      }
    }
  }

  /// When counting began before the first charge that came; nil when no loss tells.
  ///
  /// Raises the conversion that never came between a trial and its first renewal.
  private mutating func findStartOfCounting(_ lineage: LineageInput) -> Instant? {
    let state = lineage.latest
    let firsts = missing(in: lineage).filter { isFirst($0, in: lineage) }
    if let at = firsts.first(where: { $0.code == .missedStart })?.at { return at }
    guard let trial = state.trials.last, let first = state.charges.first,
      first.kind == .renewal, let ordinal = first.ordinal, ordinal > 0
    else { return nil }
    let due = trial.end ?? trial.start
    if firsts.contains(where: { $0.code == .missedConversion }) { return due }
    let product = productBegun(in: lineage, at: due)
    let money = estimate(lineage, product: product)
    raise(
      BreakDraft(
        code: .missedConversion, subject: subject(lineage, product: product), key: .ordinal(0),
        expectedAt: due, missingEvents: 1, estimate: money.amount, basis: money.basis,
        provenBy: .events,
        evidence: "a trial until \(due.text) is followed by renewal \(ordinal), "
          + "without a conversion",
        action: nextStep(.missedConversion, user.provider)),
      for: MissingCharge(
        lineage: lineage.name, code: .missedConversion, at: due, end: nil))
    return due
  }

  /// Raises what a jump of the counter up to the last of `paid` leaves out, less what was found.
  private mutating func raiseGap(
    _ lineage: LineageInput, _ jump: CounterJump, since start: Instant?, _ paid: ArraySlice<Charge>
  ) {
    guard let charge = paid.last else { return }
    let known = jump.previous.map { paid[$0...] } ?? []
    let first = start.map { $0 + (periodLength(lineage) ?? .seconds(0)) }
    let from = known.first.map { $0.periodEnd ?? $0.time } ?? first ?? charge.time
    // What another jump left out is dated at the charge that it led up to, at the latest.
    let begin = known.first?.time ?? (start ?? charge.time) - rules.fold.renewalGap
    let between = missing(in: lineage).filter { missed in
      !missed.isFree && missed.code != .missedPurchase && !isFirst(missed, in: lineage)
        && (missed.at.map { $0 > begin && $0 <= charge.time } ?? true)
    }
    let left = jump.between - total(between)
    guard left > 0 else { return }
    let last = known.dropLast().last.map { $0.periodEnd ?? $0.time }
    let due = min(firstHole(known) ?? last ?? from, charge.time)
    let counts = charge.kind == .renewal ? "renewal \(jump.to)" : "renewal count \(jump.to)"
    var evidence = "\(counts) of \(charge.time.text) follows renewal \(jump.from)"
    if jump.changes > 0 {
      evidence +=
        "; whether a change of product or a new start between them counts, nobody says"
    }
    guard left > jump.changes else {
      return raiseUncertain(lineage, from: jump.from + 1, at: due, evidence)
    }
    raiseRenewals(
      lineage, from: jump.from + 1, count: left - jump.changes, at: due, provenBy: .events,
      evidence)
  }

  /// Keeps on record that the counter says one more, where a change of product may be that one.
  private mutating func raiseUncertain(
    _ lineage: LineageInput, from ordinal: Int64, at: Instant, _ evidence: String
  ) {
    raise(
      BreakDraft(
        code: .missedRenewal,
        subject: subject(lineage, product: product(of: lineage, at: at)),
        key: .ordinal(ordinal), expectedAt: at, provenBy: .events, isMereInformation: true,
        severity: .info, evidence: evidence, action: nextStep(.missedRenewal, user.provider)))
  }

  /// The snapshot's counter against what came, less what the earlier passes found.
  mutating func compareCounters(_ matches: [EntitlementMatch]) {
    for match in matches where isComparable(match) && !isBegunElsewhere(match) {
      guard let count = match.renewsCount, let seen = renewalsSeen(match.lineage),
        Int64(count) > seen, !isListed(count, match),
        let elsewhere = paidElsewhere(match)
      else { continue }
      let found = renewalsKnown(match.lineage) - seen
      let left = Int64(count) - seen - found - elsewhere - paidBeforeOurTime(match)
      guard left > 0 else { continue }
      raiseRenewals(
        match.lineage, from: seen + 1, count: left, at: firstHole(match.lineage),
        provenBy: .snapshot,
        "the snapshot counts \(count) renewals; \(seen) are known, \(found) found missing")
    }
  }

  /// Whether the entitlement lists as many payments as it counts: each has been judged by its id.
  private func isListed(_ count: Int32, _ match: EntitlementMatch) -> Bool {
    let trials = Set(match.lineage.latest.trials.map(\.transaction))
    let paid = match.entitlement.transactions.count {
      ![.oneTime, .trialStarted, .free].contains($0.kind) && !trials.contains(transactionKey($0.id))
    }
    return Int64(paid) > Int64(count)
  }

  /// Payments of earlier subscriptions of the user, which a counter of the entitlement may hold:
  /// of those that it lists, and that no other entitlement comes from; nil where they cannot be
  /// counted.
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

  /// Listed payments of before the first event ever taken in, where no event counts for the ledger.
  ///
  /// A renewal that brings its number along counts them.
  private func paidBeforeOurTime(_ match: EntitlementMatch) -> Int64 {
    guard !user.provider.capabilities.sendsRenewalOrdinals else { return 0 }
    let lineage = match.lineage
    let about = subject(lineage)
    return Int64(
      match.entitlement.transactions.count { transaction in
        guard let at = transaction.at, !isWatched(at, about) else { return false }
        return transaction.kind != .trialStarted
          && !lineage.latest.transactions.contains(transactionKey(transaction.id))
      })
  }

  /// `renewalsSeen` with what earlier passes found missing, each payment once.
  ///
  /// The counter of the last charge that has one includes what is missing before it, the number of
  /// charges does not.
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

  private func total(_ charges: [MissingCharge]) -> Int64 { charges.reduce(0) { $0 + $1.count } }

  /// The first end that no charge follows within the gap, the last one included.
  private func firstHole(_ lineage: LineageInput) -> Instant {
    let paid = lineage.state.subscriptionCharges
    if let end = firstHole(paid[...]) { return end }
    let end = lineage.state.periodEnd ?? lineage.state.lastEventAt
    return end < knownAt ? end : lineage.state.lastEventAt
  }

  private func firstHole(_ paid: ArraySlice<Charge>) -> Instant? {
    for (charge, next) in zip(paid, paid.dropFirst()) {
      if let end = charge.periodEnd, next.periodStart > end + rules.fold.renewalGap { return end }
    }
    return nil
  }

  private mutating func raiseRenewals(
    _ lineage: LineageInput, from ordinal: Int64, count: Int64, at: Instant,
    provenBy proof: EvidenceKind,
    _ evidence: String
  ) {
    let product = product(of: lineage, at: at)
    let money = estimate(lineage, product: product, of: .missedRenewal, count: count, at: at)
    raise(
      BreakDraft(
        code: .missedRenewal, subject: subject(lineage, product: product),
        key: .ordinal(ordinal),
        expectedAt: at, missingEvents: count, estimate: money.amount, basis: money.basis,
        provenBy: proof, evidence: evidence, action: nextStep(.missedRenewal, user.provider)),
      for: MissingCharge(
        lineage: lineage.name, code: .missedRenewal, at: at, end: nil, count: count))
  }
}
