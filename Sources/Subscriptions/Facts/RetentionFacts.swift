import Domain

extension SubscriptionHistory {
  /// Books joining, activity at month ends, and net revenue of a lineage that was new, by months
  /// since its cohort's month.
  ///
  /// The cohort is the month and product of its first paid period.
  func bookRetention(into books: inout Books) throws(AmountOverflow) {
    guard let first = stretches.first, first.opening == .new, first.start < rules.asOf else {
      return
    }
    let (cohort, product) = (month(first.start), productKey(ofPeriod: first.periods[0]))
    func book(
      _ sums: RetentionSums, in month: Month, _ part: ContributionOrigin.Part, at time: Instant
    ) throws(AmountOverflow) {
      let index = max(0, month.number - cohort.number)
      let key = RetentionKey(cohort: cohort, productKey: product, index: index)
      try books.add(.retention(key, sums), from: ContributionOrigin(part, at: time))
    }
    var (joined, came, went) = (RetentionSums(), RetentionSums(), RetentionSums())
    joined.joined = 1
    came.activeChange = 1
    went.activeChange = -1
    try book(joined, in: cohort, .opening(first.periods[0], after: nil), at: first.start)
    for stretch in stretches where stretch.start < rules.asOf {
      // Active at the end of each month from the start's month to the one before the end's month.
      let from = month(stretch.start)
      let until = stretch.end.map { month($0) }
      guard until != from else { continue }
      try book(came, in: from, .opening(stretch.periods[0], after: nil), at: stretch.start)
      if let until, let end = stretch.end, let last = stretch.periods.last {
        try book(went, in: until, .ending(last), at: end)
      }
    }
    for index in bookings.indices where bookings[index].productType == .subscription {
      let booking = bookings[index]
      var sums = RetentionSums()
      sums.netUSD.add(booking.money.grossUSD.map { booking.isRefund ? -$0 : $0 })
      try book(sums, in: month(booking.time), .booking(index), at: booking.time)
    }
  }
}
