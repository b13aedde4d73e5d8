import Domain

// Time without charge that a later charge proves to have been paid for.

extension SubscriptionHistory {
  /// The period that a renewal leaves free before it, if it is exactly one and nothing explains it;
  /// also the one in which a change of product came.
  ///
  /// Where renewals are counted from a known one on, the counter decides. A state that shows a new
  /// charge can be of a renewal, after a trial if it came on the hour. Where restarts are sent as
  /// such, a renewal proves any number of periods, and after a failed payment the recovery.
  func freePeriod(before index: Int) -> UnseenPeriod? {
    guard index > 0, let free = periods[index - 1].freeFrom,
      periods[index].start > free + rules.renewalGap
    else { return nil }
    let (previous, next) = (periods[index - 1], periods[index])
    let charge = events[next.opener]
    let capabilities = charge.provider.capabilities
    let isRenewal = capabilities.sendsRestarts && charge.kind == .renewed && !previous.isTrial
    let isFailed = previous.isInvoluntary(events)
    guard charge.renewalCount == nil || !isCounted(before: index),
      capabilities.linksRenewals(in: charge.store), free == previous.end,
      previous.revokedAt == nil,
      isRenewal || !isFailed && previous.autoRenewOffSince(events, before: nil) == nil,
      !previous.ownEvents.contains(where: {
        events[$0].isEnd && !events[$0].isOfReplaced || events[$0].kind == .paused
      })
    else { return nil }
    let isReplaced = previous.ownEvents.contains { events[$0].isOfReplaced }
    let isConversion = previous.isTrial && charge.kind == .started && charge.observation != nil
    let isSame = next.product == previous.product
    let paid = isSame && next.end != nil || previous.isTrial || isReplaced ? next : previous
    guard let end = paid.end, end > paid.start else { return nil }
    let length = end.since(paid.start).milliseconds
    let begin = PeriodLength(from: paid.start, to: end).start(before: next.start)
    let late = begin.since(free).milliseconds
    let hole = next.start.since(free).milliseconds
    let count = isRenewal ? max(1, (hole + length / 2) / length) : 1
    let tolerance = isConversion ? hour : max(rules.renewalGap.milliseconds, length / 7)
    // What comes earlier than a short period is out of a retry.
    let early = length < Interval.days(28).milliseconds ? hour : tolerance
    let difference = isConversion ? late : hole - count * length
    let isOfProduct =
      isSame
      || previous.ownEvents.contains {
        events[$0].isAnnouncement && events[$0].product == next.product
      }
    let isProven =
      if isReplaced {
        begin >= previous.start && late <= tolerance
      } else if isFailed {
        late >= -early && isOfProduct
      } else if charge.chargeKind == .productChange {
        capabilities.sendsExpirations && difference <= tolerance
      } else {
        (charge.mayRenew || isConversion) && (-early...tolerance).contains(difference)
          && isOfProduct
      }
    guard isProven else { return nil }
    return UnseenPeriod(
      transaction: 0,
      product: charge.mayRenew || isConversion ? next.product : previous.product,
      isTrial: false, start: isFailed ? max(free, begin) : free, end: next.start,
      previousEnd: free, opensLineage: false, kind: charge.kind, time: charge.time)
  }

  /// Whether the number of renewals before a period is known: a change of product or a new start
  /// since the last counter may be the one that the next counter has more.
  private func isCounted(before index: Int) -> Bool {
    let first = stretches.first.flatMap { $0.opening == .new ? $0.periods.first : nil }
    let known = periods[..<index].lastIndex { events[$0.opener].renewalCount != nil } ?? first
    guard let known else { return false }
    let charges = periods[(known + 1)...index].map { events[$0.opener] }
    let renewals = charges.count { $0.kind == .renewed }
    let last = Int(events[periods[known].opener].renewalCount ?? 0)
    return renewals == charges.count || Int(charges.last?.renewalCount ?? 0) <= last + renewals
  }

  /// The start that is missing where a renewal follows an expiry: it came a period before.
  ///
  /// Some providers send the restart itself as a renewal. Only a counter that begins anew, or a
  /// provider that calls a restart one, proves another charge.
  func restart(before index: Int) -> UnseenPeriod? {
    guard index > 0, let free = periods[index - 1].effectiveEnd, let end = periods[index].end
    else { return nil }
    let start = periods[index].start - end.since(periods[index].start)
    guard start > free + rules.renewalGap else { return nil }
    let (previous, next) = (periods[index - 1], periods[index])
    let (before, renewal) = (events[previous.opener], events[next.opener])
    guard renewal.kind == .renewed, !previous.isTrial, !previous.isEndDerived,
      previous.revokedAt == nil, !previous.isInvoluntary(events),
      previous.ownEvents.contains(where: { events[$0].isExpiry })
    else { return nil }
    if let count = renewal.renewalCount, let last = before.renewalCount {
      guard count <= last else { return nil }
    } else if !renewal.provider.capabilities.sendsRestarts {
      return nil
    }
    return UnseenPeriod(
      transaction: 0, product: renewal.product, isTrial: false, start: start, end: next.start,
      previousEnd: free, opensLineage: false, isRestart: true, kind: renewal.kind,
      time: renewal.time)
  }
}

extension Event {
  /// Whether it is the end of a purchase that another one replaced.
  var isOfReplaced: Bool { isExpiry && observation?.isReplaced == true }

  /// Whether it is a renewal, or a charge in a state, which can be one.
  var mayRenew: Bool { kind == .renewed || kind == .resubscribed && observation != nil }
}

private let hour = Interval.hours(1).milliseconds
