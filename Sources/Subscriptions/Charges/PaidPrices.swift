public import Domain

/// What everybody paid for renewals, by week, and what some of them paid less.
///
/// No event names an offer. A renewal that cost less than the one before and the one after, which
/// cost the same, was paid at the price of one.
///
/// It grows with products, currencies, prices and weeks, not with charges.
public struct PaidPrices: Sendable, Equatable {
  /// How often each price was paid, by week and price in the product's currency.
  private var full: [PricedProduct: [Week: [Amount: Int64]]] = [:]
  private var offers: [PricedProduct: [Offer: Int64]] = [:]

  /// An offer's price beside the full one, both in the product's currency.
  private struct Offer: Hashable {
    var price: Amount
    var full: Amount
  }

  /// Nothing paid yet.
  public init() {}

  /// The prices that so many renewals cost; a count of 0 is left out.
  public init(_ charges: [PaidPrice: Int64]) {
    for (entry, count) in charges where count != 0 {
      if let week = entry.week {
        full[entry.product, default: [:]][week, default: [:]][entry.price, default: 0] += count
      } else if let regular = entry.full {
        let offer = Offer(price: entry.price, full: regular)
        offers[entry.product, default: [:]][offer, default: 0] += count
      }
    }
  }

  /// The full price that more than half paid around `time`: in its week, or in as many weeks before
  /// and after it, up to four, as hold three renewals; nil when there is no such price.
  public func usual(_ product: PricedProduct, at time: Instant) -> Amount? {
    guard let weeks = full[product] else { return nil }
    let here = Week(of: time).number
    for reach in Int64(0)...4 {
      var counts: [Amount: Int64] = [:]
      for number in here - reach...here + reach {
        counts.merge(weeks[Week(number: number)] ?? [:]) { $0 + $1 }
      }
      let total = counts.values.reduce(0, +)
      if total >= 3 { return counts.first { $0.value * 2 > total }?.key }
    }
    return nil
  }

  /// The medians of what renewals of `product` cost in the month around `time`, else at any time,
  /// by currency, with the number of renewals.
  ///
  /// - Parameters:
  ///   - store: `unknown` is any.
  ///   - currency: 0 is any.
  public func medians(
    of product: StringID, in store: Store, _ currency: StringID, around time: Instant
  ) -> [StringID: (price: Amount, renewals: Int64)] {
    let here = Week(of: time).number
    for reach in [2, Int64.max / 2] {
      var paid: [StringID: [Amount: Int64]] = [:]
      for (key, weeks) in full
      where key.product == product && (store == .unknown || key.store == store)
        && (currency == 0 || key.currency == currency)
      {
        for (week, counts) in weeks where abs(week.number - here) <= reach {
          paid[key.currency, default: [:]].merge(counts) { $0 + $1 }
        }
      }
      if paid.isEmpty { continue }
      return paid.compactMapValues { counts in
        let renewals = counts.values.reduce(0, +)
        var left = (renewals + 1) / 2
        let median = counts.sorted { $0.key < $1.key }.first { count in
          left -= count.value
          return left <= 0
        }
        return median.map { ($0.key, renewals) }
      }
    }
    return [:]
  }

  /// The first week with a full payment of `price` in any shop; nil without any.
  public func firstWeek(of price: Amount, for product: PricedProduct) -> Week? {
    full.filter { $0.key.product == product.product && $0.key.currency == product.currency }
      .flatMap(\.value).filter { $0.value[price] != nil }.map(\.key).min()
  }

  /// The offer's price that was paid most often where `price` is the full one: in the same shop,
  /// else in any shop, else at the share that offers of the product have in other currencies.
  ///
  /// - Returns: nil when no offer of the product is known.
  public func offer(of product: PricedProduct, full price: Amount) -> Amount? {
    let same = offers.filter { $0.key.product == product.product }
    let here = same[product] ?? [:]
    let anywhere = same.filter { $0.key.currency == product.currency }.values
    for known in [[here], Array(anywhere)] {
      let fitting = sum(known).filter { $0.key.full == price }
      if let offer = commonest(fitting) { return offer.price }
    }
    guard let offer = commonest(sum(Array(same.values))), offer.full > .zero else { return nil }
    return try? price.scaled(by: offer.price.micros, over: offer.full.micros)
  }

  private func sum(_ counts: [[Offer: Int64]]) -> [Offer: Int64] {
    counts.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }
  }

  private func commonest(_ offers: [Offer: Int64]) -> Offer? {
    offers.max {
      ($0.value, $0.key.price, $0.key.full) < ($1.value, $1.key.price, $1.key.full)
    }?.key
  }
}

extension SubscriptionHistory {
  /// Counts what each renewal of real money cost, as the provider says, or takes it away with a
  /// `count` of −1.
  public func book(_ count: Int64 = 1, into prices: inout [PaidPrice: Int64]) {
    guard exclusion == nil, isChained else { return }
    var (before, paid): (Int?, Int?)
    for next in bookings.indices where bookings[next].isOfSubscription {
      if let paid { book(count, paid, before: before, after: next, into: &prices) }
      (before, paid) = (paid, next)
    }
    if let paid { book(count, paid, before: before, after: nil, into: &prices) }
  }

  /// Counts the price of a charge between two others, if it is a renewal with a reported price.
  private func book(
    _ count: Int64, _ index: Int, before: Int?, after: Int?,
    into prices: inout [PaidPrice: Int64]
  ) {
    let country = bookings[index].country
    guard bookings[index].chargeKind == .renewal, let product = priced(index),
      let price = bookings[index].money.grossLocal
    else { return }
    if let before, let after, let full = bookings[before].money.grossLocal, price < full,
      bookings[after].money.grossLocal == full, priced(before) == product,
      priced(after) == product
    {
      let offer = PaidPrice(
        product: product, country: country, week: nil, price: price, full: full)
      prices[offer, default: 0] += count
    } else {
      let week = Week(of: bookings[index].time)
      let paid = PaidPrice(
        product: product, country: country, week: week, price: price, full: nil)
      prices[paid, default: 0] += count
    }
  }

  /// Nil for a charge whose price the provider does not report.
  private func priced(_ index: Int) -> PricedProduct? {
    let (currency, basis) = (bookings[index].currency, bookings[index].money.basis)
    guard basis == .provider, currency != 0 else { return nil }
    return PricedProduct(product: bookings[index].product, store: store, currency: currency)
  }
}
