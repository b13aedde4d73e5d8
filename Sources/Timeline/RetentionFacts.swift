import Vocabulary

extension Life {
  /// The cohort a lineage joined: the month and product of its first paid period, when it was new.
  private var cohort: (month: Month, offering: Offering)? {
    guard let first = stretches.first, first.opening == .new, first.start < rules.asOf else {
      return nil
    }
    let product = periods[first.periods[0]].product
    return (rules.calendar.month(of: first.start), offering(product))
  }

  /// Joining, activity at month ends, and net revenue, by months since the cohort's.
  func bookRetention(into facts: inout Facts) throws(AmountOverflow) {
    guard let cohort else { return }
    func key(_ month: Month) -> RetentionKey {
      RetentionKey(
        cohort: cohort.month, offering: cohort.offering,
        index: max(0, month.number - cohort.month.number))
    }
    facts.retention[key(cohort.month), default: RetentionSums()].joined += 1
    for stretch in stretches where stretch.start < rules.asOf {
      // Active at the ends of the months from the start's to the one before the end's.
      let from = rules.calendar.month(of: stretch.start)
      let until = stretch.end.map { rules.calendar.month(of: $0) }
      guard until != from else { continue }
      facts.retention[key(from), default: RetentionSums()].activeChange += 1
      if let until { facts.retention[key(until), default: RetentionSums()].activeChange -= 1 }
    }
    for booking in bookings where booking.productType == .subscription {
      let cell = key(rules.calendar.month(of: booking.time))
      var sums = facts.retention[cell] ?? RetentionSums()
      try sums.netUSD.add(booking.money.grossUSD.map { booking.isRefund ? -$0 : $0 })
      facts.retention[cell] = sums
    }
  }
}
