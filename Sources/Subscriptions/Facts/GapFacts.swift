import Domain

extension SubscriptionHistory {
  /// Books arrivals by event, and missing data by charge and by period.
  func bookGaps(into books: inout Books) throws(AmountOverflow) {
    try bookArrivalHours(into: &books)
    guard !reported[0].provider.capabilities.sendsWholeCharges else { return }
    for index in bookings.indices where !bookings[index].isRefund {
      let booking = bookings[index]
      let source = ContributionOrigin(.booking(index), at: booking.time)
      switch booking.money.basis {
      case .none:
        let isOffer = events[bookings[index].event].offer != 0
        try count(isOffer ? .offerWithoutPrice : .chargeWithoutAmount, source, &books)
      case .priceBook: try count(.chargeFromPriceBook, source, &books)
      case .provider: break
      }
      if booking.transaction == 0 { try count(.chargeWithoutTransaction, source, &books) }
      if !isChained, booking.productType == .subscription {
        try count(.unchainedCharge, source, &books)
      }
    }
    guard isChained else { return }
    for index in periods.indices {
      let period = periods[index]
      guard !period.isTrial, period.start < rules.asOf else { continue }
      let source = ContributionOrigin(.opening(index, after: nil), at: period.start)
      if period.end == nil { try count(.openEndedPeriod, source, &books) }
      if period.isEndDerived { try count(.derivedEnd, source, &books) }
    }
  }

  private func bookArrivalHours(into books: inout Books) throws(AmountOverflow) {
    for index in reported.indices where reported[index].observation?.isUndated != true {
      let event = reported[index]
      let key = CoverageKey(
        arrivalsIn: event.countedAt.hour, provider: event.provider, app: event.app)
      let source = ContributionOrigin(.reported(index, overtakenBy: nil), at: event.time)
      try books.add(.gap(key, 1), from: source)
    }
  }

  private func count(
    _ gap: CoverageGap, _ source: ContributionOrigin, _ books: inout Books
  ) throws(AmountOverflow) {
    let key = CoverageKey(
      day: day(source.at), provider: reported[0].provider, app: reported[0].app, gap: gap)
    try books.add(.gap(key, 1), from: source)
  }
}

private extension Event {
  /// When an event counts for its feed: when its message was created, so that a retry or a later
  /// delivery closes the gap; when it arrived, if it has no time of its own.
  var countedAt: Instant { isDated ? createdAt : arrivedAt }
}
