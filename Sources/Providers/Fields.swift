import Formats
import Glibc
import Domain

/// Values of members, each by what it means. Null and absent members arrive here as nil; what is
/// no text is absent as well when it is the empty string that some senders' languages write.
extension JSONTape {
  /// A text of one provider's or store's making: a string, or an integer as its digits.
  ///
  /// - Returns: no bytes when absent.
  func identifier(
    _ node: JSONNode?, _ field: StaticString, max: Int
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    guard let node else { return .none }
    let text = bytes(node)
    switch kind(node) {
    case .string: break
    case .number:
      // A fraction or exponent means that somebody sent the id through floating point.
      guard text.allSatisfy(isDigit) else {
        throw .bad(field, expected: "a string or an integer")
      }
    default: throw .bad(field, expected: "a string or an integer")
    }
    guard text.count <= max else {
      throw BodyProblem(.badField, "\(field): longer than \(max) bytes")
    }
    return text
  }

  /// A transaction id; `0` stands for none.
  func transactionID(
    _ node: JSONNode?, _ field: StaticString, max: Int
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    let text = try identifier(node, field, max: max)
    return text.count == 1 && text[0] == UInt8(ascii: "0") ? .none : text
  }

  /// A word that must be a string.
  func word(
    _ node: JSONNode?, _ field: StaticString, max: Int
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    guard let node else { return .none }
    guard kind(node) == .string else { throw .bad(field, expected: "a string") }
    return try identifier(node, field, max: max)
  }

  /// A point in time: epoch seconds, or milliseconds when the number is too large for seconds, as
  /// number or string, or RFC 3339; nil when absent, empty or 0.
  func instant(_ node: JSONNode?, _ field: StaticString) throws(BodyProblem) -> Instant? {
    guard let node else { return nil }
    let text = bytes(node)
    let parsed: Instant?
    switch kind(node) {
    case .number: parsed = InstantText.epoch(text, unit: .guess)
    case .string:
      if text.isEmpty { return nil }
      parsed = InstantText.epoch(text, unit: .guess) ?? InstantText.rfc3339(text)
    default: throw .bad(field, expected: "a point in time")
    }
    guard let parsed, parsed.milliseconds >= 0 else {
      throw BodyProblem(.badTime, "\(field): not a point in time between 1970 and 9999")
    }
    return parsed.milliseconds == 0 ? nil : parsed
  }

  /// An amount as number or numeric string; `rounded` counts those with too many decimals.
  func amount(
    _ node: JSONNode?, _ field: StaticString, rounded: inout Int64
  ) throws(BodyProblem) -> Amount? {
    try amount(node, field, rounded: &rounded, DecimalText.amount(_:))
  }

  /// An amount in millionths of a unit, as number or numeric string.
  func micros(
    _ node: JSONNode?, _ field: StaticString, rounded: inout Int64
  ) throws(BodyProblem) -> Amount? {
    try amount(node, field, rounded: &rounded, DecimalText.amount(ofMicros:))
  }

  private func amount(
    _ node: JSONNode?, _ field: StaticString, rounded: inout Int64,
    _ parse: (UnsafeRawBufferPointer) -> ParsedAmount?
  ) throws(BodyProblem) -> Amount? {
    guard let node = filled(node) else { return nil }
    guard kind(node) == .number || kind(node) == .string, let parsed = parse(bytes(node)) else {
      throw .bad(field, expected: "a decimal number")
    }
    switch parsed {
    case .amount(let amount, let wasRounded):
      if wasRounded { rounded += 1 }
      return amount
    case .tooLarge: throw BodyProblem(.amountTooLarge, "\(field): beyond 10^12 units")
    }
  }

  /// An amount in US dollars, of which less is too much.
  func dollars(
    _ node: JSONNode?, _ field: StaticString, rounded: inout Int64
  ) throws(BodyProblem) -> Amount? {
    let dollars = try amount(node, field, rounded: &rounded)
    guard (dollars ?? .zero).magnitude <= .lineMaxUSD else {
      throw BodyProblem(.amountTooLarge, "\(field): beyond 10^9 US dollars")
    }
    return dollars
  }

  /// A whole number, as number or numeric string.
  func integer(_ node: JSONNode?, _ field: StaticString) throws(BodyProblem) -> Int64? {
    guard let node = filled(node) else { return nil }
    guard kind(node) == .number || kind(node) == .string,
      let number = IntegerText.int64(bytes(node))
    else { throw .bad(field, expected: "an integer") }
    return number
  }

  /// How often something renewed, as number or numeric string.
  func counter(_ node: JSONNode?, _ field: StaticString) throws(BodyProblem) -> Int32? {
    guard let node = filled(node) else { return nil }
    guard kind(node) == .number || kind(node) == .string,
      let number = IntegerText.int64(bytes(node)),
      (0...Int64(Event.renewalCountMax)).contains(number)
    else { throw .bad(field, expected: "an integer from 0 to 100000") }
    return Int32(number)
  }

  /// A truth value: `true`, `false`, 1 or 0, each also as a string.
  func truth(_ node: JSONNode?, _ field: StaticString) throws(BodyProblem) -> Bool? {
    guard let node = filled(node) else { return nil }
    let text = bytes(node)
    switch kind(node) {
    case .true: return true
    case .false: return false
    case .string where text.isWord("true"): return true
    case .string where text.isWord("false"): return false
    case .number, .string:
      switch IntegerText.int64(text) {
      case 1: return true
      case 0: return false
      default: break
      }
    default: break
    }
    throw .bad(field, expected: "true, false, 1 or 0")
  }

  /// An object that has members; nil when it has none, or is the empty array that some senders'
  /// languages write for an empty object.
  func filledObject(_ node: JSONNode?, _ field: StaticString) throws(BodyProblem) -> JSONNode? {
    guard let node = filled(node) else { return nil }
    switch kind(node) {
    case .object: return count(node) > 0 ? node : nil
    case .array where count(node) == 0: return nil
    default: throw .bad(field, expected: "an object")
    }
  }

  /// The value unless it is an empty string.
  private func filled(_ node: JSONNode?) -> JSONNode? {
    node.flatMap { kind($0) == .string && bytes($0).isEmpty ? nil : $0 }
  }
}

extension UnsafeRawBufferPointer {
  /// No bytes.
  static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  /// Byte for byte; the library's `elementsEqual` goes through iterators.
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let here = baseAddress, let there = other.baseAddress else { return true }
    return memcmp(here, there, count) == 0
  }

  /// What stands behind a byte order mark, or everything where there is none.
  var withoutByteOrderMark: UnsafeRawBufferPointer {
    starts(with: [0xef, 0xbb, 0xbf]) ? UnsafeRawBufferPointer(rebasing: dropFirst(3)) : self
  }

  /// Whether the bytes are the ASCII `word`, which is in lower case, in any case.
  func isWord(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    for index in 0..<count where lowered(self[index]) != word.utf8Start[index] { return false }
    return true
  }
}

/// An ASCII letter in lower case; everything else as it is.
func lowered(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

/// An ASCII letter as a capital; everything else as it is.
func raised(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte & 0xdf : byte
}

/// Whether a byte is an ASCII digit.
func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
