public import Domain

extension SubscriptionHistory {
  /// Calls `body` with every charge and refund that revenue counts, in business order.
  public func forEachCharge(_ body: (BookedCharge) throws -> Void) rethrows {
    guard isCounted, !bookings.isEmpty else { return }
    let ordinals =
      isChained && bookings.contains { $0.chargeKind == .renewal } ? renewalOrdinals : nil
    let paid = periodsOfBookings
    for index in bookings.indices {
      let booking = bookings[index]
      let charge = booking.refundedCharge ?? index
      let money = booking.money
      let sign: Int64 = booking.isRefund ? -1 : 1
      func signed(_ amount: Amount?) -> Amount? { amount.map { Amount(micros: sign * $0.micros) } }
      var booked = BookedCharge(
        events[booking.event], isRefund: booking.isRefund, in: revenueKey(index))
      booked.refunded = booking.refundedCharge.map { events[bookings[$0].event] }
      booked.renewalOrdinal = ordinals?[charge]
      if let period = paid[charge].map({ periods[$0] }) {
        (booked.periodStart, booked.periodEnd) = (period.start, period.paidUntil ?? period.end)
      }
      booked.grossLocal = signed(money.grossLocal)
      booked.proceedsLocal = signed(money.proceedsLocal)
      booked.grossUSD = signed(money.grossUSD)
      booked.proceedsUSD = signed(money.proceedsUSD)
      try body(booked)
    }
  }

  /// For each booking, the index of the period that it paid for.
  var periodsOfBookings: [Int?] {
    var paid = [Int?](repeating: nil, count: bookings.count)
    for index in periods.indices {
      if let booking = periods[index].booking { paid[booking] = index }
    }
    return paid
  }
}
