// What charges paid, as the fold counts it and the ledger stores it.

/// A product in one store, currency and country, which has one price at a time.
public struct PricedProduct: Codable, Sendable, Hashable {
  /// Symbol of the store product id.
  public var product: StringID
  /// The store.
  public var store: Store
  /// Symbol of the ISO 4217 code.
  public var currency: StringID
  /// Symbol of the user's country; 0 when unknown.
  public var country: StringID

  /// `product` as `store` sells it for `currency` in `country`.
  public init(product: StringID, store: Store, currency: StringID, country: StringID = 0) {
    self.product = product
    self.store = store
    self.currency = currency
    self.country = country
  }

  /// The same product without a country.
  public var anywhere: PricedProduct {
    PricedProduct(product: product, store: store, currency: currency)
  }

  /// Hashes the product as two words, like the keys of cells (CellHashing.swift).
  public func hash(into hash: inout Hasher) {
    hash.combine(
      UInt64(UInt32(bitPattern: product)) << 32 ^ UInt64(UInt32(bitPattern: currency)) << 8
        ^ UInt64(store.rawValue))
    hash.combine(UInt64(UInt32(bitPattern: country)))
  }
}

/// Seven days, counted from 1970-01-01.
public struct Week: Codable, Sendable, Hashable, Comparable {
  /// The number of weeks since the one that began on 1970-01-01.
  public let number: Int64

  /// The week with this number.
  public init(number: Int64) { self.number = number }

  /// The week that contains `time`.
  public init(of time: Instant) {
    number = Int64(CivilCalendar.utc.day(of: time).number).flooredDividing(by: 7)
  }

  /// Orders by time.
  public static func < (left: Week, right: Week) -> Bool { left.number < right.number }
}

/// A price that charges paid: renewals at full price in a week, or an offer's price with the full
/// price; first charges and purchases at any time.
///
/// The fold counts charges by this key, with one look-up each.
public struct PaidPrice: Codable, Sendable, Hashable {
  /// What was sold.
  public var product: PricedProduct
  /// The week of the renewals; nil for an offer, and for first charges and purchases.
  public var week: Week?
  /// What was paid, in the product's currency.
  public var price: Amount
  /// The full price next to an offer's; nil for other charges.
  public var full: Amount?

  /// A price paid for `product`.
  public init(product: PricedProduct, week: Week?, price: Amount, full: Amount?) {
    self.product = product
    self.week = week
    self.price = price
    self.full = full
  }

  /// Hashes the entry as four words; it has either a week or a full price.
  public func hash(into hash: inout Hasher) {
    product.hash(into: &hash)
    hash.combine(UInt64(bitPattern: price.micros))
    hash.combine(UInt64(bitPattern: full?.micros ?? week?.number ?? -1))
  }
}
