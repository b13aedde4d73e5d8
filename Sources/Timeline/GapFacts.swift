import Vocabulary

extension Life {
  /// What the data leaves open, charge by charge and period by period.
  func bookGaps(into facts: inout Facts) {
    guard told[0].provider != .qonversion else { return }
    for booking in bookings where !booking.isRefund {
      switch booking.money.basis {
      case .none: count(.chargeWithoutAmount, at: booking.time, &facts)
      case .priceBook: count(.chargeFromPriceBook, at: booking.time, &facts)
      case .provider: break
      }
      if !isChained, booking.productType == .subscription {
        count(.unchainedCharge, at: booking.time, &facts)
      }
    }
    guard isChained else { return }
    for period in periods where !period.isTrial && period.start < rules.asOf {
      if period.end == nil { count(.openEndedPeriod, at: period.start, &facts) }
      if period.isEndDerived { count(.derivedEnd, at: period.start, &facts) }
    }
  }

  private func count(_ gap: CoverageGap, at time: Instant, _ facts: inout Facts) {
    let key = CoverageKey(day: day(time), provider: told[0].provider, app: told[0].app, gap: gap)
    facts.gaps[key, default: 0] += 1
  }
}
