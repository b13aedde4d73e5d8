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
  /// More than six decimals are rounded half to even. Nil when `bytes` are not a number.
  public static func amount(_ bytes: UnsafeRawBufferPointer) -> ParsedAmount? {
    if let micros = plainMicros(bytes) {
      return .amount(Amount(micros: micros), wasRounded: false)
    }
    return amount(bytes, places: 6)
  }

  /// The same for a number that counts millionths of a unit.
  public static func amount(ofMicros bytes: UnsafeRawBufferPointer) -> ParsedAmount? {
    amount(bytes, places: 0)
  }

  private static func amount(_ bytes: UnsafeRawBufferPointer, places: Int) -> ParsedAmount? {
    guard let parts = DecimalParts(bytes) else { return nil }
    guard let (micros, rest) = parts.scaled(places: places) else { return .tooLarge }
    guard micros < microsMax || micros == microsMax && rest == .none else { return .tooLarge }
    let isUp = rest == .aboveHalf || rest == .half && micros % 2 == 1
    let rounded = Int64(micros) + (isUp ? 1 : 0)
    let amount = Amount(micros: parts.isNegative ? -rounded : rounded)
    return .amount(amount, wasRounded: rest != .none)
  }

  /// The fast path for up to twelve digits before the point and six after it.
  private static func plainMicros(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard bytes.count <= 20 else { return nil }
    let isNegative = bytes.first == UInt8(ascii: "-")
    let first = isNegative ? 1 : 0
    var digits: Int64 = 0
    var point: Int?
    for here in first..<max(first, bytes.count) {
      let digit = bytes[here] &- UInt8(ascii: "0")
      if digit <= 9 {
        digits = digits &* 10 &+ Int64(digit)
      } else if bytes[here] == UInt8(ascii: "."), point == nil {
        point = here
      } else {
        return nil
      }
    }
    let whole = (point ?? bytes.count) - first
    let decimals = point.map { bytes.count - $0 - 1 } ?? 0
    guard (1...12).contains(whole), whole == 1 || bytes[first] != UInt8(ascii: "0"),
      decimals <= 6, point == nil || decimals > 0
    else { return nil }
    for _ in decimals..<6 { digits *= 10 }
    return isNegative ? -digits : digits
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
