import Vocabulary

/// Monthly recurring revenue of one lineage.
struct RecurringRevenue: Equatable {
  var usd = Amount.zero
  /// In `currency`; nil when not known.
  var local: Amount?
  var currency: Symbol = 0
}

extension Life {
  /// MRR that a period's charge brings; nil when its length or amount is unknown or zero length.
  ///
  /// Contract §5: gross × 1/m for a length of m months, × (365/12)/n for one of n days.
  func recurringRevenue(of period: Period) throws(AmountOverflow) -> RecurringRevenue? {
    guard let index = period.booking, let gross = bookings[index].money.grossUSD,
      let length = length(of: period)
    else { return nil }
    let booking = bookings[index]
    var revenue = RecurringRevenue(usd: try length.monthly(gross), currency: booking.currency)
    if let local = booking.money.grossLocal { revenue.local = try length.monthly(local) }
    return revenue
  }

  private func length(of period: Period) -> PeriodLength? {
    if period.end == period.start { return nil }
    if let configured = rules.periods[period.product] { return configured }
    guard let end = period.end else { return nil }
    return PeriodLength(from: period.start, to: end)
  }

  /// Recurring revenue that enters, leaves or changes a row.
  func bookRecurringRevenue(into facts: inout Facts) throws(AmountOverflow) {
    var current = RecurringRevenue()
    for stretch in stretches {
      var product = periods[stretch.periods[0]].product
      current = try recurringRevenue(of: periods[stretch.periods[0]]) ?? current
      try move(stretch.opening, product, stretch.start, current.usd, &facts)
      for index in stretch.periods.dropFirst() {
        let period = periods[index]
        let next = try recurringRevenue(of: period) ?? current
        if period.product != product || next.currency != current.currency {
          try move(.transferOut, product, period.start, current.usd, &facts)
          try move(.transferIn, period.product, period.start, next.usd, &facts)
        } else {
          try bookChange(from: current, to: next, period, &facts)
        }
        product = period.product
        current = next
      }
      if let end = stretch.end { try move(.churned, product, end, current.usd, &facts) }
    }
  }

  /// Splits a change into what the local price explains and what the exchange rate does.
  private func bookChange(
    from old: RecurringRevenue, to new: RecurringRevenue, _ period: Period, _ facts: inout Facts
  ) throws(AmountOverflow) {
    let change = try new.usd.subtracting(old.usd)
    var byPrice = change
    if let oldLocal = old.local, let newLocal = new.local, oldLocal > .zero {
      byPrice = try newLocal.subtracting(oldLocal).scaled(
        by: old.usd.micros, over: oldLocal.micros)
    }
    let byRate = try change.subtracting(byPrice)
    if byPrice > .zero { try move(.expansion, period.product, period.start, byPrice, &facts) }
    if byPrice < .zero { try move(.contraction, period.product, period.start, -byPrice, &facts) }
    if byRate != .zero { try move(.fx, period.product, period.start, byRate, &facts) }
  }

  private func move(
    _ movement: Movement, _ product: Symbol, _ instant: Instant, _ amount: Amount,
    _ facts: inout Facts
  ) throws(AmountOverflow) {
    guard instant < rules.asOf, amount != .zero else { return }
    let key = MovementKey(day: day(instant), offering: offering(product), movement: movement)
    var sums = facts.movements[key] ?? MovementSums()
    sums.mrr = try sums.mrr.adding(amount)
    facts.movements[key] = sums
  }
}

extension PeriodLength {
  /// The length of a period by its ends: 28–45 days are a month; above, whole months when at most
  /// three days off, with a mean month of 30.4375 days; else days.
  init(from start: Instant, to end: Instant) {
    let milliseconds = end.since(start).milliseconds
    let days = max(1, Int((milliseconds + 43_200_000) / 86_400_000))
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
    switch self {
    case .months(let count): try amount.scaled(by: 1, over: Int64(count))
    case .days(let count): try amount.scaled(by: 365, over: 12 * Int64(count))
    }
  }
}
