import Timeline
import Vocabulary

/// Third pass: counters that jump, and counters that are higher than what came.
extension Reconciliation {
  /// Renewals known to have happened: the counter, or the paid transactions after the first.
  ///
  /// The SDK counts "from the second paid transaction", so a product change and a new start count
  /// there although they are no renewals. Nil while the start of the lineage is unknown.
  func renewalsSeen(_ lineage: LineageCase) -> Int64? {
    let state = lineage.latest
    let paid = Int64(state.charges.count { $0.kind != .oneTime })
    if let ordinal = state.renewalOrdinal { return max(ordinal, paid - 1) }
    // Where the first payment is what never came, all that came are renewals.
    if missingFirsts(lineage).contains(where: { !$0.isFree }) { return paid }
    guard state.isStartSeen || !state.trials.isEmpty else { return nil }
    return max(0, paid - 1)
  }

  /// What was found missing before the first charge that came; a start after a lapse is none.
  private func missingFirsts(_ lineage: LineageCase) -> [MissingCharge] {
    let first = lineage.latest.charges.first { $0.kind != .oneTime }
    return missing(in: lineage).filter { charge in
      guard charge.code == .missedConversion || (charge.code == .missedStart && charge.opensLineage)
      else { return false }
      guard let first, let at = charge.at else { return true }
      return at <= first.time
    }
  }

  /// Gaps between the counters of the events themselves; no snapshot is needed.
  mutating func findCounterGaps() {
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      var previous: (ordinal: Int64, at: Instant)? = startOfCounting(lineage)
      let first = lineage.latest.charges.first { $0.kind != .oneTime }
      if previous == nil, lineage.latest.isStartSeen, let first, first.ordinal == nil {
        previous = (0, first.periodEnd ?? first.time)
      }
      for charge in lineage.latest.charges where charge.kind != .oneTime {
        if let ordinal = charge.ordinal {
          if let previous, ordinal > previous.ordinal + 1 {
            raiseGap(lineage, after: previous, before: (ordinal, charge.time))
          }
          previous = (ordinal, charge.periodEnd ?? charge.time)
        }
      }
    }
  }

  /// Where the counter stood when the first charge came; nil when that is before our time.
  private mutating func startOfCounting(_ lineage: LineageCase) -> (ordinal: Int64, at: Instant)? {
    let state = lineage.latest
    if let start = missingFirsts(lineage).first(where: { $0.code == .missedStart }),
      let at = start.at
    {
      return (0, at)
    }
    guard let trial = state.trials.last, let first = state.charges.first,
      first.kind == .renewal, let ordinal = first.ordinal, ordinal > 0
    else { return nil }
    let due = trial.end ?? trial.start
    if missingFirsts(lineage).contains(where: { $0.code == .missedConversion }) { return (0, due) }
    let money = estimate(lineage, product: lineage.product)
    raise(
      BreakDraft(
        code: .missedConversion, subject: subject(lineage), key: "ordinal 0", expectedAt: due,
        missingEvents: 1, estimate: money.amount, basis: money.basis, provenBy: .events,
        evidence: "a trial until \(due.text) is followed by renewal \(ordinal), "
          + "without a conversion",
        action: nextStep(.missedConversion, user.provider)),
      for: MissingCharge(
        original: lineage.original, code: .missedConversion, at: due, end: nil))
    return (0, due)
  }

  private mutating func raiseGap(
    _ lineage: LineageCase, after: (ordinal: Int64, at: Instant),
    before: (ordinal: Int64, at: Instant)
  ) {
    let between = missing(in: lineage).filter { charge in
      charge.code == .missedRenewal && (charge.at.map { $0 < before.at } ?? true)
        && (charge.at.map { $0 >= after.at - rules.rules.renewalGap } ?? true)
    }
    let count = before.ordinal - after.ordinal - 1 - total(between)
    guard count > 0 else { return }
    raiseRenewals(
      lineage, from: after.ordinal + 1, count: count, at: min(after.at, before.at),
      provenBy: .events,
      "renewal \(before.ordinal) of \(before.at.text) follows renewal \(after.ordinal)")
  }

  /// The snapshot's counter against what came, less what the earlier passes found.
  mutating func compareCounters(_ matches: [EntitlementMatch]) {
    for match in matches where isComparable(match) {
      guard let count = match.renewsCount, let seen = renewalsSeen(match.lineage),
        Int64(count) > seen
      else { continue }
      let found = total(uncounted(match.lineage))
      let left = Int64(count) - seen - found - paidBeforeOurTime(match)
      guard left > 0 else { continue }
      raiseRenewals(
        match.lineage, from: seen + 1, count: left, at: firstHole(match.lineage),
        provenBy: .snapshot,
        "the snapshot counts \(count) renewals; \(seen) are known, \(found) found missing")
    }
  }

  /// Listed payments of before the first event ever taken in, where no event counts for the ledger.
  ///
  /// A Qonversion renewal brings its number along, and so counts them.
  private func paidBeforeOurTime(_ match: EntitlementMatch) -> Int64 {
    guard user.provider != .qonversion else { return 0 }
    let lineage = match.lineage
    let about = subject(lineage)
    return Int64(
      match.entitlement.transactions.count { transaction in
        guard let at = transaction.at, !isWatched(at, about) else { return false }
        return transaction.kind != .trialStarted
          && !lineage.latest.transactions.contains(transactionKey(transaction.id))
      })
  }

  /// Missing renewals that `renewalsSeen` does not include: where the events' own counter has
  /// gaps, it includes all up to the last one.
  private func uncounted(_ lineage: LineageCase) -> [MissingCharge] {
    let state = lineage.latest
    let renewals = missing(in: lineage).filter { $0.code == .missedRenewal }
    let told = state.charges.compactMap(\.ordinal)
    guard let last = state.charges.last(where: { $0.ordinal != nil }),
      told.count < last.ordinal ?? 0
    else { return renewals }
    return renewals.filter { $0.at.map { $0 > last.time } ?? false }
  }

  private func total(_ charges: [MissingCharge]) -> Int64 { charges.reduce(0) { $0 + $1.count } }

  /// The first end that no charge follows within the gap, the last one included.
  private func firstHole(_ lineage: LineageCase) -> Instant {
    let paid = lineage.state.charges.filter { $0.kind != .oneTime }
    for (charge, next) in zip(paid, paid.dropFirst()) {
      if let end = charge.periodEnd, next.periodStart > end + rules.rules.renewalGap { return end }
    }
    let end = lineage.state.periodEnd ?? lineage.state.lastEventAt
    return end < knownAt ? end : lineage.state.lastEventAt
  }

  private mutating func raiseRenewals(
    _ lineage: LineageCase, from ordinal: Int64, count: Int64, at: Instant, provenBy proof: Proof,
    _ evidence: String
  ) {
    let product = product(of: lineage, at: at)
    let money = estimate(lineage, product: product, of: .missedRenewal, count: count, at: at)
    raise(
      BreakDraft(
        code: .missedRenewal, subject: subject(lineage, product: product),
        key: "ordinal \(ordinal)",
        expectedAt: at, missingEvents: count, estimate: money.amount, basis: money.basis,
        provenBy: proof, evidence: evidence, action: nextStep(.missedRenewal, user.provider)),
      for: MissingCharge(
        original: lineage.original, code: .missedRenewal, at: at, end: nil, count: count))
  }
}
