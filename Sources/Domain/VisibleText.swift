// Foreign text that people see. It must not control a terminal, end a line or change the direction
// in which it is read.

extension Unicode.Scalar {
  /// Whether the character is a control, format, line or paragraph separator character: escape
  /// sequences begin with one, and so do overrides of the writing direction.
  public var isInvisible: Bool {
    if value < 0x7f { return value < 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }
}

extension String {
  /// The text with each invisible character in the form `\u{1b}`.
  ///
  /// The backslash of text that already looks like such an escape becomes `\u{5c}`, so different
  /// texts stay different: replacing every `\u{…}` with its character returns the text.
  public var escaped: String {
    guard utf8.contains(where: { $0 < 0x20 || $0 >= 0x7f || $0 == backslash }) else { return self }
    return escaping { scalar, rest in
      scalar.isInvisible || scalar == "\\" && Self.begins(rest)
    }
  }

  /// The text, which may contain escapes, with each invisible character in the form `\u{1b}`.
  ///
  /// - Parameter isWrapped: keeps line ends before two spaces, which continue this program's
  ///   messages on another line.
  public func shown(isWrapped: Bool = false) -> String {
    guard unicodeScalars.contains(where: \.isInvisible) else { return self }
    return escaping { scalar, rest in
      let isOurs = isWrapped && scalar == "\n" && rest.prefix(2).elementsEqual([" ", " "])
      return scalar.isInvisible && !isOurs
    }
  }

  /// The text with each character for which `isSteering` holds, given what follows, as `\u{1b}`.
  private func escaping(
    where isSteering: (Unicode.Scalar, Substring.UnicodeScalarView) -> Bool
  ) -> String {
    var rest = unicodeScalars[...]
    var text = ""
    while let scalar = rest.popFirst() {
      if isSteering(scalar, rest) {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Bytes that may not be UTF-8, such as a file's name, escaped; each byte that encodes no
  /// character becomes `\x{ff}`.
  public init(escaping bytes: [UInt8]) {
    self = ""
    var rest = bytes[...]
    var valid: [UInt8] = []
    while !rest.isEmpty {
      let length = (1...4).first { String(validating: rest.prefix($0), as: UTF8.self) != nil }
      if let length {
        valid += rest.prefix(length)
        rest = rest.dropFirst(length)
      } else if let byte = rest.popFirst() {
        self += String(decoding: valid, as: UTF8.self).escaped
        self += "\\x{\(String(byte, radix: 16))}"
        valid = []
      }
    }
    self += String(decoding: valid, as: UTF8.self).escaped
  }

  /// Whether what follows a backslash makes it look like an escape.
  private static func begins(_ rest: Substring.UnicodeScalarView) -> Bool {
    let next = rest.prefix(2)
    return next.elementsEqual(["u", "{"]) || next.elementsEqual(["x", "{"])
  }

  /// The digits with leading zeros, up to `width` characters.
  public func zeroPadded(to width: Int) -> String {
    String(repeating: "0", count: max(0, width - utf8.count)) + self
  }
}

private let backslash = UInt8(ascii: "\\")

/// A count with its noun, such as `1 break` or `2 breaks`.
public func counted(_ number: some BinaryInteger, _ noun: String) -> String {
  "\(number) \(noun)\(number == 1 ? "" : "s")"
}
