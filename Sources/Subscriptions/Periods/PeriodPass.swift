import Domain

/// Finds the periods of a lineage and their ends.
struct PeriodPass {
  let events: [Event]
  let bookings: [Booking]
  let rules: FoldSettings
  private(set) var findings: [FoldFinding] = []
  private var periods: [Period] = []
  /// The cycle of the last period whose end follows only from a length.
  private var cycle: BillingCycle?
  /// The first period of each transaction; computed on first use, because few subscriptions have
  /// events of another transaction than the current period's.
  private lazy var firstOpened: [Int64: Int] = Dictionary(
    periods.indices.map { (events[periods[$0].opener].transaction, $0) }, uniquingKeysWith: min)

  init(events: [Event], bookings: [Booking], rules: FoldSettings) {
    self.events = events
    self.bookings = bookings
    self.rules = rules
    periods.reserveCapacity(bookings.count + 1)
  }

  mutating func run() -> [Period] {
    open()
    for index in periods.indices {
      periods[index].lateEvents = lateEvents(at: index)
      if periods[index].end == nil {
        periods[index].end = endReportedLater(after: index)
        if periods[index].end == nil { findOpenEnd(of: index) }
      }
      periods[index].paidUntil = periods[index].end
      readEarlierEnd(of: index)
      readGrace(of: index)
      readOpenGrace(of: index)
      readLaterEnd(of: index)
      readExtension(of: index)
      readUnseenEnd(of: index)
    }
    applyRefunds()
    return periods
  }

  /// Opens one period for each trial start and each charge of a subscription.
  private mutating func open() {
    var nextBooking = 0
    for index in events.indices {
      let event = events[index]
      var booking: Int?
      if nextBooking < bookings.count, bookings[nextBooking].event == index {
        booking = nextBooking
        nextBooking += 1
      }
      let isCharged = booking.map { bookings[$0].isOfSubscription } ?? false
      let isChanged = event.changesProductUnpaid && periods.last?.isTrial != true
      guard isCharged || isChanged || event.kind == .trialStarted else { continue }
      if let last = periods.indices.last { periods[last].eventsEnd = index }
      let start = event.start(after: periods.last)
      let sent = sentEnd(event, start: start)
      let end = sent ?? derivedEnd(event, start: start)
      periods.append(
        Period(
          opener: index, eventsEnd: events.count, booking: booking,
          isTrial: event.kind == .trialStarted, product: event.product, start: start,
          end: end, isEndDerived: sent == nil && end != nil))
    }
  }

  /// The end as sent with the opener; nil if a length or a later event has to show it.
  private mutating func sentEnd(_ event: Event, start: Instant) -> Instant? {
    if event.kind.isProductChange, event.periodEnd.map({ $0 == event.time || $0 <= start }) ?? true
    {
      // An Apple change begins a new period; an equal end is the entitlement's before the change.
      let isOld = event.store.isApple && event.entitledUntil == periods.last?.end
      return event.entitledUntil.flatMap { $0 > start && !isOld ? $0 : nil }
    }
    guard let sent = event.periodEnd, sent < start else { return event.periodEnd }
    findings.append(
      FoldFinding(
        .impossibleSequence, event,
        "the period of \(event.kindAndTime) starts \(start.text) and ends \(sent.text), before "
          + "it; it counts as empty"))
    return start
  }

  /// The end by the configured or listed length; nil for a trial if ends are not always sent,
  /// because the length is that of a paid period.
  private mutating func derivedEnd(_ event: Event, start: Instant) -> Instant? {
    guard event.kind != .trialStarted || event.provider.capabilities.sendsWholeCharges,
      let length = rules.periodLength(of: event)
    else { return nil }
    var running: BillingCycle?
    if event.chargeKind == .renewal {
      running = periods.last?.isEndDerived == true ? cycle : reportedCycle
    }
    let next = BillingCycle(after: running, paidAt: start, length: length, gap: rules.renewalGap)
    cycle = next
    return next.end
  }

  /// The cycle of the last periods, whose ends another provider reported: ten years of months.
  private var reportedCycle: BillingCycle? {
    periods.suffix(120).reduce(nil) { cycle, period in
      guard !period.isTrial, let length = rules.periodLength(of: events[period.opener]) else {
        return nil
      }
      return BillingCycle(
        after: cycle, paidAt: period.start, length: length, gap: rules.renewalGap)
    }
  }

  /// The end of a period whose opener has none: from the next event of the lineage with an end that
  /// is not the opener's substitute.
  private mutating func endReportedLater(after index: Int) -> Instant? {
    let period = periods[index]
    for later in period.ownEvents.dropFirst() {
      let event = events[later]
      if let reported = event.reportedPeriodEnd, reported > period.start,
        reported != events[period.opener].periodEnd
      {
        return reported
      }
      if event.hasEnd { return max(event.time, period.start) }
    }
    return index + 1 < periods.count ? periods[index + 1].start : nil
  }

  /// Reports an open end, unless ends are not always sent: then `Facts.gaps` counts it.
  private mutating func findOpenEnd(of index: Int) {
    let opener = events[periods[index].opener]
    guard opener.provider.capabilities.sendsWholeCharges else { return }
    findings.append(
      FoldFinding(
        .expiryMismatch, opener,
        "\(opener.kindAndTime): no event, entitlement or configured period contains the end of its "
          + "period; it counts as open"))
  }

  /// Events about an earlier period that happened after this one had begun.
  private mutating func lateEvents(at index: Int) -> Set<Int> {
    guard index > 0 else { return [] }
    let opened = events[periods[index].opener].transaction
    return Set(
      periods[index].eventRange.dropFirst().filter {
        events[$0].transaction != opened && isOfPreviousPeriod(events[$0], at: index)
      })
  }

  /// Whether the event names a transaction that opened an earlier period, and that period's
  /// product, end or trial.
  ///
  /// Providers date a cancel, failed payment or expiry by when they saw it, so events of a
  /// transaction can follow the next charge; an expiry has its own time as the end, within the gap.
  private mutating func isOfPreviousPeriod(_ event: Event, at index: Int) -> Bool {
    guard event.transaction != 0, let first = firstOpened[event.transaction], first < index else {
      return false
    }
    let (previous, period) = (periods[first], periods[index])
    if event.product != period.product || event.isOfTrial && !period.isTrial { return true }
    guard let reported = event.reportedPeriodEnd ?? (event.hasEnd ? event.time : nil) else {
      return false
    }
    let ended = max(period.start, previous.end ?? period.start)
    return reported <= ended + rules.renewalGap && period.end.map { reported < $0 } ?? true
  }

  /// Reads an expiry before a derived end; it is more exact.
  private mutating func readEarlierEnd(of index: Int) {
    guard periods[index].isEndDerived, let end = periods[index].end else { return }
    let reported = periods[index].ownEvents.dropFirst().first { events[$0].hasEnd }
    guard let reported, events[reported].time < end else { return }
    periods[index].end = max(events[reported].time, periods[index].start)
  }

  private mutating func readGrace(of index: Int) {
    guard let end = periods[index].end else { return }
    for later in periods[index].ownEvents where !events[later].isRefundBooking {
      guard let grace = events[later].endOfGrace, grace > end,
        !events[later].impliesUnseenPeriod(after: periods[index], events, rules.renewalGap)
      else { continue }
      periods[index].graceEnd = max(grace, periods[index].graceEnd ?? grace)
    }
  }

  /// Reads the grace of providers that send no ends: after a failed payment the subscription stays
  /// active until an event ends it or the store has given up.
  ///
  /// Source: docs.purplepublish.com, Receipt Events, `SUBSCRIPTION_RENEWAL_FAILED`.
  private mutating func readOpenGrace(of index: Int) {
    let period = periods[index]
    guard !period.isTrial, period.graceEnd == nil,
      let failed = period.ownEvents.first(where: {
        events[$0].kind == .graceEntered && !events[$0].provider.capabilities.sendsPeriodEnds
      })
    else { return }
    // If no length is known, the period ended when its renewal failed.
    let end = period.end ?? max(events[failed].time, period.start)
    let ended = period.ownEvents.first { $0 > failed && events[$0].endsCollection }
    let horizon = end + rules.retryHorizon
    periods[index].end = end
    periods[index].graceEnd = ended.map { min(max(events[$0].time, end), horizon) } ?? horizon
    periods[index].isGraceOpen = true
  }

  /// Reads an end that the store has extended, from a cancel or expiry of the charge.
  ///
  /// The last one counts, but none after a failed payment. An end that is later by half a period or
  /// more belongs to another charge.
  private mutating func readLaterEnd(of index: Int) {
    let opener = events[periods[index].opener]
    guard opener.provider.capabilities.sendsWholeCharges, opener.transaction != 0,
      !periods[index].isEndDerived, let paid = periods[index].paidUntil
    else { return }
    let half = paid.since(periods[index].start).milliseconds / 2
    for later in periods[index].ownEvents.dropFirst() {
      let event = events[later]
      if event.isBillingProblem || event.endOfGrace != nil { return }
      guard event.isCancel || event.isExpiry, event.transaction == opener.transaction,
        let reported = event.periodEnd, reported >= paid, reported.since(paid).milliseconds < half
      else { continue }
      periods[index].end = reported
    }
  }

  private mutating func readExtension(of index: Int) {
    for later in periods[index].ownEvents where events[later].kind == .extended {
      guard let reported = events[later].periodEnd, let end = periods[index].end else { continue }
      periods[index].end = max(reported, end)
    }
  }

  /// Extends access by a charge that never arrived, and its grace, if events name its transaction,
  /// until a refund of it.
  private mutating func readUnseenEnd(of index: Int) {
    guard !periods[index].isTrial else { return }
    for later in periods[index].ownEvents.dropFirst() where events[later].mayNameAnotherPeriod {
      let (event, period) = (events[later], periods[index])
      guard !event.kind.isProductChange,
        event.mayNameUnseenPeriod(after: period, events, rules.renewalGap),
        firstOpened[event.transaction] == nil,
        let end = event.namedEnd(after: period),
        !event.namesRestart(after: period, events, rules.renewalGap),
        !event.namesLateRecovery(after: period, events, rules.renewalGap),
        !events.contains(where: {
          $0.kind.isProductChange && $0.transaction == event.transaction
        })
      else { continue }
      var access = max(end, event.endOfGrace ?? end)
      let refund = period.ownEvents.first {
        events[$0].kind.isRefund && events[$0].transaction == event.transaction
      }
      if let refund { access = min(access, max(events[refund].time, period.start)) }
      periods[index].unseenEnd = max(access, periods[index].unseenEnd ?? access)
    }
  }

  /// Applies full refunds of the current period's charge, and revocations.
  private mutating func applyRefunds() {
    var refunds: [Int: Booking] = [:]
    for booking in bookings where booking.isRefund && events[booking.event].kind.isRefund {
      refunds[booking.event] = booking
    }
    for index in periods.indices where !periods[index].isTrial {
      for later in periods[index].ownEvents.dropFirst() {
        let ends =
          events[later].kind == .revoked
          || refunds[later].map { $0.isWhole && $0.refundedCharge == periods[index].booking }
            ?? false
        guard ends, periods[index].revokedAt == nil else { continue }
        let moment = max(events[later].time, periods[index].start)
        let (period, isRevoked) = (periods[index], events[later].kind == .revoked)
        let end = isRevoked ? period.effectiveEnd : period.ownEnd
        if let end, moment >= end { continue }
        periods[index].revokedAt = moment
      }
    }
  }
}

extension Event {
  /// The start of the period that the event opens, which is never before the previous one's.
  func start(after previous: Period?) -> Instant {
    guard let previous else { return periodStart ?? time }
    guard let sent = periodStart, sent >= previous.start else { return max(time, previous.start) }
    return sent
  }
}
