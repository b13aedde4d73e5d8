import Domain

extension SubscriptionHistory {
  /// Books subscriptions and MRR that enter, leave or change a row, when the movement takes effect.
  func bookMovements(into books: inout Books) throws(AmountOverflow) {
    var revenue = RecurringRevenue()
    var before: Int?
    for stretch in stretches {
      var last = stretch.periods[0]
      var product = productKey(ofPeriod: last)
      revenue = try recurringRevenue(of: periods[last]) ?? revenue
      let opened = ContributionOrigin(.opening(last, after: before), at: stretch.start)
      try move(stretch.opening, product, .one, opened, &books)
      try move(stretch.opening, product, .init(mrr: revenue.usd), opened, &books)
      for index in stretch.periods.dropFirst() {
        let start = periods[index].start
        let isSame = !isShared && periods[index].product == product.product
        let next = isSame ? product : productKey(ofPeriod: index)
        let changed = ContributionOrigin(.opening(index, after: index - 1), at: start)
        if next != product {
          try move(.transferOut, product, .one, changed, &books)
          try move(.transferIn, next, .one, changed, &books)
        }
        try bookAutoRenew(ofPeriod: last, until: start, into: &books)
        let paid = try recurringRevenue(of: periods[index]) ?? revenue
        if next != product || areDifferentCurrencies(paid.price.currency, revenue.price.currency) {
          try move(.transferOut, product, .init(mrr: revenue.usd), changed, &books)
          try move(.transferIn, next, .init(mrr: paid.usd), changed, &books)
        } else {
          try bookChange(from: revenue, to: paid, product, changed, &books)
        }
        (last, product, revenue) = (index, next, paid)
      }
      if let end = stretch.end {
        let ended = ContributionOrigin(.ending(last), at: end)
        try move(stretch.closing, product, .one, ended, &books)
        if let reason = stretch.reason { try move(reason.movement, product, .one, ended, &books) }
        try move(stretch.closing, product, .init(mrr: revenue.usd), ended, &books)
      }
      try bookAutoRenew(ofPeriod: last, until: stretch.end, into: &books)
      before = last
    }
    try bookLost(into: &books)
  }

  /// Books a movement in the row of `product`, unless it is zero or takes effect after as-of.
  func move(
    _ movement: Movement, _ product: ProductKey, _ sums: MovementSums, _ source: ContributionOrigin,
    _ books: inout Books
  ) throws(AmountOverflow) {
    guard source.at < rules.asOf, sums.subscriptions != 0 || sums.mrr != .zero else { return }
    let key = MovementKey(month: month(source.at), productKey: product, movement: movement)
    try books.add(.movement(key, sums), from: source)
  }

  /// Books auto-renew off at a cancel in the period, and on again at the next charge.
  private func bookAutoRenew(
    ofPeriod index: Int, until limit: Instant?, into books: inout Books
  ) throws(AmountOverflow) {
    let period = periods[index]
    for (event, on) in period.autoRenewOff(events, before: limit) {
      let off = max(events[event].time, period.start)
      let switched = ContributionOrigin(.event(event), at: off)
      let product = productKey(ofPeriod: index)
      try move(.autoRenewOff, product, .one, switched, &books)
      guard let on = on ?? limit else { continue }
      let back = ContributionOrigin(.event(event), at: on)
      try move(.autoRenewOff, product, .init(subscriptions: -1), back, &books)
    }
  }

  /// Books subscriptions that were active when a month opened, ended in the month, and were neither
  /// active nor paused at its close; at most once a month.
  private func bookLost(into books: inout Books) throws(AmountOverflow) {
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
      let period = held.periods.last { periods[$0].start < open } ?? held.periods[0]
      try move(.lost, productKey(ofPeriod: period), .one, ended, &books)
    }
  }
}

extension ChurnReason {
  /// The column of the churn report that counts this reason.
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
