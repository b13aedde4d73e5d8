/// A JSON value that always prints the same bytes: sorted keys, two spaces, no floating point.
public indirect enum JSONValue: Decodable, Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Decodes any JSON value; a number that is not a 64-bit integer is an error.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let items = try? value.decode([JSONValue].self) {
      self = .array(items)
    } else if let members = try? value.decode([String: JSONValue].self) {
      self = .object(members)
    } else {
      self = .integer(try value.decode(Int64.self))
    }
  }

  /// The document with a newline at its end.
  ///
  /// - Parameter length: approximate size in bytes, where known: a growing buffer takes three times
  ///   as much.
  public func document(ofBytes length: Int = 0) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(length)
    write(to: &out, depth: 0)
    out.append(UInt8(ascii: "\n"))
    return out
  }

  /// The value on one line, without a newline.
  public var line: [UInt8] {
    var out: [UInt8] = []
    write(to: &out, depth: nil)
    return out
  }

  /// - Parameter depth: nesting depth in a document; nil for one line.
  private func write(to out: inout [UInt8], depth: Int?) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): out.append(contentsOf: String(value).utf8)
    case .string(let text): Self.write(text, to: &out)
    case .array(let items):
      Self.write(items, between: "[", "]", to: &out, depth) { item, out in
        item.write(to: &out, depth: depth.map { $0 + 1 })
      }
    case .object(let members):
      let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      Self.write(sorted, between: "{", "}", to: &out, depth) { member, out in
        Self.write(member.key, to: &out)
        out.append(contentsOf: (depth == nil ? ":" : ": ").utf8)
        member.value.write(to: &out, depth: depth.map { $0 + 1 })
      }
    }
  }

  private static func write<Item>(
    _ items: [Item], between open: String, _ close: String, to out: inout [UInt8], _ depth: Int?,
    _ each: (Item, inout [UInt8]) -> Void
  ) {
    func breakLine(_ depth: Int, to out: inout [UInt8]) {
      out.append(UInt8(ascii: "\n"))
      out.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }
    out.append(contentsOf: open.utf8)
    for (index, item) in items.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      if let depth { breakLine(depth + 1, to: &out) }
      each(item, &out)
    }
    if let depth, !items.isEmpty { breakLine(depth, to: &out) }
    out.append(contentsOf: close.utf8)
  }

  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    var text = text
    let isPlain = text.withUTF8 { bytes in
      let isPlain = bytes.allSatisfy(isPlainASCII)
      if isPlain { out.append(contentsOf: bytes) }
      return isPlain
    }
    if !isPlain { writeEscaped(text, to: &out) }
    out.append(UInt8(ascii: "\""))
  }

  /// Whether a byte needs no escape, as most do; a loop over scalars takes ten times as long.
  private static func isPlainASCII(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: " ") && byte <= UInt8(ascii: "~") && byte != UInt8(ascii: "\"")
      && byte != UInt8(ascii: "\\")
  }

  private static func writeEscaped(_ text: String, to out: inout [UInt8]) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out.append(contentsOf: #"\""#.utf8)
      case "\\": out.append(contentsOf: #"\\"#.utf8)
      case "\n": out.append(contentsOf: #"\n"#.utf8)
      case "\r": out.append(contentsOf: #"\r"#.utf8)
      case "\t": out.append(contentsOf: #"\t"#.utf8)
      // Escaped, so that showing the file does not affect the terminal.
      case _ where scalar.isInvisible:
        for unit in String(scalar).utf16 {
          out.append(contentsOf: "\\u\(String(unit, radix: 16).zeroPadded(to: 4))".utf8)
        }
      default: out.append(contentsOf: String(scalar).utf8)
      }
    }
  }
}
