import Subscriptions
import Domain

extension Reconciler {
  /// An event that names a transaction with a later end proves its charge, or its trial start.
  func findUnseenPeriods() {
    for lineage in lineagesOfAnyTime where !lineage.isHeldByAnotherUser {
      let periods = lineage.latest.unseenPeriods
      let named = periods.filter { $0.transaction != 0 }
      for period in named + periods.filter({ $0.transaction == 0 })
      where !isEvaluated(period, in: lineage) {
        evaluate(period, of: lineage)
      }
    }
  }

  /// Whether a list or a refund has shown the charge already, or a snapshot counts the charges.
  private func isEvaluated(_ period: UnseenPeriod, in lineage: LineageInput) -> Bool {
    guard period.transaction != 0 else {
      if matches.contains(where: { $0.lineage.name == lineage.name && $0.renewsCount != nil }) {
        return true
      }
      let begin = (period.start ?? period.end) - rules.fold.renewalGap
      return missing(in: lineage).contains {
        $0.at.map { begin <= $0 && $0 < period.end } ?? false
      }
    }
    return view?.transaction(period.transaction) != nil
      || lineage.latest.isReportedElsewhere(period.transaction)
      || lineage.latest.refunds.contains {
        $0.transaction == period.transaction && !$0.chargeIsKnown
      }
  }

  private func evaluate(_ period: UnseenPeriod, of lineage: LineageInput) {
    guard let at = begin(of: period, lineage) else { return }
    guard isWatched(at, subject(lineage)) else {
      counts.beforeFirstEvent += 1
      return
    }
    let code = code(of: period, in: lineage)
    let count = code == .missedRenewal ? charges(provenBy: period, lineage) : 1
    let due = count > 1 ? period.previousEnd ?? at : at
    let product = lineage.text(period.product)
    let id = lineage.transactionText(period.transaction)
    var draft = BreakDraft(
      code: code, subject: subject(lineage, product: product), transaction: id,
      expectedAt: due, missingEvents: count, provenBy: .events, evidence: evidence(period, id))
    if period.isTrial {
      (draft.estimate, draft.basis) = (.zero, .provider)
    } else if count == 1 {
      (draft.estimate, draft.basis) = estimate(
        of: period.transaction, lineage, product: product, code, at: at)
    } else {
      (draft.estimate, draft.basis) = estimate(
        lineage, product: product, of: code, count: count, at: at)
    }
    raise(
      draft,
      for: MissingCharge(
        lineage: lineage.name, code: code, at: due, end: period.end, count: count,
        isFree: period.isTrial, opensLineage: period.opensLineage))
  }

  private func code(of period: UnseenPeriod, in lineage: LineageInput) -> BreakCode {
    if period.isTrial || period.opensLineage || period.isRestart { return .missedStart }
    guard let end = period.previousEnd else { return .missedRenewal }
    let state = lineage.latest
    let at = begin(of: period, lineage) ?? end
    let lastPaid = state.subscriptionCharges.last { $0.time < period.time }
    if let trial = state.trials.last(where: { $0.start < period.time }),
      lastPaid.map({ $0.time < trial.start }) ?? true
    {
      return trial.convertibleUntil.map { at <= $0 } ?? true ? .missedConversion : .missedStart
    }
    let isNew = isExpired(state, at: end) && at > end + rules.fold.renewalGap
    return isNew ? .missedStart : .missedRenewal
  }

  /// The periods since the end before it; one if a payment had failed, for its charge comes at any
  /// time.
  private func charges(provenBy period: UnseenPeriod, _ lineage: LineageInput) -> Int64 {
    let state = lineage.latest
    guard let end = period.previousEnd, let length = periodLength(lineage, state)?.milliseconds,
      length > 0
    else { return 1 }
    if hasFailed(state, at: end) { return 1 }
    return max(1, (period.end.since(end).milliseconds + length / 2) / length)
  }

  /// As sent; else the end before it, or after a failed payment or an expiry a period before its
  /// end.
  private func begin(of period: UnseenPeriod, _ lineage: LineageInput) -> Instant? {
    if let start = period.start { return start }
    let state = lineage.latest
    guard let end = period.previousEnd, hasFailed(state, at: end) || isExpired(state, at: end),
      let length = periodLength(lineage, state)
    else { return period.previousEnd }
    return max(end, period.end - length)
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
}
