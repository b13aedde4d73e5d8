public import Domain

/// A period that events prove although neither its charge nor its trial start arrived.
public struct UnseenPeriod: Sendable, Equatable {
  /// `transactionKey` of its transaction; 0 if only the gap before a renewal proves it.
  public var transaction: Int64 = 0
  /// Symbol of the store product id.
  public var product: StringID
  /// Whether it is a trial.
  public var isTrial = false
  /// When it was charged; nil when not sent.
  public var start: Instant?
  /// The latest reported end.
  public var end: Instant
  /// The end of the previous period; nil if no such period arrived.
  public var previousEnd: Instant?
  /// Whether its transaction is the original one.
  public var opensLineage = false
  /// Whether it begins after the subscription had expired.
  public var isRestart = false
  /// Whether the previous payment had failed, so that its charge can be at any time.
  public var isRecovery = false
  /// Whether the subscription had been canceled before the period before it ended.
  public var isAfterCancel = false
  /// The first event that proves it.
  public var kind: EventKind
  /// When that event happened.
  public var time: Instant
}

/// A renewal counter in an event that is not a charge, with that event's kind and time.
public typealias ReportedCount = (count: Int32, kind: EventKind, time: Instant)

extension SubscriptionHistory {
  var unseenPeriods: [UnseenPeriod] {
    var found: [UnseenPeriod] = []
    lazy var opened = openedTransactions
    var running = -1
    for index in events.indices {
      while running + 1 < periods.count, periods[running + 1].opener <= index {
        running += 1
        if let free = freePeriod(before: running) ?? restart(before: running),
          !found.contains(where: { $0.isRecovery && $0.previousEnd == free.previousEnd })
        {
          found.append(free)
        }
      }
      guard events[index].mayNameAnotherPeriod else { continue }
      let event = events[index]
      let period = periodBefore(event, running)
      guard event.mayNameUnseenPeriod(after: period, events, rules.renewalGap) else { continue }
      guard !opened.contains(event.transaction), let unseen = unseenPeriod(event, after: period)
      else { continue }
      guard let same = found.firstIndex(where: { $0.transaction == event.transaction }) else {
        found.append(unseen)
        continue
      }
      // Without ends, a failed payment arrives when the charge was due, and other events later.
      if event.provider.capabilities.sendsPeriodEnds || found[same].kind != .graceEntered {
        found[same].end = max(found[same].end, unseen.end)
      }
      found[same].start = found[same].start ?? unseen.start
    }
    return found
  }

  /// The period before an unseen one that `event` names: the current one, or for a product change
  /// the one that it ends.
  private func periodBefore(_ event: Event, _ running: Int) -> Period? {
    guard running >= 0 else { return nil }
    let opener = events[periods[running].opener]
    let isOfChange =
      event.kind.isProductChange && opener.kind.isProductChange
      && event.time.since(opener.time) <= rules.renewalGap
    return isOfChange ? running > 0 ? periods[running - 1] : nil : periods[running]
  }

  private var openedTransactions: Set<Int64> {
    Set(
      events.lazy.filter {
        $0.chargeKind != nil || $0.kind == .trialStarted
          || $0.kind.isProductChange && !isOfPeriodBeforeChange($0)
            && $0.chargeBefore(rules.renewalGap) == nil
      }.map(\.transaction))
  }

  /// Whether an unpaid product change names the transaction of the period that it ends, because the
  /// charge for the new product has another one.
  private func isOfPeriodBeforeChange(_ change: Event) -> Bool {
    events.contains { other in
      other.chargeKind == .productChange && other.transaction != change.transaction
        && other.time.isWithin(rules.renewalGap, of: change.time)
    }
  }

  private func unseenPeriod(_ event: Event, after period: Period?) -> UnseenPeriod? {
    guard let end = event.namedEnd(after: period) else { return nil }
    // A conversion proves that the period before it was a trial.
    let isTrial = event.isOfTrial || event.kind == .other
    // The event's own date is not the date of the charge.
    let sent = event.kind.isProductChange ? event.chargeBefore(rules.renewalGap) : event.periodStart
    let start = sent.flatMap { $0 < event.time ? $0 : nil }
    if period == nil {
      let first = periods.first { $0.booking != nil }.map { events[$0.opener].kind }
      guard event.kind != .other || first == .trialConverted, start != nil else { return nil }
    } else if event.isOfTrial {
      return nil
    }
    return UnseenPeriod(
      transaction: event.transaction, product: event.productLeft ?? event.product,
      isTrial: isTrial, start: start, end: end, previousEnd: period?.end,
      opensLineage: event.startsLineage,
      isRestart: period.map { event.namesRestart(after: $0, events, rules.renewalGap) } ?? false,
      isRecovery: period.map { hasFailed($0, before: event) } ?? false,
      isAfterCancel: period.map { $0.autoRenewOffSince(events, before: $0.end) != nil } ?? false,
      kind: event.kind, time: event.time)
  }

  private func hasFailed(_ period: Period, before event: Event) -> Bool {
    period.ownEvents.contains {
      let earlier = events[$0]
      return earlier.isBillingProblem && earlier.time < event.time
        && period.end.map { earlier.time <= $0 + rules.renewalGap } ?? true
    }
  }

  /// The highest counter in events since the last charge; nil when none has one.
  var reportedCount: ReportedCount? {
    guard let last = periods.last else { return nil }
    let events = events
    return last.ownEvents.dropFirst().compactMap { index in
      let event = events[index]
      return event.renewalCount.map { (count: $0, kind: event.kind, time: event.time) }
    }.max { $0.count < $1.count }
  }

  /// Whether the first charge proves an earlier one that happened after `start`.
  func mayMissStart(since start: Instant) -> Bool {
    guard let first = periods.first, first.booking != nil, first.start > start else { return false }
    let event = events[first.opener]
    if event.kind == .trialConverted { return true }
    guard event.kind == .renewed, let end = first.end else { return false }
    let bought = event.observation?.firstPurchasedAt
    return bought.map { $0 >= start } ?? (first.start - end.since(first.start) >= start)
  }
}

extension Event {
  /// The date of the charge that the event names, if it is earlier than the event.
  func chargeBefore(_ gap: Interval) -> Instant? {
    periodStart.flatMap { $0 + gap < time ? $0 : nil }
  }

  /// The end of the period that the event names; for a product change, the event's time.
  var namedPeriodEnd: Instant? { reportedPeriodEnd ?? (kind.isProductChange ? time : nil) }

  /// The same after `period`, if no ends are sent: a cancel is within a period of its length, all
  /// other events are at its end.
  func namedEnd(after period: Period?) -> Instant? {
    guard namedPeriodEnd == nil, !provider.capabilities.sendsPeriodEnds, let period,
      let end = period.end, period.start < end, end < time
    else { return namedPeriodEnd }
    guard isCancel else { return time }
    let length = PeriodLength(from: period.start, to: end)
    var next = length.end(from: end)
    while next < time { next = length.end(from: next) }
    return next
  }

  /// Whether the charge that it names is after a lapse: `period` had expired before it or was
  /// refunded, because a store renews only from a period's end on.
  ///
  /// If neither charges nor ends are dated, the event's own time counts.
  func namesRestart(after period: Period, _ events: [Event], _ gap: Interval) -> Bool {
    let isDated = provider.capabilities.sendsPeriodEnds
    guard let charged = chargeBefore(.seconds(0)) ?? (isDated ? nil : time), let end = period.end,
      charged > end + gap
    else { return false }
    return period.revokedAt != nil
      || period.ownEvents.contains { events[$0].isExpiry && events[$0].time < charged }
  }

  /// Whether the charge that it names recovered a failed payment after access had ended.
  func namesLateRecovery(after period: Period, _ events: [Event], _ gap: Interval) -> Bool {
    guard let charged = chargeBefore(.seconds(0)), let end = period.ownEnd, charged > end + gap
    else { return false }
    return period.ownEvents.contains {
      events[$0].isBillingProblem && events[$0].time < charged
    }
  }

  /// Whether its kind can name the transaction of another period.
  var mayNameAnotherPeriod: Bool {
    transaction != 0 && chargeKind == nil && kind != .trialStarted && kind != .extended
      && !isRefundBooking
  }

  /// Whether the event, which may name another period, reports a later end than `period`, for
  /// another transaction; before any period, whether it reports any end.
  ///
  /// An end after a failed payment can be that of grace, unless it is later by most of a period.
  func mayNameUnseenPeriod(after period: Period?, _ events: [Event], _ gap: Interval) -> Bool {
    guard let period else { return kind.isAboutSubscription || kind == .other && startsLineage }
    guard kind.isAboutSubscription, let end = period.end,
      let reported = namedEnd(after: period), !startsLineage
    else { return false }
    let opener = events[period.opener]
    guard opener.transaction != 0, transaction != opener.transaction, reported > end + gap else {
      return false
    }
    let isNoticed = isExpiry && namedPeriodEnd == nil
    guard isBillingProblem || isNoticed || period.graceEnd != nil else { return true }
    let length = max(0, end.since(period.start).milliseconds)
    return reported.since(end).milliseconds >= length / 10 * 9
  }
}
