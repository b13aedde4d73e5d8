import Domain

extension SubscriptionHistory {
  /// The ordinal of every charge that is a renewal, at the index of its booking.
  ///
  /// The provider's counter where the event carries it, else the previous ordinal + 1; nil while
  /// the start was never seen. Wider than the counter, so that one can be added to any.
  var renewalOrdinals: [Int64?] {
    var ordinals = [Int64?](repeating: nil, count: bookings.count)
    countRenewals { index, counter, _ in
      if bookings[index].chargeKind == .renewal { ordinals[index] = counter.count }
    }
    return ordinals
  }

  /// Whether the counters of two charges, or of an event after the last one, leave a number out.
  var hasCounterJump: Bool {
    var jumps = false
    var last: Int64?
    countRenewals { _, counter, jump in
      jumps = jumps || jump != nil
      last = counter.count
    }
    guard !jumps, let last, let reported = reportedCount else { return jumps }
    return Int64(reported.count) > last
  }

  private func countRenewals(
    _ report: (_ booking: Int, _ counter: RenewalCounter, _ jump: CounterJump?) -> Void
  ) {
    var counter = RenewalCounter(isStartSeen: stretches.first?.opening == .new)
    for index in bookings.indices where bookings[index].isOfSubscription {
      let jump = counter.take(
        bookings[index].chargeKind, counter: events[bookings[index].event].renewalCount)
      report(index, counter, jump)
    }
  }

  /// Renewals by the month of their charge; a renewal counts as refunded once, at its first refund.
  func bookRenewals<Target: Books>(into books: inout Target) throws(AmountOverflow) {
    guard bookings.contains(where: { $0.chargeKind == .renewal }) else { return }
    let ordinals = renewalOrdinals
    var refunded: Set<Int> = []
    for index in bookings.indices where bookings[index].chargeKind == .renewal {
      let source = ContributionOrigin(.booking(index), at: bookings[index].time)
      var sums = RenewalSums()
      if !bookings[index].isRefund {
        let key = renewalKey(index, ordinal: ordinals[index])
        sums.renewals = 1
        try books.add(.renewal(key, sums), from: source)
      } else if let charge = bookings[index].refundedCharge, refunded.insert(charge).inserted {
        let key = renewalKey(index, ordinal: ordinals[charge])
        sums.refunded = 1
        try books.add(.renewal(key, sums), from: source)
      }
    }
  }

  private func renewalKey(_ index: Int, ordinal: Int64?) -> RenewalKey {
    RenewalKey(
      month: month(bookings[index].time), productKey: productKey(ofBooking: index),
      ordinal: ordinal)
  }
}
