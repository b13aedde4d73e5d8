import Domain

extension SubscriptionHistory {
  /// The cohort of a lineage that was new: the month and product of its first paid period.
  private var cohort: (month: Month, productKey: ProductKey)? {
    guard let first = stretches.first, first.opening == .new, first.start < rules.asOf else {
      return nil
    }
    return (month(first.start), productKey(ofPeriod: first.periods[0]))
  }

  /// Books joining, activity at month ends, and net revenue, by months since the cohort's month.
  func bookRetention(into books: inout Books) throws(AmountOverflow) {
    guard let cohort else { return }
    let first = ContributionOrigin(
      .opening(stretches[0].periods[0], after: nil), at: stretches[0].start)
    func key(_ month: Month) -> RetentionKey {
      RetentionKey(
        cohort: cohort.month, productKey: cohort.productKey,
        index: max(0, month.number - cohort.month.number))
    }
    var (joined, came, went) = (RetentionSums(), RetentionSums(), RetentionSums())
    joined.joined = 1
    came.activeChange = 1
    went.activeChange = -1
    try books.add(.retention(key(cohort.month), joined), from: first)
    for stretch in stretches where stretch.start < rules.asOf {
      // Active at the end of each month from the start's month to the one before the end's month.
      let from = month(stretch.start)
      let until = stretch.end.map { month($0) }
      guard until != from else { continue }
      let opening = ContributionOrigin(.opening(stretch.periods[0], after: nil), at: stretch.start)
      try books.add(.retention(key(from), came), from: opening)
      if let until, let end = stretch.end, let last = stretch.periods.last {
        try books.add(
          .retention(key(until), went), from: ContributionOrigin(.ending(last), at: end)
        )
      }
    }
    for index in bookings.indices where bookings[index].productType == .subscription {
      let booking = bookings[index]
      var sums = RetentionSums()
      sums.netUSD.add(booking.money.grossUSD.map { booking.isRefund ? -$0 : $0 })
      try books.add(
        .retention(key(month(booking.time)), sums),
        from: ContributionOrigin(.booking(index), at: booking.time))
    }
  }
}
