import Domain

/// A JSON value whose members keep the order in which they are listed, as real bodies have one.
indirect enum JSON: ExpressibleByDictionaryLiteral {
  /// A number, a Boolean or null, as it is written.
  case literal(String)
  case text(String)
  case array([JSON])
  /// Members without a value are left out.
  case object([(String, JSON?)])

  init(dictionaryLiteral members: (String, JSON?)...) { self = .object(members) }

  static let null = JSON.literal("null")

  static func bool(_ flag: Bool) -> JSON { .literal(flag ? "true" : "false") }

  static func int(_ number: some BinaryInteger) -> JSON { .literal(String(number)) }

  static func number(_ number: Int64?) -> JSON { number.map { .int($0) } ?? .null }

  /// An amount of millionths as a number, exact, without needless decimals.
  static func micros(_ micros: Int64) -> JSON {
    .literal(Amount(micros: micros).text(decimalsMin: 0))
  }

  /// An instant as RFC 3339 text, or null.
  static func date(_ second: Int64?) -> JSON {
    second.map { .text(Instant(seconds: $0).text) } ?? .null
  }

  var text: String {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the value in one line.
  func write(into bytes: inout [UInt8]) {
    switch self {
    case .literal(let text): bytes += text.utf8
    case .text(let text): Self.write(text, into: &bytes)
    case .array(let items):
      bytes.append(UInt8(ascii: "["))
      for (index, item) in items.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        item.write(into: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      var isFirst = true
      for case (let name, let value?) in members {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        Self.write(name, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        value.write(into: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// No text of a scenario holds control characters.
  private static func write(_ text: String, into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
      }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

/// `count` lower-case hexadecimal digits, the last ones of `value`.
func hexadecimal(_ value: UInt64, _ count: Int) -> String {
  let digits = String(count < 16 ? value & ((1 << UInt64(count * 4)) - 1) : value, radix: 16)
  return String(repeating: "0", count: count - digits.count) + digits
}

func decimal(_ value: UInt64, width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
