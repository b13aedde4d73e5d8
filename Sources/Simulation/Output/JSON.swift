import Domain

/// A value that can be a member of an object.
protocol JSONConvertible {
  var json: JSON { get }
}

/// A JSON value as text on one line.
struct JSON: JSONConvertible, ExpressibleByDictionaryLiteral {
  let text: String

  static let null = JSON(text: "null")

  init(text: String) { self.text = text }

  /// Keeps the order of members, as in real bodies, and omits those without a value.
  init(dictionaryLiteral members: (String, (any JSONConvertible)?)...) {
    self.init(members)
  }

  init(_ members: [(String, (any JSONConvertible)?)]) {
    var text = "{"
    for case (let name, let value?) in members {
      if text.utf8.count > 1 { text += "," }
      text += "\"\(name)\":\(value.json.text)"
    }
    self.text = text + "}"
  }

  /// An object with the members of both.
  static func + (left: JSON, right: JSON) -> JSON {
    let members = [left, right].map { Substring($0.text.utf8.dropFirst().dropLast()) }
      .filter { !$0.isEmpty }
    return JSON(text: "{" + members.joined(separator: ",") + "}")
  }

  /// An amount of millionths as an exact number, without trailing zeros.
  static func micros(_ micros: Int64) -> JSON {
    JSON(text: Amount(micros: micros).text(decimalsMin: 0))
  }

  /// An instant as RFC 3339 text, or null.
  static func date(_ second: Int64?) -> JSON { second.map { Instant(seconds: $0).text }.orNull }

  var json: JSON { self }

  /// The value as a JSON string; only quotation marks need an escape.
  var quoted: JSON {
    let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
    return parts.joined(separator: "\\\"").json
  }
}

extension String: JSONConvertible {
  /// No text of a scenario needs an escape.
  var json: JSON { JSON(text: "\"\(self)\"") }
}

extension Bool: JSONConvertible {
  var json: JSON { JSON(text: "\(self)") }
}

extension BinaryInteger {
  var json: JSON { JSON(text: "\(self)") }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt64: JSONConvertible {}

extension Array: JSONConvertible where Element: JSONConvertible {
  var json: JSON { JSON(text: "[" + map(\.json.text).joined(separator: ",") + "]") }
}

extension Optional where Wrapped: JSONConvertible {
  var orNull: JSON { self?.json ?? .null }
}

/// The last `count` hexadecimal digits of `value`, in lower case.
func hexadecimal(_ value: UInt64, _ count: Int) -> String {
  String(value.hexadecimal.suffix(count))
}
