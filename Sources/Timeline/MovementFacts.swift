import Vocabulary

extension Life {
  /// Subscriptions that enter, leave or change a row, dated when it takes effect.
  func bookMovements(into facts: inout Facts) throws(AmountOverflow) {
    for stretch in stretches {
      var product = periods[stretch.periods[0]].product
      move(stretch.opening, product, at: stretch.start, 1, &facts)
      for index in stretch.periods.dropFirst() where periods[index].product != product {
        move(.transferOut, product, at: periods[index].start, 1, &facts)
        product = periods[index].product
        move(.transferIn, product, at: periods[index].start, 1, &facts)
      }
      if let end = stretch.end {
        move(stretch.closing, product, at: end, 1, &facts)
        if let reason = stretch.reason { move(reason.movement, product, at: end, 1, &facts) }
      }
      bookAutoRenew(of: stretch, into: &facts)
    }
    bookLost(into: &facts)
  }

  private func move(
    _ movement: Movement, _ product: Symbol, at instant: Instant, _ count: Int64,
    _ facts: inout Facts
  ) {
    guard instant < rules.asOf else { return }
    let key = MovementKey(day: day(instant), offering: offering(product), movement: movement)
    facts.movements[key, default: MovementSums()].subscriptions += count
  }

  /// Auto-renew goes off with a cancel inside the stretch, and on again with the next charge.
  private func bookAutoRenew(of stretch: ActiveStretch, into facts: inout Facts) {
    for (position, index) in stretch.periods.enumerated() {
      let period = periods[index]
      let isLast = position + 1 == stretch.periods.count
      let limit = isLast ? stretch.end : periods[stretch.periods[position + 1]].start
      for (off, on) in autoRenewOffTimes(of: period, until: limit) {
        move(.autoRenewOff, period.product, at: off, 1, &facts)
        if let on { move(.autoRenewOff, period.product, at: on, -1, &facts) }
      }
    }
  }

  /// When auto-renew was off within a period: from a cancel to its withdrawal or to `limit`.
  private func autoRenewOffTimes(
    of period: Period, until limit: Instant?
  ) -> [(off: Instant, on: Instant?)] {
    var times: [(off: Instant, on: Instant?)] = []
    var since: Instant?
    for index in period.eventRange.dropFirst() {
      let event = events[index]
      if let limit, event.time >= limit { break }
      if event.isCancel, since == nil { since = max(event.time, period.start) }
      if event.kind == .uncanceled, let off = since {
        times.append((off, event.time))
        since = nil
      }
    }
    if let off = since { times.append((off, limit)) }
    return times
  }

  /// Active at a month's open, with an end in the month, and neither active nor paused at its
  /// close: once a month.
  private func bookLost(into facts: inout Facts) {
    var counted: Month?
    for stretch in stretches.reversed() {
      guard let end = stretch.end, end < rules.asOf else { continue }
      let month = rules.calendar.month(of: end)
      guard month != counted else { continue }
      counted = month
      let open = rules.calendar.start(of: month)
      let close = min(rules.calendar.start(of: month.next), rules.asOf)
      guard let held = stretches.first(where: { $0.isActive(at: open) }),
        !stretches.contains(where: { $0.isActive(at: close) }),
        stretches.last(where: { $0.start < close })?.closing != .paused
      else { continue }
      move(.lost, product(of: held, at: open), at: end, 1, &facts)
    }
  }

  private func product(of stretch: ActiveStretch, at boundary: Instant) -> Symbol {
    let held = stretch.periods.last { periods[$0].start < boundary } ?? stretch.periods[0]
    return periods[held].product
  }
}

extension ChurnReason {
  /// The column of the churn report that this reason is counted in.
  var movement: Movement {
    switch self {
    case .refund: .churnedRefund
    case .involuntary: .churnedInvoluntary
    case .priceIncrease: .churnedPriceIncrease
    case .developer: .churnedDeveloper
    case .voluntary: .churnedVoluntary
    case .unknown: .churnedUnknown
    }
  }
}
