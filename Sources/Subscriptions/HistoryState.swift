public import Domain

extension SubscriptionHistory {
  /// The state at as-of, for reconciliation; nil without counted events and for family shares.
  public var state: LineageState? {
    guard let first = reported.first, let last = reported.last, exclusion != .familySharing else {
      return nil
    }
    let state = LineageState(from: first, to: last, in: store)
    if !first.provider.capabilities.hasStableOriginalID {
      var known: Set<Int64> = []
      let begins = reported.filter { known.insert($0.lineage).inserted }
      if begins.count > 1 {
        (state.merged, state.mergedSince) = (begins.map(\.lineage), begins.map(\.time))
      }
    }
    // FLOBUK's oldest bodies, which have no creation time, report charges only.
    state.isSentOnChange = first.provider.capabilities.body != .purchase || last.created != nil
    state.country =
      bookings.last { $0.country != 0 }?.country ?? events.last { $0.country != 0 }?.country ?? 0
    state.charges = charges
    state.refunds = refunds
    state.transactions = transactions
    state.productsOfUncharged = productsOfUncharged(besides: state.charges)
    state.trials = periods.filter(\.isTrial).map { trial in
      Trial(
        transaction: events[trial.opener].transaction, start: trial.start, end: trial.end,
        product: trial.product, convertibleUntil: trial.convertibleUntil(events, rules),
        isExpired: trial.ownEvents.contains { events[$0].isExpiry })
    }
    let firstCharge = bookings.first { !$0.isRefund }?.event ?? events.count
    state.isTrialNoticed = events[..<firstCharge].contains(where: \.isOfTrial)
    state.isStartSeen = stretches.first?.opening == .new
    state.firstPurchasedAt = periods.first.flatMap {
      events[$0.opener].observation?.firstPurchasedAt
    }
    let lastSwitch = events.last(where: \.switchesAutoRenew)
    state.lastCancelAt = lastSwitch.flatMap { $0.isCancel ? $0.time : nil }
    state.lastSwitchedOff = events.last(where: \.isCancel)?.time
    state.paymentsFailed = events.filter(\.isBillingProblem).map(\.time)
    state.interruptions = events.filter {
      $0.isBillingProblem || $0.isExpiry || $0.kind == .paused
    }.map(\.time)
    state.prices = reportedPrices
    state.productChanges = events.filter(\.kind.isProductChange).map {
      ProductChange(
        transaction: $0.transaction, time: $0.time, previousProduct: $0.previousProduct,
        product: $0.product, isPaid: $0.chargeKind != nil)
    }
    state.unansweredEnd = unansweredEnd
    state.unseenPeriods = unseenPeriods
    state.mayMissOrders = mayMissOrders
    state.reportedCount = reportedCount
    state.churned = churned.map { churn(at: $0.at, ofPeriod: $0.period) }
    state.reportedByOthers = reportedByOthers
    state.isSubscription = events.contains { $0.kind.isAboutSubscription }
    if let period = periods.last ?? periodNeverOpened { describe(period, in: state) }
    return state
  }

  /// The state at as-of, with what events since `moment` report about the period that ran then,
  /// even if another period has followed.
  public func state(since moment: Instant) -> LineageState? {
    let known = periods.last { events[$0.opener].time < moment }
    guard let period = known ?? (periods.isEmpty ? periodNeverOpened : nil), let state else {
      return state
    }
    let later = period.ownEvents.filter { events[$0].time >= moment }
    if later.contains(where: { events[$0].isCancel })
      || period.autoRenewOffSince(events, before: nil) != nil
    {
      state.noticesSince.insert(.cancel)
    }
    if later.contains(where: { events[$0].isExpiry }) { state.noticesSince.insert(.expiry) }
    if period.isInvoluntary(events) { state.noticesSince.insert(.failedPayment) }
    if period.revokedAt != nil { state.noticesSince.insert(.revocation) }
    let charge = state.charges.first { $0.time >= moment }
    if let charge, charge.kind == .renewal || charge.kind == .conversion {
      state.noticesSince.insert(.renewal)
    }
    return state
  }

  private func churn(at end: Instant, ofPeriod place: Int) -> Churned {
    let period = periods[place]
    let isExpired = period.ownEvents.contains { events[$0].isExpiry }
    return Churned(
      at: end, product: period.product, isExpired: isExpired && !period.isInvoluntary(events))
  }

  /// Whether the churn report counts an end at this time in the row of `key`.
  public func churns(at end: Instant, in key: ProductKey) -> Bool {
    isCounted && churned.contains { $0.at == end && productKey(ofPeriod: $0.period) == key }
  }

  /// The ends that the churn report counts, with the periods that ended.
  private var churned: [(at: Instant, period: Int)] {
    guard exclusion == nil, isChained else { return [] }
    return stretches.compactMap { stretch in
      guard let end = stretch.end, stretch.closing == .churned, end < rules.asOf,
        let last = stretch.periods.last
      else { return nil }
      return (end, last)
    }
  }

  /// A period that only states show because its charge or trial start did not arrive: it began
  /// before the first event, or its opening was lost.
  ///
  /// It is not treated as a trial that could convert, because nothing shows whether it was one.
  private var periodNeverOpened: Period? {
    let states = events.indices.filter { events[$0].kind.isAboutSubscription }
    guard let first = states.first, let last = states.last else { return nil }
    let reported = states.last { events[$0].reportedPeriodEnd != nil }
    let opener = events[first]
    // A change that is only announced does not take effect yet.
    let isAnnounced = opener.isAnnouncement && opener.previousProduct != 0
    var period = Period(
      opener: first, eventsEnd: events.count, booking: nil, isTrial: false,
      product: isAnnounced ? opener.previousProduct : events[last].product,
      start: events[first].periodStart ?? events[first].time,
      end: reported.flatMap { events[$0].periodEnd })
    period.graceEnd = states.compactMap { events[$0].graceEnd }.max()
    return period
  }

  private func describe(_ period: Period, in state: LineageState) {
    state.product = period.product
    let announcement = period.eventRange.last { events[$0].isAnnouncement }
    state.scheduledProduct = announcement.map { events[$0].product }
    state.isTrial = period.isTrial
    state.periodEnd = period.end
    state.effectiveEnd = period.effectiveEnd
    state.reportedEnd = period.eventRange.lazy.filter {
      events[$0].impliesUnseenPeriod(after: period, events, rules.renewalGap)
    }.compactMap { events[$0].periodEnd }.max()
    let opener = events[period.opener]
    let last = period.ownEvents.dropFirst().last {
      (events[$0].isCancel || events[$0].isExpiry) && events[$0].transaction != 0
        && events[$0].transaction == opener.transaction
    }
    state.lastReportedEnd = last.flatMap { events[$0].periodEnd }
    state.accessRevoked = period.revokedAt != nil
    state.isAutoRenewOff = period.autoRenewOffSince(events, before: nil) != nil
    state.isInBillingRetry = period.isInvoluntary(events)
    state.gaveUpAt = period.gaveUpAt(events)
    state.paymentFailedAt = period.ownEvents.first { events[$0].isBillingProblem }
      .map { events[$0].time }
    state.expiredAt = period.ownEvents.lazy.map { events[$0] }.first(where: \.isExpiry).map {
      min($0.time, $0.reportedPeriodEnd ?? $0.time)
    }
  }

  private var charges: [Charge] {
    let (ordinals, paid) = (renewalOrdinals, periodsOfBookings)
    return bookings.indices.filter { !bookings[$0].isRefund }.map { index in
      let booking = bookings[index]
      let period = paid[index].map { periods[$0] }
      return Charge(
        transaction: booking.transaction, time: booking.time,
        periodStart: period?.start ?? booking.time, periodEnd: period?.end,
        kind: booking.chargeKind, basis: booking.money.basis, product: booking.product,
        price: booking.price, ordinal: ordinals[index],
        renewalCount: events[booking.event].renewalCount,
        purchasedAt: events[booking.event].observation?.firstPurchasedAt)
    }
  }

  private var reportedPrices: [ReportedPrice] {
    events.compactMap { event in
      guard event.chargeKind == nil, !event.kind.isProductChange, let price = event.price,
        [price.local, price.usd].allSatisfy({ $0.map { $0 > .zero } ?? true })
      else { return nil }
      return ReportedPrice(
        transaction: event.transaction, time: event.time, product: event.product, price: price)
    }
  }

  private var refunds: [Refund] {
    guard bookings.contains(where: \.isRefund) else { return [] }
    let charged = Set(bookings.lazy.filter { !$0.isRefund }.map(\.transaction))
    var lastCharges: [StringID: Int64] = [:]
    return bookings.compactMap { booking in
      guard booking.isRefund else {
        lastCharges[booking.product] = booking.transaction
        return nil
      }
      // The refunded rest of a previous product may have the id of the charge for the new one.
      let isRest = isRemainder(booking, besides: charged)
      let left = booking.refundedCharge == nil && isRest ? lastCharges[booking.product] : nil
      return Refund(
        transaction: left ?? booking.transaction, time: booking.time,
        chargedAt: events[booking.event].periodStart, product: booking.product,
        productType: booking.productType, grossUSD: booking.money.grossUSD,
        chargeIsKnown: booking.refundedCharge != nil || isRest || isOfFreeTrial(booking))
    }
  }

  /// Whether the refund is of a reported trial and has no amount: no charge was due.
  private func isOfFreeTrial(_ refund: Booking) -> Bool {
    refund.transaction != 0 && (refund.money.grossUSD ?? .zero) == .zero
      && reported.contains { $0.kind == .trialStarted && $0.transaction == refund.transaction }
  }

  /// Whether the refund is the rest of the period that a product change cut short, unless it names
  /// an earlier transaction that was never charged.
  private func isRemainder(_ booking: Booking, besides charged: Set<Int64>) -> Bool {
    let change = events[booking.event]
    let namesCharge = booking.transaction != 0 && change.chargeBefore(rules.renewalGap) != nil
    return change.kind.isProductChange && !(namesCharge && !charged.contains(booking.transaction))
  }

  private func productsOfUncharged(besides charges: [Charge]) -> [Int64: StringID] {
    lazy var charged = Set(charges.map(\.transaction))
    var products: [Int64: StringID] = [:]
    for event in reported
    where (event.isCancel || event.isExpiry || event.isBillingProblem) && event.product != 0
      && event.transaction != 0 && !charged.contains(event.transaction)
    {
      products[event.transaction] = event.product
    }
    return products
  }

  private var transactions: [Int64] {
    var (seen, found) = (Set<Int64>(minimumCapacity: reported.count), [Int64]())
    for event in reported where event.transaction != 0 && event.transaction != found.last {
      if seen.insert(event.transaction).inserted { found.append(event.transaction) }
    }
    return found
  }
}
