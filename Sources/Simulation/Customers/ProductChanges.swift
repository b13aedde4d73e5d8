import Domain

// Product changes and refunds.

extension CustomerSimulator {
  /// Upgrades at once; nil when there is no better product or it is too late.
  mutating func upgrade(_ period: inout AccessPeriod) -> Charging? {
    let targets: [Product: [Product]] = [
      .weekly: [.monthly, .yearly], .monthly: [.plus, .yearly], .plus: [.yearly],
    ]
    guard let better = targets[period.product] else { return nil }
    let time = random.between(period.start + day, period.end - day)
    // Google makes it a new purchase, which is another subscription.
    guard customer.person.shop.store != .playStore, isVisible(period), time < span.end
    else { return nil }
    let product = better[Int(random.below(Int64(better.count)))]
    period.replacedAt = time
    if random.chance(400_000) { remainder(of: &period, at: time, to: product) }
    return Charging(kind: .productChange, time: time, start: time, product: product)
  }

  /// Refunds the rest of the old period, sent as a product change with a negative value.
  private mutating func remainder(
    of period: inout AccessPeriod, at time: Int64, to product: Product
  ) {
    let percent = random.between(30, 70)
    guard let refund = refundMoney(period.charge, at: time, percent: percent) else { return }
    period.charge.refund = refund
    var occurrence = occurrence(.productChanged, at: time, period)
    occurrence.charge.product = product
    occurrence.previousProduct = period.charge.product
    occurrence.revenue = -refund.revenue
    occurrence.expires = time
    occurrence.access.product = product
    occurrence.access.until = product.end(from: time)
    record(occurrence)
  }

  /// Chooses a smaller product, which starts at the next renewal.
  mutating func downgrade(_ period: AccessPeriod) -> Charging? {
    guard [.plus, .yearly].contains(period.product) else { return nil }
    let product = Product.monthly
    let time = random.between(period.start + hour, period.end - hour)
    if time < span.end {
      var occurrence = occurrence(.downgraded, at: time, period)
      occurrence.charge.product = product
      occurrence.previousProduct = period.charge.product
      record(occurrence)
    }
    return renew(period, as: product)
  }

  /// Refunds the current period and ends access; nil when that is impossible.
  mutating func takeBack(_ period: inout AccessPeriod) -> Charging?? {
    let time = random.between(period.start + hour, period.end - hour)
    guard time < span.end - 49 * hour, isVisible(period) else { return nil }
    period.revokedAt = time
    refund(&period, at: time, percent: 100)
    return .some(random.chance(200_000) ? comeBack(period, after: time) : nil)
  }

  /// Refunds a part as a goodwill gesture; access continues.
  mutating func refundPart(_ period: inout AccessPeriod) {
    guard isVisible(period) else { return }
    let time = random.between(period.start + hour, period.end - hour)
    refund(&period, at: time, percent: random.between(30, 70))
  }

  /// Refunds the whole previous period; access continues.
  mutating func refundOlder(during period: AccessPeriod) {
    let index = customer.subscriptions[current].periods.count - 1
    guard index >= 0 else { return }
    var older = customer.subscriptions[current].periods[index]
    guard isVisible(older), older.charge.refund == nil, older.replacedAt == nil else { return }
    refund(
      &older, at: random.between(period.start + hour, period.end - hour), percent: 100,
      index: index)
    customer.subscriptions[current].periods[index] = older
  }

  mutating func refund(
    _ period: inout AccessPeriod, at time: Int64, percent: Int64, index: Int? = nil
  ) {
    guard let refund = refundMoney(period.charge, at: time, percent: percent) else { return }
    period.charge.refund = refund
    var occurrence = occurrence(.refunded, at: time, period, index: index)
    describe(refund, in: &occurrence)
    occurrence.access.isActive = period.revokedAt == nil && time < period.end
    record(occurrence)
  }

  private mutating func describe(_ refund: Refund, in occurrence: inout Occurrence) {
    // Most values are negative as documented; the kind shows the refund in any case.
    occurrence.revenue = random.chance(800_000) ? -refund.revenue : refund.revenue
    occurrence.expires = refund.time
    occurrence.isAbroad = random.chance(100_000)
  }

  /// The refunded money, in US dollars of that day; nil at or after the end of the scenario.
  private func refundMoney(_ charge: Charge, at time: Int64, percent: Int64) -> Refund? {
    guard time < span.end else { return nil }
    let market = customer.person.market
    let whole = charge.revenue.local
    let local = percent == 100 ? whole : market.priced(whole, percent, 100)
    return Refund(
      time: time, revenue: market.money(local, at: time), isWhole: percent == 100)
  }

  /// A one-time purchase, sometimes refunded.
  mutating func buyOnce(at time: Int64) {
    guard time < span.end else { return }
    let product = random.chance(700_000) ? Product.coins : Product.lifetime
    let shop = customer.person.shop
    let market = customer.person.market
    var charge = Charge(
      kind: .oneTime, transaction: TransactionNumber(base: bases, index: 0), time: time,
      product: product, gross: market.money(listPrice(of: product, at: time), at: time),
      rate: shop.proceedsRate(at: time, paidSince: time),
      sendsProceeds: shop.sendsProceeds(at: time, in: span))
    var bought = Occurrence(
      kind: .purchased, time: time, part: .purchase(customer.purchases.count), charge: charge,
      revenue: charge.revenue, transactionDate: time,
      access: Access(isActive: true, started: time, product: product))
    record(bought)
    let later = time + random.between(day, 40 * day)
    let percent: Int64 = random.chance(700_000) ? 100 : 50
    if random.chance(60_000), let refund = refundMoney(charge, at: later, percent: percent) {
      charge.refund = refund
      bought.kind = .purchaseRefunded
      bought.time = later
      bought.access.isActive = !refund.isWhole
      describe(refund, in: &bought)
      record(bought)
    }
    customer.purchases.append(charge)
  }
}
