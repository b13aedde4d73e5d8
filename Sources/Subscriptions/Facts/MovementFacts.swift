import Domain

extension SubscriptionHistory {
  /// Subscriptions that enter, leave or change a row, dated when it takes effect.
  func bookMovements<Target: Books>(into books: inout Target) throws(AmountOverflow) {
    var before: Int?
    for stretch in stretches {
      var product = productKey(ofPeriod: stretch.periods[0])
      let opened = ContributionOrigin(
        .opening(stretch.periods[0], after: before), at: stretch.start)
      try move(stretch.opening, product, .one, opened, &books)
      for index in stretch.periods.dropFirst()
      where isShared || periods[index].product != product.product {
        let next = productKey(ofPeriod: index)
        guard next != product else { continue }
        let changed = ContributionOrigin(
          .opening(index, after: index - 1), at: periods[index].start)
        try move(.transferOut, product, .one, changed, &books)
        product = next
        try move(.transferIn, product, .one, changed, &books)
      }
      before = stretch.periods.last
      if let end = stretch.end, let last = before {
        let ended = ContributionOrigin(.ending(last), at: end)
        try move(stretch.closing, product, .one, ended, &books)
        if let reason = stretch.reason { try move(reason.movement, product, .one, ended, &books) }
      }
      try bookAutoRenew(of: stretch, into: &books)
    }
    try bookLost(into: &books)
  }

  /// Books what moves in the row of `product`, unless it is nothing or as-of comes first.
  func move<Target: Books>(
    _ movement: Movement, _ product: ProductKey, _ sums: MovementSums, _ source: ContributionOrigin,
    _ books: inout Target
  ) throws(AmountOverflow) {
    guard source.at < rules.asOf, sums.subscriptions != 0 || sums.mrr != .zero else { return }
    let key = MovementKey(
      month: month(source.at), productKey: product, movement: movement)
    try books.add(.movement(key, sums), from: source)
  }

  /// Auto-renew goes off with a cancel inside the stretch, and on again with the next charge.
  private func bookAutoRenew<Target: Books>(
    of stretch: ActiveInterval, into books: inout Target
  ) throws(AmountOverflow) {
    for (position, index) in stretch.periods.enumerated() {
      let period = periods[index]
      let isLast = position + 1 == stretch.periods.count
      let limit = isLast ? stretch.end : periods[stretch.periods[position + 1]].start
      for (event, off, on) in autoRenewOffTimes(of: period, until: limit) {
        let switched = ContributionOrigin(.renewSwitch(event), at: off)
        let product = productKey(ofPeriod: index)
        try move(.autoRenewOff, product, .one, switched, &books)
        guard let on else { continue }
        let back = ContributionOrigin(.renewSwitch(event), at: on)
        try move(.autoRenewOff, product, .init(subscriptions: -1), back, &books)
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
    for index in period.ownStart(events)..<period.eventsEnd
    where period.isOwn(index, events) {
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
      let month = month(end)
      guard month != counted else { continue }
      counted = month
      let open = rules.calendar.start(of: month)
      let close = min(rules.calendar.start(of: month.next), rules.asOf)
      guard let held = stretches.first(where: { $0.isActive(at: open) }),
        !stretches.contains(where: { $0.isActive(at: close) }),
        stretches.last(where: { $0.start < close })?.closing != .paused
      else { continue }
      let ended = ContributionOrigin(.ending(last), at: end)
      try move(.lost, product(of: held, at: open), .one, ended, &books)
    }
  }

  private func product(of stretch: ActiveInterval, at boundary: Instant) -> ProductKey {
    let held = stretch.periods.last { periods[$0].start < boundary } ?? stretch.periods[0]
    return productKey(ofPeriod: held)
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

extension MovementSums {
  static var one: MovementSums { MovementSums(subscriptions: 1) }
}
