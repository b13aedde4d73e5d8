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
      let period = paid[charge].map { periods[$0] }
      try body(
        BookedCharge(
          time: booking.time, isRefund: booking.isRefund, productKey: productKey(ofBooking: index),
          chargeKind: booking.chargeKind, event: .init(events[booking.event]),
          refunded: booking.refundedCharge.map { .init(events[bookings[$0].event]) },
          renewalOrdinal: ordinals?[charge],
          period: period.map { ($0.start, $0.paidUntil ?? $0.end) },
          country: booking.country, storefront: booking.storefront, currency: booking.currency,
          offer: events[bookings[charge].event].offer, units: events[booking.event].units,
          amounts: .init(
            grossLocal: signed(money.grossLocal), proceedsLocal: signed(money.proceedsLocal),
            grossUSD: signed(money.grossUSD), proceedsUSD: signed(money.proceedsUSD)),
          rate: money.rate, basis: money.basis))
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
