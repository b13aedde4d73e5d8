import Domain

/// A country's terms: currency, exchange rate and prices.
struct Market: Sendable {
  let country: String
  /// App Store storefront, ISO 3166 alpha-3.
  let storefront: String
  let locale: String
  let currency: String
  /// Millionths of a US dollar per unit of the currency, before the monthly drift.
  let baseRate: Int64
  /// Smallest price step, in millionths.
  let step: Int64
  /// Prices in hundredths.
  let prices: [Product: Int64]

  static let all = [
    Market("US", "USA", "en", "USD", 1_000_000, prices: [299, 999, 1499, 5999, 499, 14999]),
    Market("DE", "DEU", "de", "EUR", 1_085_300, prices: [299, 999, 1499, 6499, 549, 15999]),
    Market("FR", "FRA", "fr", "EUR", 1_085_300, prices: [299, 999, 1499, 6499, 549, 15999]),
    Market("GB", "GBR", "en", "GBP", 1_269_100, prices: [249, 899, 1349, 4999, 449, 12999]),
    Market(
      "JP", "JPN", "ja", "JPY", 6_713, step: 1_000_000,
      prices: [45_000, 150_000, 220_000, 900_000, 75_000, 2_200_000]),
    Market("BR", "BRA", "pt", "BRL", 182_400, prices: [990, 2990, 4490, 17_990, 1490, 44_990]),
    Market(
      "IN", "IND", "hi", "INR", 11_870, step: 1_000_000,
      prices: [14_900, 49_900, 74_900, 299_900, 24_900, 749_900]),
    Market(
      "SE", "SWE", "sv", "SEK", 95_400, step: 1_000_000,
      prices: [3500, 11_900, 17_900, 69_900, 5900, 179_000]),
  ]

  private init(
    _ country: String, _ storefront: String, _ locale: String, _ currency: String,
    _ baseRate: Int64, step: Int64 = 10_000, prices: [Int64]
  ) {
    (self.country, self.storefront, self.locale) = (country, storefront, locale)
    (self.currency, self.baseRate) = (currency, baseRate)
    self.step = step
    self.prices = Dictionary(uniqueKeysWithValues: zip(Product.allCases, prices))
  }

  /// Millionths of a US dollar per unit in the month of `second`.
  ///
  /// The rate drifts by at most 1.5 % around its base, so that adjacent months never look like a
  /// feed with a wrong rate.
  func rate(at second: Int64) -> Int64 {
    guard currency != "USD" else { return baseRate }
    let month = UInt64(truncatingIfNeeded: civilMonth(of: second).number)
    let noise = Randomness.mix(month &* 31 &+ UInt64(baseRate))
    let drift = Int64(noise % 30_001) - 15_000
    return scaled(baseRate, 1_000_000 + drift, 1_000_000)
  }

  /// An amount in millionths of the currency with its value in US dollars at `second`.
  func money(_ local: Int64, at second: Int64) -> Money {
    Money(local: local, usd: scaled(local, rate(at: second), 1_000_000))
  }

  /// The list price in millionths of the currency.
  func listPrice(of product: Product, hasRisen: Bool) -> Int64 {
    let price = (prices[product] ?? 0) * 10_000
    return product == .monthly && hasRisen ? priced(price, 6, 5) : price
  }

  /// `amount` × `numerator` / `denominator`, rounded to a price of this market.
  func priced(_ amount: Int64, _ numerator: Int64, _ denominator: Int64) -> Int64 {
    scaled(amount, numerator, denominator * step) * step
  }
}

/// An amount in the currency of the charge and in US dollars, both in millionths.
struct Money: Sendable, Equatable {
  var local: Int64
  var usd: Int64

  static prefix func - (money: Money) -> Money { Money(local: -money.local, usd: -money.usd) }

  /// Both amounts × `numerator` / `denominator`, each rounded half to even.
  func scaled(_ numerator: Int64, _ denominator: Int64) -> Money {
    Money(
      local: Simulation.scaled(local, numerator, denominator),
      usd: Simulation.scaled(usd, numerator, denominator))
  }
}

/// `value` × `numerator` / `denominator`, rounded half to even.
func scaled(_ value: Int64, _ numerator: Int64, _ denominator: Int64) -> Int64 {
  let exact = Int128(value) * Int128(numerator)
  return Int64(clamping: exact.dividedHalfToEven(by: Int128(denominator)))
}
