import Vocabulary

extension Life {
  /// Subscriptions that enter, leave or change a row, dated when it takes effect.
  func bookMovements<Target: Books>(into books: inout Target) throws(AmountOverflow) {
    var before: Int?
    for stretch in stretches {
      var product = periods[stretch.periods[0]].product
      let opened = ShareSource(.opening(stretch.periods[0], after: before), at: stretch.start)
      try move(stretch.opening, product, 1, opened, &books)
      for index in stretch.periods.dropFirst() where periods[index].product != product {
        let changed = ShareSource(.opening(index, after: index - 1), at: periods[index].start)
        try move(.transferOut, product, 1, changed, &books)
        product = periods[index].product
        try move(.transferIn, product, 1, changed, &books)
      }
      before = stretch.periods.last
      if let end = stretch.end, let last = before {
        let ended = ShareSource(.ending(last), at: end)
        try move(stretch.closing, product, 1, ended, &books)
        if let reason = stretch.reason { try move(reason.movement, product, 1, ended, &books) }
      }
      try bookAutoRenew(of: stretch, into: &books)
    }
    try bookLost(into: &books)
  }

  private func move<Target: Books>(
    _ movement: Movement, _ product: Symbol, _ count: Int64, _ source: ShareSource,
    _ books: inout Target
  ) throws(AmountOverflow) {
    guard source.at < rules.asOf else { return }
    let key = MovementKey(month: month(source.at), offering: offering(product), movement: movement)
    var sums = MovementSums()
    sums.subscriptions = count
    try books.add(sums, to: key, from: source)
  }

  /// Auto-renew goes off with a cancel inside the stretch, and on again with the next charge.
  private func bookAutoRenew<Target: Books>(
    of stretch: ActiveStretch, into books: inout Target
  ) throws(AmountOverflow) {
    for (position, index) in stretch.periods.enumerated() {
      let period = periods[index]
      let isLast = position + 1 == stretch.periods.count
      let limit = isLast ? stretch.end : periods[stretch.periods[position + 1]].start
      for (event, off, on) in autoRenewOffTimes(of: period, until: limit) {
        let switched = ShareSource(.renewSwitch(event), at: off)
        try move(.autoRenewOff, period.product, 1, switched, &books)
        guard let on else { continue }
        try move(
          .autoRenewOff, period.product, -1, ShareSource(.renewSwitch(event), at: on), &books)
      }
    }
  }

  /// When auto-renew was off within a period, and by which event: from a cancel to its withdrawal
  /// or to `limit`.
  private func autoRenewOffTimes(
    of period: Period, until limit: Instant?
  ) -> [(event: Int, off: Instant, on: Instant?)] {
    var times: [(event: Int, off: Instant, on: Instant?)] = []
    var since: (event: Int, off: Instant)?
    for index in period.eventRange.dropFirst() {
      let event = events[index]
      if let limit, event.time >= limit { break }
      if event.isCancel, since == nil { since = (index, max(event.time, period.start)) }
      if event.kind == .uncanceled, let off = since {
        times.append((off.event, off.off, event.time))
        since = nil
      }
    }
    if let off = since { times.append((off.event, off.off, limit)) }
    return times
  }

  /// Active at a month's open, with an end in the month, and neither active nor paused at its
  /// close: once a month.
  private func bookLost<Target: Books>(into books: inout Target) throws(AmountOverflow) {
    var counted: Month?
    for stretch in stretches.reversed() {
      guard let end = stretch.end, end < rules.asOf, let last = stretch.periods.last else {
        continue
      }
      let month = rules.calendar.month(of: end)
      guard month != counted else { continue }
      counted = month
      let open = rules.calendar.start(of: month)
      let close = min(rules.calendar.start(of: month.next), rules.asOf)
      guard let held = stretches.first(where: { $0.isActive(at: open) }),
        !stretches.contains(where: { $0.isActive(at: close) }),
        stretches.last(where: { $0.start < close })?.closing != .paused
      else { continue }
      try move(.lost, product(of: held, at: open), 1, ShareSource(.ending(last), at: end), &books)
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
