import Vocabulary

extension Life {
  /// Charges and refunds by the day of their event time.
  func bookRevenue(into facts: inout Facts) throws(AmountOverflow) {
    for booking in bookings {
      let key = RevenueKey(
        day: day(booking.time), offering: offering(booking.product),
        productType: booking.productType, chargeKind: booking.chargeKind,
        country: booking.country, storefront: booking.storefront, currency: booking.currency,
        rate: booking.money.rate, basis: booking.money.basis)
      var sums = facts.revenue[key] ?? RevenueSums()
      try sums.add(booking)
      facts.revenue[key] = sums
    }
  }

  /// Sandbox traffic and shared purchases carry no money and no movement; events as told, and the
  /// charges that they prove, are only counted.
  func bookExcluded(_ reason: ExclusionReason, into facts: inout Facts) {
    func key(_ event: Event) -> ExclusionKey {
      ExclusionKey(
        day: day(event.time), provider: event.provider, app: event.app, reason: reason)
    }
    for event in told { facts.excluded[key(event), default: ExclusionSums()].events += 1 }
    for event in events where event.chargeKind != nil {
      facts.excluded[key(event), default: ExclusionSums()].charges += 1
    }
  }
}

extension RevenueSums {
  mutating func add(_ booking: Booking) throws(AmountOverflow) {
    let money = booking.money
    if booking.isRefund {
      refunds += 1
      try refundsUSD.add(money.grossUSD)
      try refundsLocal.add(money.grossLocal)
      try proceedsUSD.add(money.proceedsUSD.map { -$0 })
      try proceedsLocal.add(money.proceedsLocal.map { -$0 })
    } else {
      charges += 1
      try grossUSD.add(money.grossUSD)
      try grossLocal.add(money.grossLocal)
      try proceedsUSD.add(money.proceedsUSD)
      try proceedsLocal.add(money.proceedsLocal)
    }
  }
}
