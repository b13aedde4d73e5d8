public import Domain

/// What customers paid for renewals, by week, and at which lower offer prices; also for purchases.
///
/// Events do not name offers. A renewal that cost less than the previous and the next one, which
/// cost the same, was paid at an offer's price.
///
/// The size grows with products, countries, currencies, prices and weeks, not with charges.
public struct PaidPrices: Sendable, Equatable {
  /// How often each price was paid, by product, place, week and price in the currency.
  private var full: [StringID: [PricedProduct: [Week: [Amount: Int64]]]] = [:]
  private var offers: [StringID: [PricedProduct: [Offer: Int64]]] = [:]
  /// How often first charges and purchases had each price.
  private var firsts: [StringID: [PricedProduct: [Amount: Int64]]] = [:]

  /// An offer's price and the full price, both in the product's currency.
  private struct Offer: Hashable {
    var price: Amount
    var full: Amount
  }

  /// No prices yet.
  public init() {}

  /// The prices of charges with their counts; a count of 0 is ignored.
  public init(_ charges: [PaidPrice: Int64]) {
    for (entry, count) in charges where count != 0 {
      let product = entry.product
      if let week = entry.week {
        full[product.product, default: [:]][product, default: [:]][week, default: [:]][
          entry.price, default: 0] += count
      } else if let regular = entry.full {
        let offer = Offer(price: entry.price, full: regular)
        offers[product.product, default: [:]][product, default: [:]][offer, default: 0] += count
      } else {
        firsts[product.product, default: [:]][product, default: [:]][entry.price, default: 0] +=
          count
      }
    }
  }

  /// The full price that more than half of the renewals around `time` paid; nil if there is none.
  ///
  /// Renewals in the country of `product` come first, then those anywhere; those of the week, or of
  /// as many weeks before and after it, up to four, as contain three renewals.
  public func usual(_ product: PricedProduct, at time: Instant) -> Amount? {
    let sales = full[product.product, default: [:]].filter {
      $0.key.anywhere == product.anywhere
    }
    let here = Week(of: time).number
    for country in countries(for: product) {
      for reach in Int64(0)...4 {
        var counts: [Amount: Int64] = [:]
        for (key, weeks) in sales where country == 0 || key.country == country {
          for number in here - reach...here + reach {
            counts.merge(weeks[Week(number: number)] ?? [:]) { $0 + $1 }
          }
        }
        let total = counts.values.reduce(0, +)
        if total >= 3 { return counts.first { $0.value * 2 > total }?.key }
      }
    }
    return nil
  }

  /// The medians of what renewals of `product` cost, by currency, with the number of renewals.
  ///
  /// Renewals in the month around `time` come first, then those at any time, then purchases; each
  /// in the product's country first, then anywhere. If none was in the store, those in a store
  /// that it may be count: a snapshot has one name for both of Apple's.
  ///
  /// - Parameter product: a store `unknown`, a currency 0 or a country 0 means any.
  public func medians(
    of product: PricedProduct, around time: Instant
  ) -> [StringID: (price: Amount, renewals: Int64)] {
    var (sales, bought) = (full[product.product] ?? [:], firsts[product.product] ?? [:])
    func isHere(_ key: PricedProduct) -> Bool { key.store == product.store }
    let isSold = sales.keys.contains(where: isHere) || bought.keys.contains(where: isHere)
    let stores = isSold && product.store != .unknown ? [product.store] : product.store.possible
    func isSame(_ key: PricedProduct) -> Bool {
      stores.contains(key.store) && (product.currency == 0 || key.currency == product.currency)
    }
    sales = sales.filter { isSame($0.key) }
    bought = bought.filter { isSame($0.key) }
    let here = Week(of: time).number
    var paid: [StringID: [Amount: Int64]] = [:]
    for country in countries(for: product) {
      for reach in [2, Int64.max / 2] where paid.isEmpty {
        for (key, weeks) in sales where country == 0 || key.country == country {
          for (week, counts) in weeks where abs(week.number - here) <= reach {
            paid[key.currency, default: [:]].merge(counts) { $0 + $1 }
          }
        }
      }
    }
    for country in countries(for: product) where paid.isEmpty {
      for (key, counts) in bought where country == 0 || key.country == country {
        paid[key.currency, default: [:]].merge(counts) { $0 + $1 }
      }
    }
    return paid.compactMapValues { counts in
      counts.medians.map { ($0.lower, counts.values.reduce(0, +)) }
    }
  }

  /// The countries to search, closest first; 0 means any country.
  private func countries(for product: PricedProduct) -> [StringID] {
    product.country == 0 ? [0] : [product.country, 0]
  }

  /// The first week in which `price` was the full one, in the country, else anywhere; else nil.
  public func firstWeek(of price: Amount, for product: PricedProduct) -> Week? {
    let sales = full[product.product, default: [:]].filter {
      $0.key.currency == product.currency
    }
    for country in countries(for: product) {
      let weeks = sales.filter { country == 0 || $0.key.country == country }.flatMap(\.value)
      let first = weeks.filter { $0.value[price] != nil }.map(\.key).min()
      if let first { return first }
    }
    return nil
  }

  /// The most common offer price where `price` is the full one: in the same store, else in any
  /// store, else at the ratio of the product's offers in other currencies.
  ///
  /// - Returns: nil when no offer of the product is known.
  public func offer(of product: PricedProduct, full price: Amount) -> Amount? {
    let same = offers[product.product] ?? [:]
    let anyStore = same.filter { $0.key.currency == product.currency }
    for known in [anyStore.filter { $0.key.store == product.store }, anyStore] {
      let fitting = sum(known).filter { $0.key.full == price }
      if let offer = commonest(fitting) { return offer.price }
    }
    guard let offer = commonest(sum(same)), offer.full > .zero else { return nil }
    return try? price.scaled(by: offer.price.micros, over: offer.full.micros)
  }

  private func sum(_ counts: [PricedProduct: [Offer: Int64]]) -> [Offer: Int64] {
    counts.values.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }
  }

  private func commonest(_ offers: [Offer: Int64]) -> Offer? {
    offers.max {
      ($0.value, $0.key.price, $0.key.full) < ($1.value, $1.key.price, $1.key.full)
    }?.key
  }
}

extension Dictionary where Key: Comparable, Value == Int64 {
  /// The lower and the upper median of values with counts; nil when empty.
  @inlinable public var medians: (lower: Key, upper: Key)? {
    let total = values.reduce(0, +)
    var seen: Int64 = 0
    var lower: Key?
    for (value, count) in sorted(by: { $0.key < $1.key }) {
      seen += count
      if lower == nil, seen * 2 >= total { lower = value }
      if let lower, seen * 2 > total { return (lower, value) }
    }
    return nil
  }
}

extension SubscriptionHistory {
  /// Counts the price of each charge in real money, as the provider reports it, except product
  /// changes; subtracts it with a `count` of −1.
  public func book(_ count: Int64 = 1, into prices: inout [PaidPrice: Int64]) {
    guard exclusion == nil, isChained else { return }
    var previous: Int?
    for index in bookings.indices where !bookings[index].isRefund {
      if let paid = paidPrice(index, after: previous) { prices[paid, default: 0] += count }
      if bookings[index].isOfSubscription { previous = index }
    }
  }

  /// The price of a renewal, or of a first charge or a purchase without an offer; nil if unknown.
  ///
  /// - Parameter previous: the last charge of the subscription before it.
  private func paidPrice(_ index: Int, after previous: Int?) -> PaidPrice? {
    let (kind, event) = (bookings[index].chargeKind, bookings[index].event)
    guard kind != .productChange, let product = priced(index),
      let price = bookings[index].money.grossLocal
    else { return nil }
    guard kind == .renewal else {
      guard events[event].offer == 0, let price = price.perUnit(of: events[event].units) else {
        return nil
      }
      return PaidPrice(product: product, week: nil, price: price, full: nil)
    }
    if let previous, let full = bookings[previous].money.grossLocal, price < full,
      let next = bookings[(index + 1)...].firstIndex(where: { $0.isOfSubscription }),
      bookings[next].money.grossLocal == full, priced(previous)?.anywhere == product.anywhere,
      priced(next)?.anywhere == product.anywhere
    {
      return PaidPrice(product: product, week: nil, price: price, full: full)
    }
    return PaidPrice(
      product: product, week: Week(of: bookings[index].time), price: price, full: nil)
  }

  /// The priced product of a charge; nil if the provider does not report its price.
  private func priced(_ index: Int) -> PricedProduct? {
    let (currency, basis) = (bookings[index].currency, bookings[index].money.basis)
    guard basis == .provider, currency != 0 else { return nil }
    return PricedProduct(
      product: bookings[index].product, store: store, currency: currency,
      country: bookings[index].country)
  }
}
