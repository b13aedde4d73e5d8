public import Domain

struct RecurringRevenue: Equatable {
  /// The monthly share, in US dollars.
  var usd = Amount.zero
  /// The price of the whole period, always with US dollars; zero before the first period.
  var price = Price(usd: .zero)
  var length = PeriodLength.months(1)
}

extension SubscriptionHistory {
  /// The MRR of a period's charge; nil when its amount or length is unknown, or its length is zero.
  ///
  /// Contract §5: gross × 1/m for a length of m months, × (365/12)/n for one of n days.
  func recurringRevenue(of period: Period) throws(AmountOverflow) -> RecurringRevenue? {
    guard let index = period.booking, let gross = bookings[index].money.grossUSD,
      let length = length(of: period)
    else { return nil }
    return RecurringRevenue(
      usd: try length.monthly(gross), price: bookings[index].price, length: length)
  }

  /// The length that was paid for, whatever happened to the period.
  private func length(of period: Period) -> PeriodLength? {
    if period.paidUntil == period.start { return nil }
    return rules.periods[period.product]
      ?? period.paidUntil.map { PeriodLength(from: period.start, to: $0) }
  }

  /// Splits a change of MRR into the effects of the local price and of the exchange rate.
  func bookChange(
    from old: RecurringRevenue, to new: RecurringRevenue, _ product: ProductKey,
    _ paid: ContributionOrigin, _ books: inout Books
  ) throws(AmountOverflow) {
    let change = try new.usd.subtracting(old.usd)
    var byPrice = change
    // Amounts beyond the bound, which no real price reaches, are not split.
    if let oldLocal = old.price.local, let newLocal = new.price.local, oldLocal > .zero,
      let reported = try? priceChange(from: old, oldLocal, to: new, newLocal),
      reported.magnitude <= .lineMaxUSD
    {
      byPrice = reported
    }
    let byRate = try change.subtracting(byPrice)
    if byPrice > .zero { try move(.expansion, product, .init(mrr: byPrice), paid, &books) }
    if byPrice < .zero { try move(.contraction, product, .init(mrr: -byPrice), paid, &books) }
    if byRate != .zero { try move(.fx, product, .init(mrr: byRate), paid, &books) }
  }

  /// The monthly change of the local price at the old exchange rate, rounded once:
  /// (new local × new share − old local × old share) × old US dollars / old local.
  private func priceChange(
    from old: RecurringRevenue, _ oldLocal: Amount, to new: RecurringRevenue, _ newLocal: Amount
  ) throws(AmountOverflow) -> Amount {
    let (oldShare, newShare) = (old.length.monthlyShare, new.length.monthlyShare)
    // At most 115 bits: an amount has 63, and twelve times the days until the year 9999 has 26.
    let before = Int128(oldLocal.micros) * Int128(oldShare.numerator * newShare.denominator)
    let after = Int128(newLocal.micros) * Int128(newShare.numerator * oldShare.denominator)
    let (exact, overflow) = (after - before).multipliedReportingOverflow(
      by: Int128(old.price.usd?.micros ?? 0))
    guard !overflow else { throw AmountOverflow() }
    let divisor = Int128(oldLocal.micros) * Int128(oldShare.denominator * newShare.denominator)
    guard let rounded = Int64(exactly: exact.dividedHalfToEven(by: divisor)) else {
      throw AmountOverflow()
    }
    return Amount(micros: rounded)
  }
}

extension PeriodLength {
  /// The length of a period with these ends: 28–45 days are a month; more are whole months of
  /// 30.4375 days if at most three days off; else days.
  public init(from start: Instant, to end: Instant) {
    let days = max(1, Int(end.since(start).rounded(dividingBy: .days(1))))
    if days < 28 {
      self = .days(days)
    } else if days <= 45 {
      self = .months(1)
    } else {
      // In units of 1/10,000 day, so that 30.4375 is a whole number.
      let scaled = days * 10_000
      let months = (scaled + 152_187) / 304_375
      self = abs(scaled - months * 304_375) <= 30_000 ? .months(months) : .days(days)
    }
  }

  /// The monthly share of an amount paid for this length, rounded half to even.
  func monthly(_ amount: Amount) throws(AmountOverflow) -> Amount {
    let share = monthlyShare
    return try amount.scaled(by: share.numerator, over: share.denominator)
  }

  /// The share of this length in an average month.
  var monthlyShare: (numerator: Int64, denominator: Int64) {
    switch self {
    case .months(let count): (1, Int64(count))
    case .days(let count): (365, 12 * Int64(count))
    }
  }
}
