/// A JSON number as an exact fraction, parsed in the simplest way.
public struct ExactDecimal: Sendable {
  /// Whether it has a minus sign, even for zero.
  public let isNegative: Bool
  /// The magnitude is `digits` × 10^`exponent`; digits have no trailing zero.
  public let digits: WholeNumber
  /// Clamped to ±10¹⁵.
  public let exponent: Int

  /// Nil when `text` is not exactly one JSON number (RFC 8259 §6).
  public init?(_ text: some Collection<UInt8>) {
    var mantissa = Array(text)
    isNegative = mantissa.first == UInt8(ascii: "-")
    if isNegative { mantissa.removeFirst() }
    var exponent = 0
    if let mark = mantissa.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      guard let power = Self.power(mantissa[(mark + 1)...]) else { return nil }
      exponent = power
      mantissa.removeSubrange(mark...)
    }
    let parts = mantissa.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parts.first, !whole.isEmpty, parts.last?.isEmpty == false,
      whole.count == 1 || whole.first != UInt8(ascii: "0")
    else { return nil }
    var places = parts.count == 2 ? Array(whole) + Array(parts[1]) : Array(whole)
    exponent -= places.count - whole.count
    while places.last == UInt8(ascii: "0") {
      places.removeLast()
      exponent += 1
    }
    guard let digits = WholeNumber(digits: places) else { return nil }
    self.digits = digits
    self.exponent = exponent
  }

  /// Whether it has no fractional digits.
  public var isWhole: Bool { exponent >= 0 || digits == WholeNumber(0) }

  /// Magnitude × 10^`places` as a fraction; nil when the exponent is too far from 0 to write it
  /// out.
  public func fraction(
    places: Int
  ) -> (numerator: WholeNumber, denominator: WholeNumber)? {
    let power = exponent + places
    guard abs(power) <= 10_000 else { return nil }
    return (
      digits * .powerOfTen(max(0, power)), .powerOfTen(max(0, -power))
    )
  }

  private static func power(_ text: ArraySlice<UInt8>) -> Int? {
    let sign = text.first
    let isSigned = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
    let digits = isSigned ? text.dropFirst() : text
    guard !digits.isEmpty else { return nil }
    var power = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      power = min(power * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000_000_000_000)
    }
    return sign == UInt8(ascii: "-") ? -power : power
  }
}
