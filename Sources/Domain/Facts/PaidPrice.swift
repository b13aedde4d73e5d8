// What charges paid, as the fold counts it and the ledger keeps it.

/// What has one price at a time: a product in one shop and one currency.
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

  /// Hashes the product as one word, as keys of cells are (CellHashing.swift).
  public func hash(into hash: inout Hasher) { hash.combine(packed) }
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

/// What some renewals cost: a full price in a week, or an offer's price beside the full one.
///
/// The fold counts renewals by it, in one look-up for each.
public struct PaidPrice: Sendable, Hashable {
  /// What was sold.
  public var product: PricedProduct
  /// StringID of the user's country; 0 unknown.
  public var country: StringID
  /// The week of the charges; nil for an offer.
  public var week: Week?
  /// What was paid, in the product's currency.
  public var price: Amount
  /// The full price beside an offer's; nil for a full price.
  public var full: Amount?

  /// So much paid for `product` in `country`.
  public init(
    product: PricedProduct, country: StringID = 0, week: Week?, price: Amount, full: Amount?
  ) {
    self.product = product
    self.country = country
    self.week = week
    self.price = price
    self.full = full
  }
}

extension PaidPrice {
  /// Hashes the entry as four words; it has either a week or a full price.
  public func hash(into hash: inout Hasher) {
    hash.combine(product.packed)
    hash.combine(UInt64(UInt32(bitPattern: country)))
    hash.combine(UInt64(bitPattern: price.micros))
    hash.combine(UInt64(bitPattern: full?.micros ?? week?.number ?? -1))
  }
}
