/// A sum that does not fit the ledger's range.
public struct AmountOverflow: Error, Sendable, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  /// The message for the user.
  public var description: String {
    "a sum of money exceeds ±9,223,372,036,854 units and cannot be kept exactly"
  }
}

/// Money or a rate in millionths of a unit, exact; never binary floating point.
public struct Amount: Codable, Sendable, Hashable, Comparable {
  /// Millionths of the currency's unit.
  public var micros: Int64

  /// An amount of `micros` millionths.
  @inlinable public init(micros: Int64) { self.micros = micros }

  /// Zero.
  public static let zero = Amount(micros: 0)

  /// The largest amount that a line may contain or that is derived from it: 10¹² units.
  public static let lineMax = Amount(micros: 1_000_000_000_000_000_000)
  /// The same limit for US dollars: 10⁹, because annual amounts are derived from them too.
  ///
  /// A daily price becomes 365 times as much in a year, and a sum can still hold 25 such amounts.
  public static let lineMaxUSD = Amount(micros: 1_000_000_000_000_000)

  /// Whether a charge of this many units of some currency can be worth `usd`.
  ///
  /// Amounts above 10¹⁰ units pass only for weak currencies: worth at most 10⁶ US dollars, the most
  /// that a store charges at once, at no more than 10⁷ units per dollar.
  public func isPlausible(_ usd: Amount?) -> Bool {
    guard micros.magnitude > 10_000_000_000_000_000 else { return true }
    guard let worth = usd?.micros.magnitude else { return false }
    return worth <= 1_000_000_000_000 && micros.magnitude / 10_000_000 <= worth
  }

  /// Orders by value.
  public static func < (left: Amount, right: Amount) -> Bool { left.micros < right.micros }

  /// The amount without its sign.
  public var magnitude: Amount { Amount(micros: abs(micros)) }

  /// The amount with the opposite sign.
  public static prefix func - (amount: Amount) -> Amount { Amount(micros: -amount.micros) }

  /// The exact sum, or `AmountOverflow`.
  public func adding(_ other: Amount) throws(AmountOverflow) -> Amount {
    let (sum, overflow) = micros.addingReportingOverflow(other.micros)
    guard !overflow else { throw AmountOverflow() }
    return Amount(micros: sum)
  }

  /// The exact sum of this amount and `factor` times another; throws `AmountOverflow`.
  @inline(__always)
  func adding(_ other: Amount, times factor: Int64) throws(AmountOverflow) -> Amount {
    let (change, overflow) = other.micros.multipliedReportingOverflow(by: factor)
    guard !overflow else { throw AmountOverflow() }
    return try adding(Amount(micros: change))
  }

  /// The exact difference, or `AmountOverflow`.
  public func subtracting(_ other: Amount) throws(AmountOverflow) -> Amount {
    let (difference, overflow) = micros.subtractingReportingOverflow(other.micros)
    guard !overflow else { throw AmountOverflow() }
    return Amount(micros: difference)
  }

  /// This amount × `numerator` / `denominator`, rounded half to even to a millionth.
  ///
  /// `denominator` must be positive.
  public func scaled(
    by numerator: Int64, over denominator: Int64
  ) throws(AmountOverflow) -> Amount {
    let (product, isLarge) = micros.multipliedReportingOverflow(by: numerator)
    if !isLarge { return Amount(micros: product.halfToEven(dividedBy: denominator)) }
    let exact = Int128(micros) * Int128(numerator)
    guard let rounded = Int64(exactly: exact.dividedHalfToEven(by: Int128(denominator))) else {
      throw AmountOverflow()
    }
    return Amount(micros: rounded)
  }

  /// This amount times `count`; nil beyond `max`.
  public func times(_ count: Int64, max: Amount) -> Amount? {
    guard let all = try? scaled(by: count, over: 1), all.magnitude <= max else { return nil }
    return all
  }

  /// The share of a price that remains after commission; `rate` is in percent.
  public func percent(_ rate: Amount) throws(AmountOverflow) -> Amount {
    try scaled(by: rate.micros, over: 100_000_000)
  }

  /// The price of which this amount is `rate` percent.
  public func grossedUp(by rate: Amount) throws(AmountOverflow) -> Amount {
    try scaled(by: 100_000_000, over: rate.micros)
  }

  /// The amount as reports print it: decimal point, at least `decimalsMin` and at most six
  /// decimals.
  public func text(decimalsMin: Int = 2) -> String {
    let digits = String(micros.magnitude).zeroPadded(to: 7)
    let whole = digits.dropLast(6)
    var fraction = digits.suffix(6)
    while fraction.count > decimalsMin, fraction.last == "0" { fraction.removeLast() }
    let sign = micros < 0 ? "-" : ""
    return fraction.isEmpty ? "\(sign)\(whole)" : "\(sign)\(whole).\(fraction)"
  }
}

extension Int128 {
  /// The quotient rounded half to even; `divisor` must be positive.
  public func dividedHalfToEven(by divisor: Int128) -> Int128 { halfToEven(dividedBy: divisor) }
}

extension SignedInteger where Self: FixedWidthInteger {
  /// The quotient rounded half to even; `divisor` must be positive.
  func halfToEven(dividedBy divisor: Self) -> Self {
    precondition(divisor > 0, "a rate's denominator is positive")
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    let twice = remainder.magnitude * 2
    let step: Self = self < 0 ? -1 : 1
    if twice > divisor.magnitude { return quotient + step }
    if twice == divisor.magnitude { return quotient % 2 == 0 ? quotient : quotient + step }
    return quotient
  }
}
