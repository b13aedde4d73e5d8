import Domain

extension SubscriptionHistory {
  /// Books charges and refunds by the day of their event time.
  func bookRevenue(into books: inout Books) throws(AmountOverflow) {
    for index in bookings.indices {
      let source = ContributionOrigin(.booking(index), at: bookings[index].time)
      try books.add(.revenue(revenueKey(index), RevenueSums(of: bookings[index])), from: source)
    }
  }

  /// The row of a booking, read in place: reading a fresh copy of so many bytes waits until all
  /// earlier writes, mainly of cells, have left the processor.
  func revenueKey(_ index: Int) -> RevenueKey {
    RevenueKey(
      day: day(bookings[index].time), productKey: productKey(ofBooking: index),
      productType: bookings[index].productType, chargeKind: bookings[index].chargeKind,
      country: bookings[index].country, storefront: bookings[index].storefront,
      currency: bookings[index].currency, rate: bookings[index].money.rate,
      basis: bookings[index].money.basis)
  }

  /// Counts the reported events and derived charges of sandbox traffic and shared purchases, which
  /// have no money and no movement.
  func bookExcluded(_ reason: ExclusionReason, into books: inout Books) throws(AmountOverflow) {
    try bookReported(as: reason, into: &books)
    var charge = ExclusionSums()
    charge.charges = 1
    for index in events.indices where events[index].chargeKind != nil {
      let source = ContributionOrigin(.event(index), at: events[index].time)
      try books.add(.excluded(exclusionKey(events[index], reason), charge), from: source)
    }
  }

  /// Counts reported events as excluded, except those that are `counted` elsewhere.
  func bookReported(
    as reason: ExclusionReason, besides counted: Set<Int64> = [], into books: inout Books
  ) throws(AmountOverflow) {
    var one = ExclusionSums()
    one.events = 1
    let times = derivedTimes
    for index in reported.indices where !counted.contains(reported[index].identity) {
      var event = reported[index]
      event.time = times[event.identity] ?? event.time
      let source = ContributionOrigin(.reported(index, overtakenBy: nil), at: event.time)
      try books.add(.excluded(exclusionKey(event, reason), one), from: source)
    }
  }

  /// When the changes that a state proves took effect, by its identity; of several, the charge's.
  private var derivedTimes: [Int64: Instant] {
    guard !reported[0].provider.capabilities.hasStableOriginalID else { return [:] }
    let charges = events.lazy.filter { $0.chargeKind != nil }
    return Dictionary(
      (Array(charges) + events).map { ($0.identity, $0.time) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Counts second charges of a transaction and refunds beyond their charge.
  func bookHeld(into books: inout Books) throws(AmountOverflow) {
    for index in held.indices {
      let source = ContributionOrigin(.held(index), at: held[index].event.time)
      var sums = ExclusionSums()
      sums.events = held[index].reason == .overlap ? 0 : 1
      sums.charges = held[index].reason == .overRefund ? 0 : 1
      try books.add(
        .excluded(exclusionKey(held[index].event, held[index].reason), sums), from: source)
    }
  }

  private func exclusionKey(_ event: Event, _ reason: ExclusionReason) -> ExclusionKey {
    ExclusionKey(day: day(event.time), feed: event.feed, reason: reason)
  }
}

extension RevenueSums {
  @inline(__always)
  init(of booking: Booking) {
    self.init()
    if booking.isRefund {
      refunds = 1
      refundsUSD = PartialSum(of: booking.money.grossUSD)
      refundsLocal = PartialSum(of: booking.money.grossLocal)
      proceedsUSD = PartialSum(of: booking.money.proceedsUSD.map { -$0 })
      proceedsLocal = PartialSum(of: booking.money.proceedsLocal.map { -$0 })
    } else {
      charges = 1
      grossUSD = PartialSum(of: booking.money.grossUSD)
      grossLocal = PartialSum(of: booking.money.grossLocal)
      proceedsUSD = PartialSum(of: booking.money.proceedsUSD)
      proceedsLocal = PartialSum(of: booking.money.proceedsLocal)
    }
  }
}

extension PartialSum {
  @inline(__always)
  init(of amount: Amount?) {
    self.init()
    if let amount { sum = amount } else { unknown = 1 }
  }
}
