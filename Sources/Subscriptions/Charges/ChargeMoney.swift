public import Domain

/// The amounts of a charge, and the difference between price and proceeds if they disagree.
///
/// Contract, "Money": with `is_proceed` 0 the revenue is the price, and the proceeds follow from
/// the rate; with 1 it is the proceeds, and the price follows, taken from `price` if that agrees. A
/// charge is positive, whatever the sign of its amounts. A rate is kept even without amounts. A
/// rate that no store has is ignored in favour of the price, and counts as unknown.
func chargeMoney(_ event: Event) throws(AmountOverflow) -> (money: Money, mismatch: Amount?) {
  guard let revenue = event.revenue, revenue.hasAmount else {
    return (Money(rate: event.revenue?.rate), nil)
  }
  let rate = event.hasImpossibleRate ? nil : revenue.rate
  let sent = (usd: revenue.usd?.magnitude, local: revenue.local?.magnitude)
  guard revenue.isProceed == true else {
    return (Money(price: sent.usd, local: sent.local, rate: rate, basis: .provider), nil)
  }
  var money = Money(proceedsUSD: sent.usd, proceedsLocal: sent.local, rate: rate, basis: .provider)
  let price = event.price
  let shown = price.flatMap { $0.currency == revenue.currency || $0.currency == 0 ? $0.local : nil }
  guard !event.hasImpossibleRate else {
    money.grossUSD = event.pricePaid(price?.usd, for: sent.usd)
    money.grossLocal = event.pricePaid(shown, for: sent.local)
    return (money, nil)
  }
  let usd = try gross(of: sent.usd, revenue.rate, price: price?.usd?.magnitude, max: .lineMaxUSD)
  let local = try gross(of: sent.local, revenue.rate, price: shown?.magnitude, max: .lineMax)
  money.grossUSD = usd.gross
  money.grossLocal = local.gross
  return (money, usd.mismatch)
}

extension FoldSettings {
  /// The money of a charge and its currency: as sent, or from the price book.
  ///
  /// The price book is for providers without amounts; one that Qonversion leaves out is unknown.
  func completed(_ money: Money, of event: Event) -> (money: Money, currency: StringID) {
    let currency = event.revenue?.currency ?? 0
    guard money.basis == .none, let price = listedPrice(of: event) else {
      return (money, currency)
    }
    let listed = price.amounts
    let known = Money(price: listed.usd, local: listed.local, rate: price.rate, basis: .priceBook)
    return (known, listed.currency == 0 ? currency : listed.currency)
  }

  /// The gross amount of a charge, before commission: as sent, or from the price book.
  func paid(for charge: Event) -> Revenue {
    let sent = charge.revenue ?? Revenue()
    guard !sent.hasAmount, let price = listedPrice(of: charge)?.amounts else { return sent }
    let currency = price.currency == 0 ? sent.currency : price.currency
    return Revenue(local: price.local, usd: price.usd, currency: currency)
  }

  /// The price of all units of a charge in the price book; nil when unknown.
  private func listedPrice(of charge: Event) -> PriceBook.Price? {
    guard !charge.provider.capabilities.sendsWholeCharges else { return nil }
    let sold = PricedProduct(
      product: charge.product, store: charge.store, currency: charge.revenue?.currency ?? 0,
      country: charge.country)
    let price = prices.price(of: sold, offer: charge.offer, at: charge.time)
    guard charge.units > 1, var all = price else { return price }
    all.amounts.local = all.amounts.local?.times(Int64(charge.units), max: .lineMax)
    all.amounts.usd = all.amounts.usd?.times(Int64(charge.units), max: .lineMaxUSD)
    return all.amounts.local == nil && all.amounts.usd == nil ? nil : all
  }
}

extension Amount {
  /// The share of one of `units`.
  func perUnit(of units: Int32) -> Amount? {
    units > 1 ? try? scaled(by: 1, over: Int64(units)) : self
  }
}

extension Event {
  /// The price of one unit before commission, in its currency; nil if not sent or a product change.
  public var unitPrice: Amount? {
    guard let chargeKind, chargeKind != .productChange else { return nil }
    return (try? chargeMoney(self))?.money.grossLocal?.perUnit(of: units)
  }

  /// Whether no store has this rate (stores have 40 to 100 %) and the price is reported too.
  ///
  /// A fraction is not a percentage, with or without a price.
  var hasImpossibleRate: Bool {
    guard let revenue, let rate = revenue.rate, revenue.isNotZero,
      !(Amount(micros: 40_000_000)...Amount(micros: 100_000_000)).contains(rate)
    else { return false }
    let isReported = revenue.isProceed != true || price?.usd != nil || price?.local != nil
    return isReported || (rate > .zero && rate <= Amount(micros: 1_000_000))
  }

  /// The reported price of the charge, unless the proceeds are unknown or above it.
  func pricePaid(_ price: Amount?, for proceeds: Amount?) -> Amount? {
    guard let proceeds, let price = price?.magnitude, price >= proceeds else { return nil }
    return price
  }

  /// Whether the event refunds a whole charge: its provider sends no amounts with it, or it has the
  /// amounts of the charge.
  func refundsWhole(_ paid: Revenue) -> Bool {
    guard let revenue, revenue.hasAmount else {
      return kind.isRefund && !provider.capabilities.sendsWholeCharges
    }
    if !areDifferentCurrencies(revenue.currency, paid.currency),
      let refunded = revenue.local, let charged = paid.local
    {
      return refunded.magnitude == charged.magnitude
    }
    guard let refunded = revenue.usd, let charged = paid.usd else { return false }
    return refunded.magnitude == charged.magnitude
  }

  /// The same for a charge that was booked as `money`.
  ///
  /// If one of the two was sent as proceeds and the other as a price, their prices are compared.
  func refundsWhole(_ paid: Revenue, bookedAs money: Money) throws(AmountOverflow) -> Bool {
    guard let revenue, revenue.hasAmount, paid.hasAmount,
      (revenue.isProceed == true) != (paid.isProceed == true)
    else { return refundsWhole(paid) }
    let refunded = try refundMoney(self, of: money)
    if !areDifferentCurrencies(revenue.currency, paid.currency),
      let local = refunded.grossLocal, let charged = money.grossLocal
    {
      return try agree(local, charged)
    }
    guard let usd = refunded.grossUSD, let charged = money.grossUSD else { return false }
    return try agree(usd, charged)
  }
}

extension Revenue {
  var isNotZero: Bool { (usd ?? .zero) != .zero || (local ?? .zero) != .zero }
}

/// Whether both currencies are known and differ.
func areDifferentCurrencies(_ one: StringID, _ other: StringID) -> Bool {
  one != other && one != 0 && other != 0
}

/// The amounts of a refund of `charge`, at its rate; if that is unknown, proceeds follow their own,
/// and so does a refund whose charge is unknown.
func refundMoney(_ event: Event, of charge: Money?) throws(AmountOverflow) -> Money {
  let hasOwn = (charge == nil || event.revenue?.isProceed == true) && !event.hasImpossibleRate
  let rate = charge?.rate ?? (hasOwn ? event.revenue?.rate : nil)
  // The rate is a dimension, too, and a refund has those of its charge.
  let charged = charge.map(\.rate) ?? rate
  guard let revenue = event.revenue, revenue.hasAmount else {
    return Money(rate: charged)
  }
  let usd = revenue.usd?.magnitude
  let local = revenue.local?.magnitude
  guard revenue.isProceed == true else {
    return Money(price: usd, local: local, rate: charged, basis: .provider)
  }
  return Money(
    grossUSD: try gross(of: usd, rate, price: nil, max: .lineMaxUSD).gross, proceedsUSD: usd,
    grossLocal: try gross(of: local, rate, price: nil, max: .lineMax).gross, proceedsLocal: local,
    rate: charged, basis: .provider)
}

extension Money {
  /// A price and the proceeds that follow from the rate.
  init(price usd: Amount?, local: Amount?, rate: Amount?, basis: AmountBasis) {
    self.init(
      grossUSD: usd, proceedsUSD: share(of: usd, rate, max: .lineMaxUSD), grossLocal: local,
      proceedsLocal: share(of: local, rate, max: .lineMax), rate: rate, basis: basis)
  }
}

/// Proceeds of `gross`; unknown beyond `max`, which only an invalid rate can reach.
private func share(of gross: Amount?, _ rate: Amount?, max: Amount) -> Amount? {
  guard let gross, let rate, let share = try? gross.percent(rate), share.magnitude <= max else {
    return nil
  }
  return share
}

/// The price for `proceeds`, unknown beyond `max` like `share`; `mismatch` is price − derived price
/// if the two differ by more than 0.5 % and by more than 0.01.
private func gross(
  of proceeds: Amount?, _ rate: Amount?, price: Amount?, max: Amount
) throws(AmountOverflow) -> (gross: Amount?, mismatch: Amount?) {
  guard let proceeds, let rate, rate > .zero,
    let derived = try? proceeds.grossedUp(by: rate), derived.magnitude <= max
  else { return (nil, nil) }
  guard let price else { return (derived, nil) }
  return try agree(price, derived) ? (price, nil) : (derived, price.subtracting(derived))
}

/// Whether two prices are equal within rounding.
private func agree(_ price: Amount, _ derived: Amount) throws(AmountOverflow) -> Bool {
  try price.subtracting(derived).magnitude <= rounding(of: derived)
}

/// How much a price derived from proceeds can be off: 0.5 % or 0.01.
func rounding(of derived: Amount) throws(AmountOverflow) -> Amount {
  Swift.max(Amount(micros: 10_000), try derived.magnitude.scaled(by: 5, over: 1000))
}
