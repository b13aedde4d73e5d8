import Vocabulary

extension Life {
  /// Charges and refunds by the day of their event time.
  func bookRevenue<Target: Books>(into books: inout Target) throws(AmountOverflow) {
    for index in bookings.indices {
      let booking = bookings[index]
      let key = RevenueKey(
        day: day(booking.time), offering: offering(booking.product),
        productType: booking.productType, chargeKind: booking.chargeKind,
        country: booking.country, storefront: booking.storefront, currency: booking.currency,
        rate: booking.money.rate, basis: booking.money.basis)
      try books.add(booking, to: key, from: ShareSource(.booking(index), at: booking.time))
    }
  }

  /// Sandbox traffic and shared purchases carry no money and no movement; events as told, and the
  /// charges that they prove, are only counted.
  func bookExcluded<Target: Books>(_ reason: ExclusionReason, into books: inout Target) {
    func key(_ event: Event) -> ExclusionKey {
      ExclusionKey(
        day: day(event.time), provider: event.provider, app: event.app, reason: reason)
    }
    var (one, charge) = (ExclusionSums(), ExclusionSums())
    one.events = 1
    charge.charges = 1
    for index in told.indices {
      let source = ShareSource(.told(index, overtakenBy: nil), at: told[index].time)
      books.add(one, to: key(told[index]), from: source)
    }
    for index in events.indices where events[index].chargeKind != nil {
      let source = ShareSource(.event(index), at: events[index].time)
      books.add(charge, to: key(events[index]), from: source)
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
