public import Domain

/// A product in one store and one currency, which has one price at a time.
public struct PricedProduct: Sendable, Hashable {
  /// StringID of the store product id.
  public var product: StringID
  /// The shop.
  public var store: Store
  /// StringID of the ISO 4217 code.
  public var currency: StringID

  /// `product` as `store` sells it for `currency`.
  public init(product: StringID, store: Store, currency: StringID) {
    self.product = product
    self.store = store
    self.currency = currency
  }
}

extension PricedProduct {
  var packed: UInt64 {
    UInt64(UInt32(bitPattern: product)) << 32 ^ UInt64(UInt32(bitPattern: currency)) << 8
      ^ UInt64(store.rawValue)
  }

  /// Folds the product as one word, as keys of cells are (Vocabulary, CellHashing.swift).
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(packed)
    return hash.place
  }
}

/// Seven days, counted from 1970-01-01.
public struct Week: Sendable, Hashable, Comparable {
  /// How many weeks after the one that began on 1970-01-01.
  public let number: Int64

  /// The week with this number.
  public init(number: Int64) { self.number = number }

  /// The week that `time` lies in.
  public init(of time: Instant) {
    let day = Int64(CivilCalendar.utc.day(of: time).number)
    number = (day >= 0 ? day : day - 6) / 7
  }

  /// Orders by time.
  public static func < (left: Week, right: Week) -> Bool { left.number < right.number }
}

extension Week {
  /// Folds the week as one word.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(UInt64(bitPattern: number))
    return hash.place
  }
}

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

  /// What some renewals cost: a full price in a week, or an offer's price beside the full one.
  ///
  /// The fold counts renewals by it, in one look-up for each.
  public struct Entry: Sendable, Hashable {
    /// The product.
    public var product: PricedProduct
    /// The week of the charges; nil for an offer.
    public var week: Week?
    /// The amount paid, in the product's currency.
    public var price: Amount
    /// The full price beside an offer's; nil for a full price.
    public var full: Amount?

    /// So much paid for `product`.
    public init(product: PricedProduct, week: Week?, price: Amount, full: Amount?) {
      self.product = product
      self.week = week
      self.price = price
      self.full = full
    }
  }

  /// An offer's price beside the full one, both in the product's currency.
  private struct Offer: Hashable {
    var price: Amount
    var full: Amount
  }

  /// Nothing paid yet.
  public init() {}

  /// Prices and how many renewals cost them; prices without renewals are left out.
  public init(_ charges: [Entry: Int64]) {
    for (entry, count) in charges where count != 0 {
      if let week = entry.week {
        full[entry.product, default: [:]][week, default: [:]][entry.price] = count
      } else if let regular = entry.full {
        offers[entry.product, default: [:]][Offer(price: entry.price, full: regular)] = count
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

  /// The first week with a full payment of `price`; nil without any.
  public func firstWeek(of price: Amount, for product: PricedProduct) -> Week? {
    full[product]?.filter { $0.value[price] != nil }.keys.min()
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

extension PaidPrices.Entry {
  /// Folds the entry as three words; it has either a week or a full price.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = Fingerprint(ofTable: seed)
    hash.combine(product.packed)
    hash.combine(UInt64(bitPattern: price.micros))
    hash.combine(UInt64(bitPattern: full?.micros ?? week?.number ?? -1))
    return hash.place
  }
}

extension SubscriptionHistory {
  /// Counts the price of each renewal in real money, as the provider reports it, or subtracts it
  /// with a `count` of −1.
  public func book(_ count: Int64 = 1, into prices: inout [PaidPrices.Entry: Int64]) {
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
    into prices: inout [PaidPrices.Entry: Int64]
  ) {
    guard bookings[index].chargeKind == .renewal, let product = priced(index),
      let price = bookings[index].money.grossLocal
    else { return }
    if let before, let after, let full = bookings[before].money.grossLocal, price < full,
      bookings[after].money.grossLocal == full, priced(before) == product,
      priced(after) == product
    {
      let offer = PaidPrices.Entry(product: product, week: nil, price: price, full: full)
      prices[offer, default: 0] += count
    } else {
      let week = Week(of: bookings[index].time)
      let paid = PaidPrices.Entry(product: product, week: week, price: price, full: nil)
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
