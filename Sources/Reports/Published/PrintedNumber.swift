/// Numbers of reports, read back from their text.
enum PrintedNumber {
  /// Millionths; nil for text that is no number of at most six decimals.
  static func micros(_ text: String) -> Int128? {
    var text = text
    return text.withUTF8 { micros(UnsafeRawBufferPointer($0)) }
  }

  /// Millionths; nil for bytes that are no number of at most six decimals.
  static func micros(_ bytes: UnsafeRawBufferPointer) -> Int128? {
    var digits = bytes[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits.removeFirst() }
    // Of all but monstrous numbers 64 bits hold every step; no cell has more digits than 128 do.
    switch digits.count {
    case 1...12: return millionths(Int64.self, digits, isNegative)
    case 13...32: return millionths(Int128.self, digits, isNegative)
    default: return nil
    }
  }

  private static func millionths<Number: FixedWidthInteger>(
    _: Number.Type, _ digits: Slice<UnsafeRawBufferPointer>, _ isNegative: Bool
  ) -> Int128? {
    var (number, decimals): (Number, Int?) = (0, nil)
    for byte in digits {
      if byte == UInt8(ascii: "."), decimals == nil {
        decimals = 0
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      number = number * 10 + Number(byte - UInt8(ascii: "0"))
      decimals = decimals.map { $0 + 1 }
    }
    guard decimals ?? 0 <= 6 else { return nil }
    for _ in (decimals ?? 0)..<6 { number *= 10 }
    return isNegative ? -Int128(number) : Int128(number)
  }
}
