import Vocabulary

extension Life {
  /// What the events come to at as-of, for reconciliation; nil when none counts.
  public var state: LineageState? {
    guard let first = events.first, let last = events.last else { return nil }
    var state = LineageState(
      lineage: first.lineage, provider: first.provider, environment: first.environment,
      store: first.store, app: first.app, product: last.product, firstEventAt: first.time,
      lastEventAt: last.time)
    state.charges = charges
    state.refunds = refunds
    state.transactions = transactions
    state.trials = periods.filter(\.isTrial).map {
      Trial(
        transaction: events[$0.opener].transaction, start: $0.start, end: $0.end,
        product: $0.product)
    }
    state.renewalOrdinal = state.charges.compactMap(\.ordinal).max()
    state.isStartSeen = stretches.first?.opening == .new
    let lastSwitch = events.last { $0.isCancel || $0.kind == .uncanceled }
    state.lastCancelAt = lastSwitch.flatMap { $0.isCancel ? $0.time : nil }
    if let period = periods.last { describe(period, in: &state) }
    return state
  }

  private func describe(_ period: Period, in state: inout LineageState) {
    state.product = period.product
    state.isTrial = period.isTrial
    state.periodEnd = period.end
    state.effectiveEnd = period.effectiveEnd
    state.accessTakenAway = period.takenAway != nil
    state.isAutoRenewOff = period.autoRenewOffSince(events, before: nil) != nil
    state.isInBillingRetry = period.isInvoluntary(events)
    state.isExpiryTold = period.eventRange.contains {
      events[$0].kind == .expired || events[$0].kind == .trialExpired
    }
  }

  private var charges: [Charge] {
    let ordinals = renewalOrdinals
    var periodOfBooking: [Int: Period] = [:]
    for period in periods {
      if let booking = period.booking { periodOfBooking[booking] = period }
    }
    return bookings.indices.filter { !bookings[$0].isRefund }.map { index in
      let booking = bookings[index]
      let period = periodOfBooking[index]
      return Charge(
        transaction: booking.transaction, time: booking.time, kind: booking.chargeKind,
        product: booking.product, ordinal: ordinals[index],
        periodStart: period?.start ?? booking.time, periodEnd: period?.end,
        grossUSD: booking.money.grossUSD, proceedsUSD: booking.money.proceedsUSD,
        grossLocal: booking.money.grossLocal, currency: booking.currency,
        rate: booking.money.rate, basis: booking.money.basis)
    }
  }

  private var refunds: [Refund] {
    bookings.filter(\.isRefund).map { booking in
      Refund(
        transaction: booking.transaction, time: booking.time,
        chargedAt: events[booking.event].periodStart, grossUSD: booking.money.grossUSD,
        chargeIsKnown: booking.refundedCharge != nil,
        endedAccess: periods.contains {
          $0.takenAway != nil && $0.booking == booking.refundedCharge && booking.isWhole
        })
    }
  }

  private var transactions: [Int64] {
    var seen: Set<Int64> = []
    return events.map(\.transaction).filter { $0 != 0 && seen.insert($0).inserted }
  }
}
