public import Domain

extension SubscriptionHistory {
  /// Calls `body` at every charge and refund that revenue counts, in business order.
  public func forEachCharge(_ body: (BookedCharge) throws -> Void) rethrows {
    guard isCounted, !bookings.isEmpty else { return }
    let ordinals =
      isChained && bookings.contains { $0.chargeKind == .renewal } ? renewalOrdinals : nil
    var paid = [Int?](repeating: nil, count: bookings.count)
    for (index, period) in periods.enumerated() {
      if let booking = period.booking { paid[booking] = index }
    }
    for index in bookings.indices {
      let charge = bookings[index].refundedCharge ?? index
      let period = paid[charge].map { periods[$0] }
      try body(
        row(
          index, ordinal: ordinals?[charge],
          period: period.map { (start: $0.start, end: $0.paidUntil ?? $0.end) }))
    }
  }

  private func row(
    _ index: Int, ordinal: Int64?, period: (start: Instant, end: Instant?)?
  ) -> BookedCharge {
    let booking = bookings[index]
    let charge = booking.refundedCharge.map { events[bookings[$0].event] }
    let money = booking.money
    let sign: Int64 = booking.isRefund ? -1 : 1
    func signed(_ amount: Amount?) -> Amount? { amount.map { Amount(micros: sign * $0.micros) } }
    return BookedCharge(
      time: booking.time, isRefund: booking.isRefund, productKey: productKey(ofBooking: index),
      chargeKind: booking.chargeKind, event: .init(events[booking.event]),
      refunded: charge.map { .init($0) }, renewalOrdinal: ordinal, period: period,
      country: booking.country, storefront: booking.storefront, currency: booking.currency,
      offer: (charge ?? events[booking.event]).offer, units: events[booking.event].units,
      amounts: .init(
        grossLocal: signed(money.grossLocal), proceedsLocal: signed(money.proceedsLocal),
        grossUSD: signed(money.grossUSD), proceedsUSD: signed(money.proceedsUSD)),
      rate: money.rate, basis: money.basis)
  }
}
