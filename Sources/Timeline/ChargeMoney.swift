import Vocabulary

/// What a charge comes to, and by how much price and proceeds disagree when they do.
///
/// Contract, "Money": with `is_proceed` 0 the revenue is the price and proceeds follow from the
/// rate; with 1 it is the proceeds and the price follows, taken from `price` when that agrees.
func chargeMoney(
  _ event: Event
) throws(AmountOverflow) -> (money: Money, mismatch: Amount?) {
  guard let revenue = event.revenue, revenue.usd != nil || revenue.local != nil else {
    return (.unknown, nil)
  }
  var money = Money(rate: revenue.rate, basis: .provider)
  guard revenue.isProceed == true else {
    money.grossUSD = revenue.usd
    money.grossLocal = revenue.local
    money.proceedsUSD = try share(of: revenue.usd, revenue.rate)
    money.proceedsLocal = try share(of: revenue.local, revenue.rate)
    return (money, nil)
  }
  money.proceedsUSD = revenue.usd
  money.proceedsLocal = revenue.local
  let price = event.price
  let sameCurrency = price.map { $0.currency == revenue.currency || $0.currency == 0 } ?? false
  let usd = try gross(of: revenue.usd, revenue.rate, price: price?.usd)
  let local = try gross(
    of: revenue.local, revenue.rate, price: sameCurrency ? price?.local : nil)
  money.grossUSD = usd.gross
  money.grossLocal = local.gross
  return (money, usd.mismatch)
}

extension Rules {
  /// The money of a charge, and its currency: as sent, else by the price list.
  ///
  /// The list is for providers that send no amounts; one that Qonversion leaves out is unknown.
  func completed(
    _ money: Money, of event: Event
  ) throws(AmountOverflow) -> (money: Money, currency: Symbol) {
    let currency = event.revenue?.currency ?? 0
    guard money.basis == .none, event.provider != .qonversion,
      let price = prices.price(
        of: event.product, in: event.store, country: event.country, currency: currency,
        at: event.time)
    else { return (money, currency) }
    var listed = Money(rate: price.rate, basis: .priceBook)
    listed.grossUSD = price.usd
    listed.grossLocal = price.local
    listed.proceedsUSD = try share(of: price.usd, price.rate)
    listed.proceedsLocal = try share(of: price.local, price.rate)
    return (listed, price.currency)
  }
}

extension Event {
  /// Whether the event refunds a charge whole because its provider sends no amounts with it.
  var givesBackAll: Bool {
    kind.isRefund && provider != .qonversion && revenue?.usd == nil && revenue?.local == nil
  }
}

/// What a refund comes to at the rate of its charge, else at its own.
func refundMoney(_ event: Event, rate: Amount?) throws(AmountOverflow) -> Money {
  guard let revenue = event.revenue, revenue.usd != nil || revenue.local != nil else {
    return Money(rate: rate)
  }
  let usd = revenue.usd?.magnitude
  let local = revenue.local?.magnitude
  var money = Money(rate: rate, basis: .provider)
  if revenue.isProceed == true {
    money.proceedsUSD = usd
    money.proceedsLocal = local
    money.grossUSD = try gross(of: usd, rate, price: nil).gross
    money.grossLocal = try gross(of: local, rate, price: nil).gross
  } else {
    money.grossUSD = usd
    money.grossLocal = local
    money.proceedsUSD = try share(of: usd, rate)
    money.proceedsLocal = try share(of: local, rate)
  }
  return money
}

private func share(of gross: Amount?, _ rate: Amount?) throws(AmountOverflow) -> Amount? {
  guard let gross, let rate else { return nil }
  return try gross.percent(rate)
}

/// The price behind `proceeds`; `mismatch` is price − derived price where the two disagree by more
/// than 0.5 % and more than 0.01.
private func gross(
  of proceeds: Amount?, _ rate: Amount?, price: Amount?
) throws(AmountOverflow) -> (gross: Amount?, mismatch: Amount?) {
  guard let proceeds, let rate, rate > .zero else { return (nil, nil) }
  let derived = try proceeds.grossedUp(by: rate)
  guard let price else { return (derived, nil) }
  let difference = try price.subtracting(derived)
  let cent = Amount(micros: 10_000)
  let tolerance = max(cent, try derived.magnitude.scaled(by: 5, over: 1000))
  return difference.magnitude <= tolerance ? (price, nil) : (derived, difference)
}
