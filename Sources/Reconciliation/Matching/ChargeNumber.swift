import Subscriptions
import Domain

/// Which charge of its subscription a missing one is, from which the break gets its id.
///
/// Evidence that comes later dates a loss more exactly, or names its transaction. The number stays:
/// it counts periods from the charges that are known, by their own counters where these have any.
extension Reconciler {
  /// `draft` with the number of the missing charge as its key; an end that nothing followed may
  /// lack an expiry instead.
  ///
  /// What cannot be numbered is known by its transaction; so is another loss of the same number.
  func numbered(
    _ draft: BreakDraft, of name: LineageName? = nil, isFree: Bool = false
  ) -> BreakDraft {
    guard draft.code.isCharge || draft.code == .missedExpiration, !draft.subject.original.isEmpty
    else { return draft }
    var draft = draft
    draft.family = .charge
    let isFirst = draft.transaction == draft.subject.original
    if let number = isFree
      ? -1 : draft.expectedAt.map({ number(at: $0, draft, name) }) ?? (isFirst ? 0 : nil),
      draft.code != .missedPurchase || isFirst || draft.transaction.isEmpty
    {
      draft.key = .charge(number)
      guard let known = breaks[draft.id], isOther(known, than: draft) else { return draft }
    }
    if !draft.transaction.isEmpty {
      draft.key = .transaction(draft.transaction)
    } else if let at = draft.expectedAt {
      draft.key = .after(at)
    }
    return draft
  }

  private func isOther(_ known: Break, than draft: BreakDraft) -> Bool {
    known.transaction != draft.transaction || known.expectedAt != draft.expectedAt
      || known.code.isCharge != draft.code.isCharge
  }

  private func number(at instant: Instant, _ draft: BreakDraft, _ name: LineageName?) -> Int64 {
    let name = name ?? draft.subject.lineage
    let lineage = lineagesOfAnyTime.first { $0.name == name }
    let listed = view?.transactions.filter {
      $0.kind != .oneTime
        && (lineage == nil
          ? $0.original == draft.subject.original : self.lineage(of: $0)?.name == name)
    }
    let periods = numberedPeriods(lineage?.latest, listed ?? [])
    guard let first = periods.first else { return 0 }
    guard let index = periods.lastIndex(where: { $0.middle <= instant }) else {
      return first.isReported ? first.number - max(1, first.count(until: instant)) : first.number
    }
    let due = periods[index].number + 1
    let number = due + periods[index].count(until: instant)
    if let next = periods[(index + 1)...].first(where: \.isReported) {
      return max(due, min(number, next.number - 1))
    }
    // What follows an expiry or a failed payment comes at any time.
    guard let state = lineage?.latest, state.isExpiryReported || state.isInBillingRetry,
      periods[index].isReported
    else { return number }
    return due
  }

  /// The known periods from the first that events report on, each once.
  private func numberedPeriods(
    _ state: LineageState?, _ listed: [ListedTransaction]
  ) -> [NumberedPeriod] {
    var periods = (state?.trials ?? []).map {
      NumberedPeriod(begin: $0.start, end: $0.end, isTrial: true)
    }
    periods += (state?.subscriptionCharges ?? []).map {
      NumberedPeriod(
        begin: $0.periodStart, end: $0.periodEnd, counter: $0.renewalCount.map(Int64.init))
    }
    let first = periods.map(\.begin).min()
    periods += listed.compactMap { transaction in
      guard let at = transaction.at, first.map({ $0 <= at }) ?? true else { return nil }
      return NumberedPeriod(
        begin: at, end: transaction.expiresAt, isTrial: transaction.isTrial, isReported: false)
    }
    periods.sort { ($0.begin, $0.isReported ? 0 : 1) < ($1.begin, $1.isReported ? 0 : 1) }
    var numbered: [NumberedPeriod] = []
    for var period in periods {
      guard let last = numbered.last else {
        period.number = period.counter ?? (period.isTrial ? -1 : 0)
        numbered.append(period)
        continue
      }
      let counter = period.counter ?? .min
      if period.begin < last.middle {
        numbered[numbered.count - 1].number = max(last.number, counter)
        numbered[numbered.count - 1].isReported = last.isReported || period.isReported
        continue
      }
      period.number =
        counter > last.number ? counter : last.number + 1 + last.count(until: period.begin)
      numbered.append(period)
    }
    return numbered
  }
}

/// A period that events report or a snapshot lists.
private struct NumberedPeriod {
  var begin: Instant
  var end: Instant?
  var counter: Int64?
  var isTrial = false
  var isReported = true
  /// -1 is a trial, 0 the first charge.
  var number: Int64 = 0

  private var length: Int64 { max(0, end.map { $0.since(begin).milliseconds } ?? 0) }

  /// What begins before it is the same period, dated otherwise.
  var middle: Instant {
    begin + max(.hours(12), .seconds(length / 2_000))
  }

  /// How many periods like it lie between it and `instant`, on either side; none after a trial,
  /// whose length is another.
  func count(until instant: Instant) -> Int64 {
    guard length > 0, !isTrial || instant < begin else { return 0 }
    let between = instant < begin ? begin.since(instant) : instant.since(end ?? begin)
    return (max(0, between.milliseconds) + length / 2) / length
  }
}
