public import Domain

/// A period of access that a trial start or a charge opened.
public struct Period: Sendable {
  var opener: Int
  /// Index after the last event before the next opener.
  var eventsEnd: Int
  /// The charge that paid for it; nil for a trial and after a change without money.
  var booking: Int?
  /// Whether it is a trial and not paid.
  public var isTrial: Bool
  /// Symbol of the store product id.
  public var product: StringID
  /// When it began.
  public var start: Instant
  /// The paid or trial end, without grace; nil if unknown.
  @Compact public var end: Instant?
  /// Whether the end follows only from the product's period length.
  public var isEndDerived = false
  /// The indices in `eventRange` of events about an earlier period.
  var lateEvents: Set<Int> = []
  /// The paid end, which neither an early expiry nor an extension moves: as sent or listed with the
  /// charge, else the first reported one; nil if unknown.
  @Compact var paidUntil: Instant?
  /// The end of grace; nil without grace.
  @Compact public var graceEnd: Instant?
  /// The latest end, with grace, that events report for later charges that never arrived.
  @Compact var unseenEnd: Instant?
  /// Whether only an event ends the grace; another purchase may replace the period.
  var isGraceOpen = false
  /// When a full refund of its charge or a revocation ended access; nil if neither did.
  @Compact public var revokedAt: Instant?

  var eventRange: Range<Int> { opener..<eventsEnd }

  /// Its own events, opener first, without events about an earlier period.
  var ownEvents: LazyFilterSequence<Range<Int>> {
    eventRange.lazy.filter { [lateEvents] in !lateEvents.contains($0) }
  }

  /// The time from which another purchase can continue it; nil while open.
  var continuableFrom: Instant? { isGraceOpen && revokedAt == nil ? end : effectiveEnd }

  /// When access actually ends; nil while open.
  var effectiveEnd: Instant? {
    if let revokedAt { return revokedAt }
    return ownEnd.map { max($0, unseenEnd ?? $0) }
  }

  /// The end with grace, without charges that never arrived; nil while open.
  var ownEnd: Instant? { end.map { max($0, graceEnd ?? $0) } }

  /// Whether billing retry or grace was seen in it, or the provider calls its end involuntary.
  func isInvoluntary(_ events: [Event]) -> Bool {
    graceEnd != nil || ownEvents.contains { events[$0].isBillingProblem }
  }

  /// When the store gave up collecting: a cancel or expiry in retry, or an expiry because of a
  /// failed payment, after access had ended.
  func gaveUpAt(_ events: [Event]) -> Instant? {
    guard let ended = effectiveEnd else { return nil }
    var failing = false
    for index in ownEvents {
      let event = events[index]
      if failing || event.isExpiry && event.isBillingProblem, event.time >= ended,
        event.endsCollection
      {
        return event.time
      }
      if event.isBillingProblem { failing = true }
    }
    return nil
  }

  /// Until when the store collected for it after a failed payment: within the retry horizon of its
  /// end, and before the store gave up; nil if no payment failed, access was revoked, or the end is
  /// unknown.
  func collectedUntil(_ events: [Event], _ rules: FoldSettings) -> Instant? {
    guard revokedAt == nil, let end = effectiveEnd, isInvoluntary(events) else { return nil }
    let horizon = end + rules.retryHorizon
    return gaveUpAt(events).map { min(horizon, $0 - Interval(milliseconds: 1)) } ?? horizon
  }

  /// Whether the first paid period after this trial, which begins at `next`, converts it.
  func isConverted(at next: Instant, _ events: [Event], _ rules: FoldSettings) -> Bool {
    convertibleUntil(events, rules).map { next <= $0 } ?? true
  }

  /// The last moment at which a paid period would convert this trial: within the gap of its end, or
  /// recovered from billing retry; nil without a known end, because it then lasts until a payment.
  func convertibleUntil(_ events: [Event], _ rules: FoldSettings) -> Instant? {
    guard let end = effectiveEnd else { return nil }
    let gap = end + rules.renewalGap
    return collectedUntil(events, rules).map { max(gap, $0) } ?? gap
  }

  /// The first event that can belong to the period: its transaction's events since its start can
  /// precede its charge, which has its own time.
  func ownStart(_ events: [Event]) -> Int {
    guard events[opener].transaction != 0 else { return opener }
    var first = opener
    while first > 0, events[first - 1].time >= start, !events[first - 1].opensSubscription {
      first -= 1
    }
    return first
  }

  func isOwn(_ index: Int, _ events: [Event]) -> Bool {
    index < opener
      ? events[index].transaction == events[opener].transaction : !lateEvents.contains(index)
  }

  /// The cancels before `limit` that switched auto-renew off, each with the time at which another
  /// event before `limit` switched it on again, if one did.
  func autoRenewOff(
    _ events: [Event], before limit: Instant?
  ) -> [(event: Int, until: Instant?)] {
    var cancels: [(event: Int, until: Instant?)] = []
    var isOff: Bool { !cancels.isEmpty && cancels.last?.until == nil }
    for index in ownStart(events)..<eventsEnd where isOwn(index, events) {
      let event = events[index]
      if let limit, event.time >= limit { break }
      if event.isCancel, !isOff { cancels.append((index, nil)) }
      if event.kind == .uncanceled, isOff { cancels[cancels.count - 1].until = event.time }
    }
    return cancels
  }

  /// Since when auto-renew is off, by its last event before `limit`; nil when it is on.
  func autoRenewOffSince(_ events: [Event], before limit: Instant?) -> Instant? {
    let last = autoRenewOff(events, before: limit).last
    return last.flatMap { $0.until == nil ? events[$0.event].time : nil }
  }

  /// Whether a pause was reported, and neither a later expiry nor a resumption before the period's
  /// end; a refund that does not revoke access is only money.
  func isPaused(_ events: [Event]) -> Bool { hasPause(events, expiredBy: nil) }

  /// Whether it ended in a pause: an expiry later than `gap` after its end ends the pause instead.
  func endedInPause(_ events: [Event], gap: Interval) -> Bool {
    hasPause(events, expiredBy: effectiveEnd.map { $0 + gap })
  }

  private func hasPause(_ events: [Event], expiredBy limit: Instant?) -> Bool {
    guard revokedAt == nil, let paused = ownEvents.last(where: { events[$0].kind == .paused })
    else { return false }
    return !ownEvents[paused...].contains { index in
      let event = events[index]
      let isInTime = limit.map { event.time <= $0 } ?? true
      // A pause that was planned for the end and lifted before it never begins.
      let isLifted = event.kind == .resumed && effectiveEnd.map { event.time <= $0 } ?? true
      return event.isExpiry && isInTime || isLifted
    }
  }

  /// Why the period ended without another.
  func churnReason(_ events: [Event]) -> ChurnReason {
    if revokedAt != nil || isUnseenRefunded(events) { return .refund }
    if isInvoluntary(events) { return .involuntary }
    for reason in [ChurnReason.priceIncrease, .developer] where stands(reason, events) {
      return reason
    }
    let isReportedVoluntary = ownEvents.contains {
      events[$0].isExpiry && events[$0].reason == .voluntary
    }
    let isOff = autoRenewOffSince(events, before: effectiveEnd) != nil
    return isOff || isReportedVoluntary ? .voluntary : .unknown
  }

  /// Whether it ended with the refund of a later charge that never arrived.
  private func isUnseenRefunded(_ events: [Event]) -> Bool {
    guard let unseenEnd, unseenEnd == effectiveEnd else { return false }
    return ownEvents.contains { events[$0].kind.isRefund && events[$0].time == unseenEnd }
  }

  /// Whether an event names the reason and no later event withdraws its cancel before the end.
  private func stands(_ reason: ChurnReason, _ events: [Event]) -> Bool {
    guard let last = ownEvents.last(where: { events[$0].reason == reason }) else { return false }
    return !ownEvents[last...].contains { index in
      events[index].kind == .uncanceled && effectiveEnd.map { events[index].time < $0 } ?? true
    }
  }
}

extension Event {
  /// Whether a state has another transaction and a later end than `period`, which belong to a
  /// period whose charge is missing.
  func impliesUnseenPeriod(after period: Period, _ events: [Event], _ gap: Interval) -> Bool {
    guard let end = period.end, let reported = periodEnd, transaction != 0, !startsLineage,
      !isRefundBooking, !kind.isProductChange
    else { return false }
    return transaction != events[period.opener].transaction && reported > end + gap
  }
}
