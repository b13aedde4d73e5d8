public import Domain

/// What everybody paid for renewals, by week, and what some of them paid less; also for purchases.
///
/// No event names an offer. A renewal that cost less than the one before and the one after, which
/// cost the same, was paid at the price of one.
///
/// It grows with products, countries, currencies, prices and weeks, not with charges.
public struct PaidPrices: Sendable, Equatable {
  /// How often each price was paid, by product, by where, by week and by price in the currency.
  private var full: [StringID: [PricedProduct: [Week: [Amount: Int64]]]] = [:]
  private var offers: [StringID: [PricedProduct: [Offer: Int64]]] = [:]
  /// How often first charges and purchases cost what.
  private var firsts: [StringID: [PricedProduct: [Amount: Int64]]] = [:]

  /// An offer's price beside the full one, both in the product's currency.
  private struct Offer: Hashable {
    var price: Amount
    var full: Amount
  }

  /// Nothing paid yet.
  public init() {}

  /// The prices that so many charges cost; a count of 0 is left out.
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

  /// The full price that more than half paid around `time`, in the country of `product`, else
  /// anywhere: in its week, or in as many weeks before and after it, up to four, as hold three
  /// renewals; nil when there is no such price.
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

  /// The medians of what renewals of `product` cost in the month around `time`, else at any time,
  /// else of what its purchases did, by currency, with their number: in its country, else anywhere.
  ///
  /// - Parameter product: where the shop is `unknown`, or the currency or the country 0, of any.
  public func medians(
    of product: PricedProduct, around time: Instant
  ) -> [StringID: (price: Amount, renewals: Int64)] {
    func isSame(_ key: PricedProduct) -> Bool {
      (product.store == .unknown || key.store == product.store)
        && (product.currency == 0 || key.currency == product.currency)
    }
    let sales = full[product.product, default: [:]].filter { isSame($0.key) }
    let bought = firsts[product.product, default: [:]].filter { isSame($0.key) }
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

  /// The country whose prices are the nearest, then any, which is 0.
  private func countries(for product: PricedProduct) -> [StringID] {
    product.country == 0 ? [0] : [product.country, 0]
  }

  /// The first week with a full payment of `price` in any shop of the country, else of any country;
  /// nil without any.
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

  /// The offer's price that was paid most often where `price` is the full one: in the same shop,
  /// else in any shop, else at the share that offers of the product have in other currencies.
  ///
  /// - Returns: nil when no offer of the product is known.
  public func offer(of product: PricedProduct, full price: Amount) -> Amount? {
    let same = offers[product.product] ?? [:]
    let anyShop = same.filter { $0.key.currency == product.currency }
    for known in [anyShop.filter { $0.key.store == product.store }, anyShop] {
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
  /// The lower and the upper median of values, each there so many times; nil without any.
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
  /// Counts what each charge of real money cost, as the provider says, or takes it away with a
  /// `count` of −1; changes of product aside.
  public func book(_ count: Int64 = 1, into prices: inout [PaidPrice: Int64]) {
    guard exclusion == nil, isChained else { return }
    var (before, paid): (Int?, Int?)
    for next in bookings.indices where bookings[next].isOfSubscription {
      if let paid { book(count, paid, before: before, after: next, into: &prices) }
      (before, paid) = (paid, next)
    }
    if let paid { book(count, paid, before: before, after: nil, into: &prices) }
    for index in bookings.indices where !bookings[index].isRefund {
      bookFirst(count, index, into: &prices)
    }
  }

  /// Counts the price of a first charge or a purchase, except an offer's.
  private func bookFirst(_ count: Int64, _ index: Int, into prices: inout [PaidPrice: Int64]) {
    let booking = bookings[index]
    guard booking.chargeKind != .renewal, booking.chargeKind != .productChange,
      events[booking.event].offer == 0, let product = priced(index),
      let price = booking.money.grossLocal?.perUnit(of: events[booking.event].units)
    else { return }
    prices[PaidPrice(product: product, week: nil, price: price, full: nil), default: 0] += count
  }

  /// Counts the price of a charge between two others, if it is a renewal with a reported price.
  private func book(
    _ count: Int64, _ index: Int, before: Int?, after: Int?,
    into prices: inout [PaidPrice: Int64]
  ) {
    guard bookings[index].chargeKind == .renewal, let product = priced(index),
      let price = bookings[index].money.grossLocal
    else { return }
    if let before, let after, let full = bookings[before].money.grossLocal, price < full,
      bookings[after].money.grossLocal == full, priced(before)?.anywhere == product.anywhere,
      priced(after)?.anywhere == product.anywhere
    {
      let offer = PaidPrice(product: product, week: nil, price: price, full: full)
      prices[offer, default: 0] += count
    } else {
      let week = Week(of: bookings[index].time)
      let paid = PaidPrice(product: product, week: week, price: price, full: nil)
      prices[paid, default: 0] += count
    }
  }

  /// Nil for a charge whose price the provider does not report.
  private func priced(_ index: Int) -> PricedProduct? {
    let (currency, basis) = (bookings[index].currency, bookings[index].money.basis)
    guard basis == .provider, currency != 0 else { return nil }
    return PricedProduct(
      product: bookings[index].product, store: store, currency: currency,
      country: bookings[index].country)
  }
}
