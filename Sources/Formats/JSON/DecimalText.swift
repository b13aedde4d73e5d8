public import Domain

/// An amount read from text.
public enum ParsedAmount: Sendable, Equatable {
  /// The amount in micro-units; `wasRounded` when decimals after the sixth were not all zero.
  case amount(Amount, wasRounded: Bool)
  /// More than 10¹² units.
  case tooLarge
}

/// Amounts of money, rates and whole numbers, read exactly.
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

  /// The integer of a JSON number, or of a string of the same grammar.
  ///
  /// `1.76e9` and `1760000000.0` are whole numbers too. Nil for everything else, and for
  /// numbers that do not fit 64 bits.
  public static func int64(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    if let plain = Int64(plainNumber: bytes) { return plain }
    guard let parts = DecimalParts(bytes), let (magnitude, rest) = parts.scaled(places: 0),
      rest == .none
    else { return nil }
    return Int64(exactly: parts.isNegative ? -Int128(magnitude) : Int128(magnitude))
  }
}

/// The parts of a JSON number, from which it can be read exactly at any scale.
struct DecimalParts {
  /// The digits after the last kept place, compared with half of that place.
  enum Rest {
    case none, belowHalf, half, aboveHalf
  }

  let isNegative: Bool
  private let bytes: UnsafeRawBufferPointer
  private let whole: Range<Int>
  private let fraction: Range<Int>
  /// Clamped to ±10⁹: no text has so many digits, so a larger exponent changes nothing.
  private let exponent: Int

  /// The parts of `bytes`; nil unless they are exactly one JSON number.
  init?(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    var here = 0
    isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { here = 1 }
    whole = Self.digits(bytes, from: here)
    here = whole.upperBound
    guard !whole.isEmpty, whole.count == 1 || bytes[whole.lowerBound] != UInt8(ascii: "0")
    else { return nil }
    if here < bytes.count, bytes[here] == UInt8(ascii: ".") {
      fraction = Self.digits(bytes, from: here + 1)
      guard !fraction.isEmpty else { return nil }
      here = fraction.upperBound
    } else {
      fraction = here..<here
    }
    var exponent = 0
    if here < bytes.count, bytes[here] | 0x20 == UInt8(ascii: "e") {
      here += 1
      let isDivisor = here < bytes.count && bytes[here] == UInt8(ascii: "-")
      if isDivisor || here < bytes.count && bytes[here] == UInt8(ascii: "+") { here += 1 }
      let range = Self.digits(bytes, from: here)
      guard !range.isEmpty else { return nil }
      for byte in bytes[range] {
        exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000_000)
      }
      if isDivisor { exponent = -exponent }
      here = range.upperBound
    }
    guard here == bytes.count else { return nil }
    self.exponent = exponent
  }

  /// The number's magnitude × 10^`places`, truncated to an integer, and the remainder.
  ///
  /// Nil when it has more than 19 digits before the point.
  func scaled(places: Int) -> (magnitude: UInt64, rest: Rest)? {
    // Most numbers are short, and keep all of their digits.
    if exponent == 0, fraction.count <= places, whole.count + places <= 18 {
      var magnitude: UInt64 = 0
      for byte in bytes[whole] { magnitude = magnitude &* 10 &+ UInt64(byte &- 0x30) }
      for byte in bytes[fraction] { magnitude = magnitude &* 10 &+ UInt64(byte &- 0x30) }
      for _ in fraction.count..<places { magnitude &*= 10 }
      return (magnitude, .none)
    }
    let count = whole.count + fraction.count
    var first = 0
    while first < count, digit(first) == 0 { first += 1 }
    guard first < count else { return (0, .none) }
    let kept = whole.count + exponent + places - first
    guard kept <= 19 else { return nil }
    guard kept >= 0 else { return (0, .belowHalf) }
    var magnitude: UInt64 = 0
    for index in first..<first + kept {
      magnitude = magnitude * 10 + (index < count ? digit(index) : 0)
    }
    return (magnitude, rest(from: first + kept, to: count))
  }

  private func rest(from start: Int, to count: Int) -> Rest {
    guard start < count else { return .none }
    let hasMore = (start + 1..<count).contains { digit($0) != 0 }
    switch digit(start) {
    case 0: return hasMore ? .belowHalf : .none
    case 1...4: return .belowHalf
    case 5: return hasMore ? .aboveHalf : .half
    default: return .aboveHalf
    }
  }

  /// The digit at `index` among all digits, including those after the point.
  private func digit(_ index: Int) -> UInt64 {
    let place =
      index < whole.count
      ? whole.lowerBound + index : fraction.lowerBound + index - whole.count
    return UInt64(bytes[place] - UInt8(ascii: "0"))
  }

  private static func digits(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int> {
    var here = start
    while here < bytes.count, bytes[here] &- UInt8(ascii: "0") <= 9 { here += 1 }
    return start..<here
  }
}
