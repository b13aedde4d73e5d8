public import Domain

/// An amount read from text.
public enum ParsedAmount: Sendable, Equatable {
  /// The amount in micro-units; `wasRounded` when decimals after the sixth were not all zero.
  case amount(Amount, wasRounded: Bool)
  /// More than 10¹² units.
  case tooLarge
}

/// Amounts of money and rates, read exactly.
public enum DecimalText {
  private static let microsMax = Amount.lineMax.micros.magnitude

  /// The amount of a JSON number, or of a string of the same grammar.
  ///
  /// Decimals after `places`, which is 0 for a number that counts millionths, are rounded half to
  /// even. Nil when `bytes` are not a number.
  public static func amount(
    _ bytes: UnsafeRawBufferPointer, places: Int = 6
  ) -> ParsedAmount? {
    guard let parts = DecimalParts(bytes) else { return nil }
    guard let (micros, rest) = parts.scaled(places: places) else { return .tooLarge }
    guard micros < microsMax || micros == microsMax && rest == .none else { return .tooLarge }
    let isUp = rest == .aboveHalf || rest == .half && micros % 2 == 1
    let rounded = Int64(micros) + (isUp ? 1 : 0)
    let amount = Amount(micros: parts.isNegative ? -rounded : rounded)
    return .amount(amount, wasRounded: rest != .none)
  }
}

/// Whole numbers, read exactly.
public enum IntegerText {
  /// The integer of a JSON number, or of a string of the same grammar.
  ///
  /// `1.76e9` and `1760000000.0` are whole numbers too. Nil for everything else, and for
  /// numbers that do not fit 64 bits.
  public static func int64(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    if let plain = Int64(plainNumber: bytes) { return plain }
    guard let parts = DecimalParts(bytes), let (magnitude, rest) = parts.scaled(places: 0),
      rest == .none
    else { return nil }
    if parts.isNegative {
      return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
  }
}
