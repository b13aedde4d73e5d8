public import Domain

extension SubscriptionHistory {
  /// Whether events alone prove that one is missing: a refund without its charge, a trial followed
  /// by a renewal, a counter that jumps, an unseen transaction, a first charge that cannot be the
  /// first, a purchase before a charge, an end that nothing followed, or a report from another
  /// provider.
  ///
  /// Cheap enough to call for every lineage; reconciliation decides what exactly is missing.
  ///
  /// - Parameter start: the time of the first event of any feed.
  public func provesMissingEvent(since start: Instant) -> Bool {
    if bookings.contains(where: { $0.isRefund && $0.refundedCharge == nil }) { return true }
    return isConversionMissing || unansweredEnd != nil || hasCounterJump
      || mayMissStart(since: start)
      || hasFreeTimeBetweenOrders || isRestartMissing
      || reportedByOthers.contains(where: \.isExpected)
      || unseenPeriods.contains { ($0.start ?? $0.end) >= start }
  }

  /// Whether a gap between two periods in Play is unpaid: order numbers show what is missing.
  private var hasFreeTimeBetweenOrders: Bool {
    store == .playStore
      && zip(periods, periods.dropFirst()).contains { period, next in
        // A trial without a sent end lasts until something is paid.
        let isOpen = period.isTrial && !events[period.opener].provider.capabilities.sendsPeriodEnds
        let length = isOpen ? next.end.map { $0.since(next.start) } : nil
        let free = length.map { period.start + $0 } ?? period.effectiveEnd
        return free.map { $0 + rules.renewalGap < next.start } ?? false
      }
  }

  /// Whether the state of a charge dates a purchase after the lapse before it.
  private var isRestartMissing: Bool {
    zip(periods, periods.dropFirst()).contains { period, next in
      guard let bought = events[next.opener].observation?.firstPurchasedAt,
        let end = period.effectiveEnd
      else { return false }
      return end + rules.renewalGap < bought && bought + rules.renewalGap < next.start
    }
  }

  /// Whether the numbers in Play's order ids may show that a charge is missing.
  var mayMissOrders: Bool {
    hasFreeTimeBetweenOrders
      || store == .playStore && mayMissStart(since: Instant(milliseconds: .min))
  }

  /// Whether a trial is followed by a counted renewal without a conversion between them.
  private var isConversionMissing: Bool {
    guard periods.contains(where: \.isTrial), let paid = periods.first(where: { !$0.isTrial }),
      let booking = paid.booking, bookings[booking].chargeKind == .renewal
    else { return false }
    return (events[paid.opener].renewalCount ?? 0) > 0
  }

  /// The end of the last period if an event must have followed it and none did: auto-renew was on,
  /// and no charge, cancel, expiry, failed payment, pause or loss of access arrived although the
  /// gap and the delivery window are over.
  ///
  /// A missing event proves this only if the provider reports every end. A cancel in the preceding
  /// year counts, because a plan with a 12-month commitment renews after its cancel.
  var unansweredEnd: Instant? {
    guard let period = periods.last, let first = reported.first,
      first.provider.capabilities.sendsExpirations,
      let end = period.effectiveEnd, period.revokedAt == nil, !period.isInvoluntary(events),
      !period.isPaused(events),
      end <= rules.endsAreFinal(until: first.feed)
    else { return nil }
    // After a move to another provider, nothing is missing, nor if that one reports the end.
    if followedElsewhere == .end { return nil }
    if followedElsewhere == .charge, let watermark = rules.watermarks[first.feed],
      watermark.newest < end
    {
      return nil
    }
    let reported = period.ownEvents.dropFirst().contains { index in
      (events[index].isCancel || events[index].isExpiry || events[index].kind == .revoked)
        && events[index].impliesUnseenPeriod(after: period, events, rules.renewalGap)
          == (period.unseenEnd != nil)
    }
    return reported || mayBeRevoked(period) || isCommitted(period, until: end) ? nil : end
  }

  /// Whether a refund may have ended the period.
  ///
  /// It may if the refunded charge is missing and not older, or if the amount is unknown. Any other
  /// that has not ended the period is only money, as is the refunded rest of a previous product.
  private func mayBeRevoked(_ period: Period) -> Bool {
    bookings.contains { booking in
      guard booking.isRefund, booking.event > period.opener,
        !events[booking.event].kind.isProductChange
      else { return false }
      guard booking.refundedCharge == nil else {
        return booking.refundedCharge == period.booking && booking.money.grossUSD == nil
      }
      return events[booking.event].periodStart.map { $0 >= period.start } ?? true
    }
  }

  /// Whether the monthly period was renewed within a year after a cancel, as by a commitment.
  private func isCommitted(_ period: Period, until end: Instant) -> Bool {
    guard let booking = period.booking, bookings[booking].chargeKind == .renewal,
      let paidUntil = period.paidUntil,
      paidUntil.since(period.start).isMonth,
      let last = events.lastIndex(where: { $0.switchesAutoRenew || $0.hasEnd }),
      events[last].isCancel, events[last].time > end - .days(366),
      stretches.first?.opening != .new || periods[0].start <= end - .days(360)
    else { return false }
    // A cancel after the end was the store's, which had tried to collect until then.
    let running = periods.last { $0.opener < last }
    return running?.effectiveEnd.map { events[last].time <= $0 } ?? true
  }
}
