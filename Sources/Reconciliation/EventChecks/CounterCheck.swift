import Domain
import Subscriptions

extension Reconciler {
  /// Finds gaps in the events' own counters, without a snapshot.
  func findCounterGaps() {
    for lineage in ownLineages {
      let start = findStartOfCounting(lineage)
      for paid in lineage.countedCharges {
        let isStartSeen = paid.isByOrder ? paid.isFromStart : lineage.latest.isStartSeen
        var counter = RenewalCounter(
          after: start == nil ? nil : 0, isStartSeen: start == nil && isStartSeen)
        for (index, charge) in paid.charges.enumerated() {
          let jump = counter.take(charge.kind, counter: charge.renewalCount)
          guard let jump else { continue }
          raiseGap(lineage, jump, since: start, paid.charges[...index], isByOrder: paid.isByOrder)
        }
        if let counted = counter.count { raiseReportedCount(lineage, above: counted) }
      }
    }
  }

  /// When counting began before the first received charge; nil when no missing charge shows it.
  ///
  /// Raises the missing conversion between a trial and its first renewal.
  private func findStartOfCounting(_ lineage: LineageInput) -> Instant? {
    let state = lineage.latest
    let firsts = missing(in: lineage).filter { isFirst($0, in: lineage) }
    // After a missing trial, the conversion is the first payment.
    let start = firsts.first { $0.code == .missedStart && !($0.isFree && state.isStartSeen) }
    if let at = start?.at { return at }
    guard let paid = lineage.countedCharges.first, let first = paid.charges.first,
      let trial = state.trials.last(where: { $0.start < first.time }),
      !paid.isNext(at: first.time), let ordinal = number(of: first, paid), ordinal > 0
    else { return nil }
    let restart = missing(in: lineage).first { missed in
      missed.code == .missedStart && !missed.isFree
        && missed.at.map { trial.start < $0 && $0 <= first.time } ?? false
    }
    if let restart { return restart.at }
    let mayLapse = paid.isByOrder ? !paid.isFromStart : trial.isExpired
    let due = conversionDue(trial, before: first, ordinal, mayLapse: mayLapse, lineage)
    let found = missing(in: lineage).filter { missed in
      missed.isCounted && missed.at.map { trial.start < $0 && $0 < first.time } ?? false
    }
    if total(found) >= ordinal || firsts.contains(where: { $0.code == .missedConversion }) {
      return due
    }
    let code = trial.codeOfCharge(at: due)
    raiseCharge(
      code, of: lineage, at: due,
      code == .missedConversion
        ? "a trial until \(due.text) is followed by renewal \(ordinal), without a conversion"
        : "a trial that had lapsed is followed by renewal \(ordinal), without a start")
    return due
  }

  /// The number of the first renewal or of Play's first order.
  private func number(of first: Charge, _ paid: CountedCharges) -> Int64? {
    if paid.isByOrder { return first.renewalCount.map(Int64.init) }
    return first.kind == .renewal ? first.ordinal : nil
  }

  /// When the trial ended: as sent or, otherwise and after a lapse, as many periods before the
  /// charge as its number says.
  ///
  /// - Parameter mayLapse: whether the charge is of another order, or the trial's expiry arrived.
  private func conversionDue(
    _ trial: Trial, before first: Charge, _ number: Int64, mayLapse: Bool, _ lineage: LineageInput
  ) -> Instant {
    let length = periodLength(lineage.state, of: first.product)?.milliseconds ?? 0
    let begun =
      begin(
        of: number, periodsUntil: first.periodStart, lineage.state, product: first.product,
        earliest: trial.start) ?? max(trial.start, first.periodStart)
    guard capabilities.sendsPeriodEnds, let end = trial.end else { return begun }
    // Months differ in length.
    let code = trial.codeOfCharge(at: begun - Interval(milliseconds: length / 7))
    return mayLapse && code == .missedStart ? begun : end
  }

  /// Raises what a jump of the counter before the last charge in `paid` leaves out, minus what was
  /// found.
  ///
  /// Declined orders have numbers too, so orders are missing only where there is an unpaid gap for
  /// their periods. An order is not missing if another provider's report of it counts.
  private func raiseGap(
    _ lineage: LineageInput, _ jump: CounterJump, since start: Instant?,
    _ paid: ArraySlice<Charge>, isByOrder: Bool
  ) {
    guard let charge = paid.last else { return }
    let known = jump.previous.map { paid[$0...] } ?? []
    // The latest product can have another length.
    let length = periodLength(lineage.state, of: (known.first ?? charge).product) ?? .seconds(0)
    let first = start.map { $0 + length }
    let from = known.first.map { $0.periodEnd ?? $0.time } ?? first ?? charge.time
    if isByOrder, isListed(charge, andBefore: from) { return }
    // What another jump left out is dated at its later charge at the latest.
    let begin = known.first?.time ?? (start ?? charge.time) - gap
    let between = missing(in: lineage).filter { missed in
      missed.isCounted && !isFirst(missed, in: lineage)
        && (missed.at.map { at in
          // A missing change of product is dated at the last event if its own time is unknown.
          (missed.code == .missedProductChange ? at >= begin : at > begin) && at <= charge.time
        } ?? true)
    }
    var left = jump.between - total(between)
    if isByOrder, length > .seconds(0) {
      let (free, unit) = (charge.periodStart.since(from).milliseconds, length.milliseconds)
      left = min(left, (free + unit / 7) / unit)
      let elsewhere = lineage.latest.countedElsewhere(as: .missedRenewal)
      left -= Int64(elsewhere.count { begin < $0.time && $0.time < charge.time })
    }
    if left >= 0 { confirm(between) }
    guard left > 0 else { return }
    let last = known.dropLast().last.map { $0.periodEnd ?? $0.time }
    var due = min(end(of: between, after: firstGap(known) ?? last ?? from), charge.time)
    if left == 1, let delayed = delayedCharge(of: lineage, due: due, before: charge) {
      due = delayed
    }
    let counts =
      isByOrder
      ? "order \(lineage.transactionText(charge.transaction))"
      : charge.kind == .renewal ? "renewal \(jump.to)" : "renewal count \(jump.to)"
    var evidence = "\(counts) of \(charge.time.text) follows renewal \(jump.from)"
    if jump.changes > 0 {
      evidence +=
        "; whether a change of product or a new start between them counts, is unknown"
    }
    let mayContinue = !isByOrder && mayContinueOthers(known, of: lineage)
    if mayContinue {
      evidence += "; no time between them is free, and the user had another subscription"
    }
    guard left > jump.changes, !mayContinue else {
      return raiseUncertain(lineage, at: due, evidence)
    }
    raiseCharge(.missedRenewal, of: lineage, count: left - jump.changes, at: due, evidence)
  }

  /// Whether the counter of `paid`, a start and its first renewal without a gap, may continue that
  /// of an earlier subscription of the user.
  private func mayContinueOthers(_ paid: ArraySlice<Charge>, of lineage: LineageInput) -> Bool {
    guard paid.count == 2, let start = paid.first, start.periodEnd != nil, firstGap(paid) == nil,
      start == lineage.latest.subscriptionCharges.first, start.product == paid.last?.product
    else { return false }
    return allLineages.contains { other in
      other.latest.subscriptionCharges.first.map { $0.time < start.time } ?? false
    }
  }

  /// Whether the snapshot lists the charge and one before `instant`, and not only the newest per
  /// product: it would also list those in between, which were evaluated by their ids.
  func isListed(_ charge: Charge, andBefore instant: Instant) -> Bool {
    guard !capabilities.listsPastProducts, let listed = view.transaction(charge.transaction) else {
      return false
    }
    return siblings(of: listed).contains { $0.at.map { $0 < instant } ?? false }
  }

  /// The end of the charges in `found` that follow each other from `due` on; others are later.
  func end(of found: [MissingCharge], after due: Instant) -> Instant {
    let dated = found.compactMap { charge in
      charge.at.flatMap { at in charge.end.map { (at: at, end: $0) } }
    }
    return dated.sorted { $0.at < $1.at }.reduce(due) { due, charge in
      charge.at.isWithin(gap, of: due) ? max(due, charge.end) : due
    }
  }

  /// When the charge was made that a failed payment, pause or expiry delayed: one period before the
  /// next charge.
  private func delayedCharge(
    of lineage: LineageInput, due: Instant, before next: Charge
  ) -> Instant? {
    guard let end = next.periodEnd, end > next.periodStart else { return nil }
    let length = PeriodLength(from: next.periodStart, to: end)
    let charged = length.start(before: next.periodStart)
    let isDelayed = lineage.latest.interruptions.contains {
      due - .days(1) <= $0 && $0 <= charged
    }
    return isDelayed && charged > due ? charged : nil
  }

  /// Raises the renewals counted by an event after the last charge, minus what was found.
  private func raiseReportedCount(_ lineage: LineageInput, above counted: Int64) {
    let state = lineage.latest
    guard let reported = state.reportedCount, let last = state.subscriptionCharges.last else {
      return
    }
    let found = missing(in: lineage, after: state).filter(\.isCounted)
    let left = Int64(reported.count) - counted - total(found)
    guard left > 0 else { return }
    raiseCharge(
      .missedRenewal, of: lineage, count: left,
      at: min(end(of: found, after: last.periodEnd ?? last.time), reported.time),
      "\(reported.kind.name) of \(reported.time.text) counts \(reported.count) renewals; the "
        + "last charge that arrived is renewal \(counted)")
  }

  /// Records a counter that is one too high, where a product change can explain it.
  private func raiseUncertain(_ lineage: LineageInput, at: Instant, _ evidence: String) {
    let draft = BreakDraft(
      code: .missedRenewal, subject: subject(lineage, product: product(of: lineage, at: at)),
      expectedAt: at, isProvenByEvents: true, isInformational: true, evidence: evidence)
    raise(numbered(draft, of: lineage.name))
  }

  /// Compares the snapshot's counter with received events, minus what earlier checks found missing.
  func compareCounters() {
    for match in matches where isComparable(match) && !isBegunElsewhere(match) {
      guard let count = match.renewsCount, let seen = renewalsSeen(match.lineage),
        Int64(count) > seen, !isListed(count, match),
        let elsewhere = paidElsewhere(match)
      else { continue }
      let found = renewalsKnown(match.lineage) - seen
      let left = Int64(count) - seen - found - elsewhere - paidBeforeFirstEvent(match)
      guard left > 0 else { continue }
      raiseCharge(
        .missedRenewal, of: match.lineage, count: left, at: firstGap(match.lineage),
        isProvenByEvents: false,
        "the snapshot counts \(count) renewals; \(seen) are known, \(found) found missing")
    }
  }

  /// Whether the entitlement lists as many payments as it counts; each was evaluated by its id.
  private func isListed(_ count: Int32, _ match: EntitlementMatch) -> Bool {
    let trials = Set(match.lineage.latest.trials.map(\.transaction))
    let paid = match.entitlement.transactions.count {
      ![.oneTime, .trialStarted, .free].contains($0.kind) && !trials.contains(transactionKey($0.id))
    }
    return Int64(paid) > Int64(count)
  }

  /// The number of listed payments before the first ingested event, which events do not count.
  ///
  /// If renewals are sent with their number, that number counts them.
  private func paidBeforeFirstEvent(_ match: EntitlementMatch) -> Int64 {
    guard !capabilities.sendsRenewalOrdinals else { return 0 }
    let lineage = match.lineage
    let about = subject(lineage)
    return Int64(
      match.entitlement.transactions.count { transaction in
        guard let at = transaction.at, !isWatched(at, about) else { return false }
        return transaction.kind != .trialStarted
          && !lineage.latest.transactions.contains(transactionKey(transaction.id))
      })
  }

  /// The first end without a charge within the gap, including the last end.
  private func firstGap(_ lineage: LineageInput) -> Instant {
    let paid = lineage.state.subscriptionCharges
    if let end = firstGap(paid[...]) { return end }
    let end = lineage.state.periodEnd ?? lineage.state.lastEventAt
    return end < knownAt ? end : lineage.state.lastEventAt
  }
}
