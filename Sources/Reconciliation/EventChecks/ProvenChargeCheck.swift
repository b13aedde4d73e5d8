import Domain
import Subscriptions

extension Reconciler {
  /// Raises the charge or trial start of a transaction that an event names with a later end.
  func findUnseenPeriods() {
    for lineage in ownLineages {
      let periods = lineage.latest.unseenPeriods
      let named = periods.filter { $0.transaction != 0 }
      for period in named + periods.filter({ $0.transaction == 0 }) {
        let found = found(period, in: lineage)
        confirm(found)
        if found.isEmpty, !isEvaluated(period, in: lineage) { evaluate(period, of: lineage) }
      }
    }
  }

  /// The missing charges that already explain a time without charge.
  private func found(_ period: UnseenPeriod, in lineage: LineageInput) -> [MissingCharge] {
    guard period.transaction == 0 else { return [] }
    let begin = (period.start ?? period.end) - gap
    return missing(in: lineage).filter { charge in
      charge.at.map { begin <= $0 && $0 < period.end } ?? false
        || charge.end.map { $0 <= period.end && period.end <= $0 + gap } ?? false
    }
  }

  /// Whether a list or a refund showed the charge, or a snapshot or Play's order numbers count it.
  private func isEvaluated(_ period: UnseenPeriod, in lineage: LineageInput) -> Bool {
    guard period.transaction != 0 else {
      if lineage.countedCharges.contains(where: { $0.isNext(at: period.time) }) { return true }
      if period.time <= knownAt, match(of: lineage)?.renewsCount != nil { return true }
      let free = period.start ?? period.previousEnd ?? period.end
      return lineage.latest.isChangedElsewhere(at: free) || isListed(around: period, in: lineage)
        || isShownFree(period, in: lineage) || isFoundMissing(until: period.end)
    }
    return view.transaction(period.transaction) != nil
      || lineage.latest.isReportedElsewhere(period.transaction)
      || !lineage.refunds(ofUnseen: period.transaction).isEmpty
  }

  /// Whether the snapshot lists the charge after the gap and one before it.
  private func isListed(around period: UnseenPeriod, in lineage: LineageInput) -> Bool {
    charge(after: period, lineage).map {
      isListed($0, andBefore: period.start ?? period.end)
    } ?? false
  }

  /// The charge that ended a time without charge.
  private func charge(after period: UnseenPeriod, _ lineage: LineageInput) -> Charge? {
    lineage.latest.subscriptionCharges.last { $0.time == period.time }
  }

  /// How many of Play's orders are missing: up to the named one, or before the next charge.
  private func orders(of period: UnseenPeriod, _ lineage: LineageInput) -> Int64? {
    guard period.transaction == 0 else { return lineage.orders(until: period.transaction) }
    return charge(after: period, lineage).flatMap { lineage.orders(until: $0.transaction) }
      .map { $0 - 1 }
  }

  /// Whether a snapshot of the time without charge shows that access ended before it.
  private func isShownFree(_ period: UnseenPeriod, in lineage: LineageInput) -> Bool {
    guard let end = period.previousEnd, (period.start ?? end) + gap < knownAt,
      knownAt < period.end, let match = match(of: lineage), isOver(match)
    else { return false }
    return match.entitlement.expiresAt.map { agree($0, end) } ?? false
  }

  /// Whether a missing charge that ends at `instant` was found in a lineage without events, as a
  /// listed Play order is: it is the charge before what follows.
  func isFoundMissing(until instant: Instant) -> Bool {
    missing.contains { name, charges in
      byName[name] == nil && charges.contains { $0.end.map { agree($0, instant) } ?? false }
    }
  }

  private func evaluate(_ period: UnseenPeriod, of lineage: LineageInput) {
    guard let at = begin(of: period, lineage) else { return }
    guard isWatched(at, lineage) else { return omit(.beforeFirstEvent) }
    let code = code(of: period, at: at, in: lineage)
    let first = period.previousEnd ?? at
    // A list can already have shown earlier ones.
    let found = missing(in: lineage).filter { charge in
      !charge.isFree
        && charge.at.map { first - gap <= $0 && $0 < period.start ?? period.end } ?? false
    }
    let proven = code == .missedRenewal ? charges(provenBy: period, lineage) : 1
    let orders = orders(of: period, lineage)
    let count = max(1, min(proven, orders ?? proven) - total(found))
    let due = end(of: found, after: count > 1 ? first : at)
    let product = withOnlyPlan(lineage.text(period.product), in: lineage)
    let id = lineage.transactionText(period.transaction)
    var draft = BreakDraft(
      code: code, subject: subject(lineage, product: product), transaction: id,
      expectedAt: due, missingEvents: count, isProvenByEvents: true, evidence: evidence(period, id))
    if period.isTrial {
      draft.worth = nothing
    } else if count == 1 {
      draft.worth = estimate(of: period.transaction, lineage, product: product, code, at: due)
    } else {
      draft.worth = estimate(lineage, product: product, of: code, count: count, at: at)
    }
    raise(
      draft, of: lineage, until: period.end, isFree: period.isTrial,
      opensLineage: period.opensLineage)
  }

  private func code(of period: UnseenPeriod, at: Instant, in lineage: LineageInput) -> BreakCode {
    if period.isTrial || period.opensLineage || period.isRestart { return .missedStart }
    guard let end = period.previousEnd else { return .missedRenewal }
    let state = lineage.latest
    let lastPaid = state.subscriptionCharges.last { $0.time < period.time }
    if let trial = state.trials.last(where: { $0.start < period.time }),
      lastPaid.map({ $0.time < trial.start }) ?? true
    {
      return trial.codeOfCharge(at: at)
    }
    return isAfterLapse(period, lineage) ? .missedStart : codeOfCharge(at: at, after: end, state)
  }

  /// Whether a canceled subscription was bought again: more than a period after its end, and not
  /// while the store still collected for it.
  private func isAfterLapse(_ period: UnseenPeriod, _ lineage: LineageInput) -> Bool {
    let length = periodLength(lineage.latest, of: period.product)
    guard period.isAfterCancel, let end = period.previousEnd,
      let begin = period.start
        ?? begin(periodsUntil: period.end, lineage.latest, product: period.product)
    else { return false }
    let isCollected = period.isRecovery && !isExpired(lineage.latest, at: end)
    if isCollected, begin <= end + rules.fold.retryHorizon { return false }
    if period.start != nil { return begin > end + gap }
    return begin.since(end).milliseconds * 2 >= length?.milliseconds ?? 0
  }

  /// The number of periods since the previous end; 1 if a payment had failed, because its charge
  /// can be at any time, or fails at the end, which is then later than that of the period.
  private func charges(provenBy period: UnseenPeriod, _ lineage: LineageInput) -> Int64 {
    let state = lineage.latest
    let free = period.transaction == 0 ? period.start : nil
    let held = state.subscriptionCharges.last { $0.time < period.time }?.product
    let own = rules.length(of: lineage.text(period.product))?.mean
    guard let end = free ?? period.previousEnd,
      let length = (held == period.product ? own : nil) ?? periodLength(state, of: held ?? 0),
      length > .seconds(0),
      !period.isRecovery, period.kind != .endedInvoluntarily, !hasFailed(state, at: end)
    else { return 1 }
    let count = max(1, period.end.since(end).rounded(dividingBy: length))
    guard period.transaction != 0 else { return count }
    // Others of the same length can fit before the start of a charge that an event names.
    if let start = period.start {
      // Months differ in length.
      let (span, unit) = (start.since(end).milliseconds, length.milliseconds)
      return 1 + max(0, (span + unit / 7) / unit)
    }
    if held == period.product { return count }
    return own.map { max(1, period.end.since(end).rounded(dividingBy: $0)) } ?? 1
  }

  /// When the period began: as sent, else at the previous end or, after a failed payment or an
  /// expiry, one period before its own end.
  private func begin(of period: UnseenPeriod, _ lineage: LineageInput) -> Instant? {
    if let start = period.start { return start }
    let state = lineage.latest
    guard let end = period.previousEnd,
      period.isRecovery || hasFailed(state, at: end) || isExpired(state, at: end)
        || isAfterLapse(period, lineage)
    else { return period.previousEnd }
    return begin(periodsUntil: period.end, state, product: period.product, earliest: end) ?? end
  }

  private func evidence(_ period: UnseenPeriod, _ id: String) -> String {
    let event = "\(period.kind.name) of \(period.time.text)"
    let before = period.previousEnd.map { "the period before it ended \($0.text)" }
    guard period.transaction != 0 else {
      return "\(event) follows a time without charge; \(before ?? "no charge arrived")"
    }
    let dated = period.start.map { " of \($0.text)" } ?? ""
    return "\(event) names transaction \(id)\(dated) until \(period.end.text), whose charge never "
      + "arrived; \(before ?? "no earlier charge arrived")"
  }

  /// Raises the missing charges that refunds prove.
  func findRefundedCharges() {
    for lineage in ownLineages {
      lazy var charged = Set(lineage.latest.charges.map(\.transaction))
      var evaluated: Set<Int64> = []
      for refund in lineage.latest.refunds
      where !refund.chargeIsKnown && refund.transaction != 0
        && !charged.contains(refund.transaction)
        && !lineage.latest.isReportedElsewhere(refund.transaction)
        && evaluated.insert(refund.transaction).inserted
      {
        evaluate(refund, of: lineage)
      }
    }
  }

  private func evaluate(_ refund: Refund, of lineage: LineageInput) {
    let id = lineage.transactionText(refund.transaction)
    let listed = view.transaction(refund.transaction)
    // The snapshot's transactions were already evaluated, with their dates.
    guard listed == nil, let first = rules.firstEventAt(subject(lineage)) else { return }
    let elsewhere = lineage.latest.reportedByOthers.first {
      $0.transaction == refund.transaction && $0.chargeKind != nil
    }
    if let elsewhere, elsewhere.time < lineage.latest.firstEventAt {
      return omit(.beforeFirstEvent)
    }
    // If the refund does not date its charge, it only shows that the charge was earlier.
    guard refund.chargedAt.map({ $0 >= first }) ?? (refund.time > first) else {
      return omit(.beforeFirstEvent)
    }
    let code = code(of: refund, in: lineage)
    let charged = refund.chargedAt.map { " of \($0.text)" } ?? ""
    let isRenewal = code == .missedRenewal
    let begun = refund.chargedAt ?? (isRenewal ? due(before: refund, lineage) : nil)
    let at = begun ?? refund.time
    let product = lineage.refundedProduct(of: refund.transaction) ?? product(of: lineage, at: at)
    if isRenewal, let charged = refund.chargedAt {
      findRenewals(before: charged, of: id, lineage)
    }
    raise(
      BreakDraft(
        code: code, subject: subject(lineage, product: product), transaction: id,
        expectedAt: at,
        worth: estimate(of: refund.transaction, lineage, product: product, code, at: at),
        isProvenByEvents: true,
        evidence: "transaction \(id)\(charged) was refunded \(refund.time.text); its charge "
          + "never came"),
      for: MissingCharge(code: code, at: begun, opensLineage: code == .missedStart),
      of: lineage.name)
  }

  /// When the renewal of a refund that does not date it was due: at the begin of the last time
  /// without charge before the refund, else at the end of the last period.
  private func due(before refund: Refund, _ lineage: LineageInput) -> Instant? {
    let state = lineage.latest
    let free = state.unseenPeriods.filter { $0.transaction == 0 }
      .compactMap { $0.start ?? $0.previousEnd }
    let last =
      state.expiredAt != nil || state.isInBillingRetry
      ? nil : state.subscriptionCharges.last?.periodEnd
    return (free + [last].compactMap(\.self)).last { due in
      due <= refund.time && !missing(in: lineage).contains { $0.at == due }
    }
  }

  /// Raises the renewals between the last known period and a charge of the subscription at
  /// `charged`, if nothing ended or failed in between.
  private func findRenewals(before charged: Instant, of id: String, _ lineage: LineageInput) {
    let state = lineage.latest
    guard let last = state.subscriptionCharges.last, last.time < charged, let end = last.periodEnd,
      state.expiredAt == nil, !state.isInBillingRetry, state.reportedEnd == nil,
      let length = periodLength(state, of: last.product), length > .seconds(0),
      charged > knownAt || !isListed(lineage),
      !missing(in: lineage).contains(where: { $0.at.map { $0 > last.time } ?? true })
    else { return }
    let count = charged.since(end).rounded(dividingBy: length)
    guard count > 0 else { return }
    raiseCharge(
      .missedRenewal, of: lineage, count: count, at: end,
      "transaction \(id) was charged \(charged.text); the period before it ended \(end.text)")
  }

  private func code(of refund: Refund, in lineage: LineageInput) -> BreakCode {
    if refund.productType == .oneTime { return .missedPurchase }
    let state = lineage.latest
    let earlier = state.charges.filter { $0.time < refund.chargedAt ?? refund.time }
    if !earlier.isEmpty, earlier.allSatisfy({ $0.kind == .oneTime }) { return .missedPurchase }
    if refund.transaction == lineage.originalKey { return .missedStart }
    if earlier.isEmpty, let trial = state.trials.last(where: { $0.start < refund.time }) {
      return trial.codeOfCharge(at: refund.chargedAt)
    }
    return .missedRenewal
  }
}
