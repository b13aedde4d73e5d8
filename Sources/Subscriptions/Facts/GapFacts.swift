import Domain

extension SubscriptionHistory {
  /// Books missing data by charge and by period.
  func bookGaps(into books: inout Books) throws(AmountOverflow) {
    for index in bookings.indices where !bookings[index].isRefund {
      let source = ContributionOrigin(.booking(index), at: bookings[index].time)
      let event = bookings[index].event
      if bookings[index].money.basis == .none, events[event].offer != 0 {
        try count(.offerWithoutPrice, of: event, source, &books)
      }
      if bookings[index].transaction == 0 {
        try count(.chargeWithoutTransaction, of: event, source, &books)
      }
      if !isChained, bookings[index].productType == .subscription {
        try count(.unchainedCharge, of: event, source, &books)
      }
    }
    guard isChained else { return }
    for index in periods.indices where !periods[index].isTrial {
      let (start, opener) = (periods[index].start, periods[index].opener)
      guard start < rules.asOf else { continue }
      let source = ContributionOrigin(.opening(index, after: nil), at: start)
      if periods[index].end == nil { try count(.openEndedPeriod, of: opener, source, &books) }
      if periods[index].isEndDerived { try count(.derivedEnd, of: opener, source, &books) }
    }
  }

  func bookArrivalHours(into books: inout Books) throws(AmountOverflow) {
    for index in reported.indices where reported[index].observation?.isUndated != true {
      let event = reported[index]
      // A retry or a later delivery closes the gap in the hour in which its message was created.
      let counted = event.isDated ? event.createdAt : event.arrivedAt
      let key = CoverageKey(arrivalsIn: counted.hour, feed: event.feed)
      let source = ContributionOrigin(.reported(index, overtakenBy: nil), at: event.time)
      try books.add(.gap(key, 1), from: source)
    }
  }

  private func count(
    _ gap: CoverageGap, of event: Int, _ source: ContributionOrigin, _ books: inout Books
  ) throws(AmountOverflow) {
    let key = CoverageKey(day: day(source.at), feed: events[event].feed, gap: gap)
    try books.add(.gap(key, 1), from: source)
  }
}
