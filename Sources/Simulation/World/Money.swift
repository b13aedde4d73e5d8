import Domain

/// An amount in the currency of the charge and in US dollars, both in millionths.
struct Money: Sendable, Equatable {
  var local: Int64
  var usd: Int64

  static prefix func - (money: Money) -> Money { Money(local: -money.local, usd: -money.usd) }

  /// `percent` of both amounts, each rounded half to even.
  func share(percent: Int64) -> Money {
    Money(local: scaled(local, percent, 100), usd: scaled(usd, percent, 100))
  }

  /// The amounts of which these are `percent`, each rounded half to even.
  func grossedUp(percent: Int64) -> Money {
    Money(local: scaled(local, 100, percent), usd: scaled(usd, 100, percent))
  }
}

/// `value` × `numerator` / `denominator`, rounded half to even.
func scaled(_ value: Int64, _ numerator: Int64, _ denominator: Int64) -> Int64 {
  let exact = Int128(value) * Int128(numerator)
  return Int64(clamping: exact.dividedHalfToEven(by: Int128(denominator)))
}
