import Domain

extension SubscriptionHistory {
  /// Arrivals by event, and missing data by charge and by period.
  func bookGaps<Target: Books>(into books: inout Target) {
    bookArrivalHours(into: &books)
    guard !reported[0].provider.capabilities.sendsWholeCharges else { return }
    for index in bookings.indices where !bookings[index].isRefund {
      let booking = bookings[index]
      let source = ContributionOrigin(.booking(index), at: booking.time)
      switch booking.money.basis {
      case .none:
        let isOffer = events[bookings[index].event].offer != 0
        count(isOffer ? .offerWithoutPrice : .chargeWithoutAmount, source, &books)
      case .priceBook: count(.chargeFromPriceBook, source, &books)
      case .provider: break
      }
      if !isChained, booking.productType == .subscription {
        count(.unchainedCharge, source, &books)
      }
    }
    guard isChained else { return }
    for index in periods.indices {
      let period = periods[index]
      guard !period.isTrial, period.start < rules.asOf else { continue }
      let source = ContributionOrigin(.opening(index, after: nil), at: period.start)
      if period.end == nil { count(.openEndedPeriod, source, &books) }
      if period.isEndDerived { count(.derivedEnd, source, &books) }
    }
  }

  private func bookArrivalHours<Target: Books>(into books: inout Target) {
    for index in reported.indices where reported[index].observation?.isUndated != true {
      let event = reported[index]
      let key = CoverageKey(
        arrivalsIn: event.arrivedAt.hour, provider: event.provider, app: event.app)
      let source = ContributionOrigin(.reported(index, overtakenBy: nil), at: event.time)
      books.add(1, to: key, from: source)
    }
  }

  private func count<Target: Books>(
    _ gap: CoverageGap, _ source: ContributionOrigin, _ books: inout Target
  ) {
    let key = CoverageKey(
      day: day(source.at), provider: reported[0].provider, app: reported[0].app, gap: gap)
    books.add(1, to: key, from: source)
  }
}
