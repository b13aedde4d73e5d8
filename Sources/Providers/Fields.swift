import Formats
import Domain

/// Values of members by their meaning.
///
/// An empty string, which some senders write for values that are not text, counts as absent.
extension JSONTape {
  /// A provider's or store's text: a string, or an integer as its digits.
  ///
  /// - Returns: no bytes when absent.
  func identifier(_ value: MemberValue) throws(BodyProblem) -> UnsafeRawBufferPointer {
    guard let node = value.node else { return .none }
    let text = bytes(node)
    // A fraction or exponent means that the id was converted to floating point on the way.
    guard kind(node) == .string || kind(node) == .number && text.allSatisfy(isDigit) else {
      throw .bad(value.name, expected: "a string or an integer")
    }
    guard text.count <= NormaliserSettings.wordBytesMax else { throw .longText(value.name) }
    return text
  }

  /// A transaction id; `0` means none.
  func transactionID(_ value: MemberValue) throws(BodyProblem) -> UnsafeRawBufferPointer {
    let text = try identifier(value)
    return text.count == 1 && text[0] == UInt8(ascii: "0") ? .none : text
  }

  /// A word that must be a string.
  func word(_ value: MemberValue) throws(BodyProblem) -> UnsafeRawBufferPointer {
    guard let node = value.node else { return .none }
    guard kind(node) == .string else { throw .bad(value.name, expected: "a string") }
    return try identifier(value)
  }

  /// A text as a String, or an integer as its digits; empty when absent.
  ///
  /// A text that equals `known` is returned as that: a new String would take memory.
  func text(_ value: MemberValue, like known: String = "") throws(BodyProblem) -> String {
    text(try identifier(value), like: known)
  }

  /// The same for bytes that were already read.
  func text(_ bytes: UnsafeRawBufferPointer, like known: String) -> String {
    known.isExactly(bytes) ? known : String(decoding: bytes, as: UTF8.self)
  }

  /// A name from a closed list, or a number as its text; `""` when absent.
  func term(_ value: MemberValue) throws(BodyProblem) -> Term {
    guard let node = value.node else { return Term(bytes: .none) }
    guard kind(node) == .string || kind(node) == .number else {
      throw .bad(value.name, expected: "a name")
    }
    return Term(bytes: bytes(node))
  }

  /// An environment by its name; production when absent.
  func environment(_ value: MemberValue) throws(BodyProblem) -> Environment {
    let word = try word(value)
    if word.isEmpty || word.isWord("production") { return .production }
    guard word.isWord("sandbox") else { throw .bad(value.name, expected: "production or sandbox") }
    return .sandbox
  }

  /// A point in time: RFC 3339, or epoch seconds as number or string, or milliseconds when too
  /// large for seconds; nil when absent, empty or 0.
  func instant(_ value: MemberValue) throws(BodyProblem) -> Instant? {
    guard let node = value.node else { return nil }
    let text = bytes(node)
    let parsed: Instant?
    switch kind(node) {
    case .number: parsed = InstantText.epoch(text)
    case .string:
      if text.isEmpty { return nil }
      parsed = InstantText.epoch(text) ?? InstantText.rfc3339(text)
    default: throw .bad(value.name, expected: "a point in time")
    }
    guard let parsed, parsed.milliseconds >= 0 else {
      throw BodyProblem(.badTime, "\(value.name): not a point in time between 1970 and 9999")
    }
    return parsed.milliseconds == 0 ? nil : parsed
  }

  /// The time of an event or of a purchase, which must be after the first store opened.
  func eventTime(_ value: MemberValue) throws(BodyProblem) -> Instant? {
    let time = try instant(value)
    try time?.checkPossible(value.name)
    return time
  }

  /// An amount as number or numeric string, in units or, without `places`, in millionths; `rounded`
  /// counts amounts with too many decimals.
  func amount(
    _ value: MemberValue, rounded: inout Int64, places: Int = 6
  ) throws(BodyProblem) -> Amount? {
    guard let node = filled(value) else { return nil }
    guard kind(node) == .number || kind(node) == .string,
      let parsed = DecimalText.amount(bytes(node), places: places)
    else { throw .bad(value.name, expected: "a decimal number") }
    switch parsed {
    case .amount(let amount, let wasRounded):
      if wasRounded { rounded += 1 }
      return amount
    case .tooLarge: throw BodyProblem(.amountTooLarge, "\(value.name): beyond 10^12 units")
    }
  }

  /// An amount in US dollars, whose maximum is lower than that of other amounts.
  func dollars(_ value: MemberValue, rounded: inout Int64) throws(BodyProblem) -> Amount? {
    let dollars = try amount(value, rounded: &rounded)
    guard (dollars ?? .zero).magnitude <= .lineMaxUSD else {
      throw BodyProblem(.amountTooLarge, "\(value.name): beyond 10^9 US dollars")
    }
    return dollars
  }

  /// Rejects an amount in a currency that cannot be worth `usd`.
  func checkWorth(
    of local: Amount?, _ usd: Amount?, in value: MemberValue
  ) throws(BodyProblem) {
    guard let local, !local.isPlausible(usd) else { return }
    throw BodyProblem(
      .amountTooLarge, "\(value.name): beyond 10^10 units and not worth 10^3 to 10^6 US dollars")
  }

  /// A whole number, as number or numeric string.
  func integer(_ value: MemberValue) throws(BodyProblem) -> Int64? {
    guard let node = filled(value) else { return nil }
    guard kind(node) == .number || kind(node) == .string,
      let number = DecimalText.int64(bytes(node))
    else { throw .bad(value.name, expected: "an integer") }
    return number
  }

  /// A number of renewals, as number or numeric string.
  func counter(_ value: MemberValue) throws(BodyProblem) -> Int32? {
    guard filled(value) != nil else { return nil }
    guard let number = try? integer(value), (0...Int64(Event.renewalCountMax)).contains(number)
    else { throw .bad(value.name, expected: "an integer from 0 to \(Event.renewalCountMax)") }
    return Int32(number)
  }

  /// A Boolean: `true`, `false`, 1 or 0, each also as a string.
  func truth(_ value: MemberValue) throws(BodyProblem) -> Bool? {
    guard let node = filled(value) else { return nil }
    let text = bytes(node)
    switch kind(node) {
    case .true: return true
    case .false: return false
    case .number, .string:
      if text.isWord("true") || DecimalText.int64(text) == 1 { return true }
      if text.isWord("false") || DecimalText.int64(text) == 0 { return false }
    default: break
    }
    throw .bad(value.name, expected: "true, false, 1 or 0")
  }

  /// An object with members; nil when it has none, or is the empty array that some languages write
  /// for an empty object.
  func filledObject(_ value: MemberValue) throws(BodyProblem) -> JSONNode? {
    guard let node = filled(value) else { return nil }
    switch kind(node) {
    case .object: return count(node) > 0 ? node : nil
    case .array where count(node) == 0: return nil
    default: throw .bad(value.name, expected: "an object")
    }
  }

  func isObject(_ node: JSONNode?) -> Bool { node.map { kind($0) == .object } ?? false }

  /// Whether an object has one of these members, even if null.
  func holds(_ object: JSONNode?, oneOf names: [String]) -> Bool {
    object.map { object in names.contains { member(object, $0) != nil } } ?? false
  }

  /// The value unless it is an empty string.
  private func filled(_ value: MemberValue) -> JSONNode? {
    value.node.flatMap { kind($0) == .string && bytes($0).isEmpty ? nil : $0 }
  }
}

extension JSONTape {
  /// A fingerprint of the content of `node`, independent of member order, white space and escapes.
  func canonicalFingerprint(_ node: JSONNode) -> Int64 {
    var fingerprint = Fingerprint(seed: 3 + UInt64(kind(node).rawValue))
    switch kind(node) {
    case .object: fingerprint.combine(membersFingerprint(node))
    case .array:
      for element in children(of: node) {
        fingerprint.combine(UInt64(bitPattern: canonicalFingerprint(element)))
      }
    case .string, .number, .true, .false, .null: fingerprint.combine(bytes(node))
    }
    return fingerprint.value
  }

  /// The sum over all members, which does not depend on their order.
  private func membersFingerprint(_ object: JSONNode) -> UInt64 {
    var sum: UInt64 = 0
    for key in children(of: object) {
      var member = Fingerprint()
      member.combine(bytes(key))
      member.combine(UInt64(bitPattern: canonicalFingerprint(value(ofKey: key))))
      sum &+= UInt64(bitPattern: member.value)
    }
    return sum
  }
}

/// A name as sent, which has several spellings: `willRenew`, `WILL_RENEW` and `will_renew` are
/// equal.
struct Term {
  let bytes: UnsafeRawBufferPointer

  /// Whether it equals `name`, which is in lower case without separators.
  static func == (term: Term, name: StaticString) -> Bool {
    var place = 0
    for byte in term.bytes where !isSeparator(byte) {
      guard place < name.utf8CodeUnitCount, name.utf8Start[place] == lowered(byte) else {
        return false
      }
      place += 1
    }
    return place == name.utf8CodeUnitCount
  }

  static func ~= (name: StaticString, term: Term) -> Bool { term == name }
}

extension UnsafeRawBufferPointer {
  static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  /// The bytes after a byte order mark, or all bytes if there is none.
  var withoutByteOrderMark: UnsafeRawBufferPointer {
    starts(with: [0xef, 0xbb, 0xbf]) ? UnsafeRawBufferPointer(rebasing: dropFirst(3)) : self
  }

  /// The bytes without white space around them.
  var trimmed: UnsafeRawBufferPointer {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    guard let last = lastIndex(where: { !isSpace($0) }) else { return .none }
    return UnsafeRawBufferPointer(rebasing: self[...last].drop(while: isSpace))
  }

  /// Whether the bytes are the ASCII `word`, case-insensitively; `word` is in lower case.
  func isWord(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    for index in 0..<count where lowered(self[index]) != word.utf8Start[index] { return false }
    return true
  }
}

/// An ASCII letter in lower case; any other byte unchanged.
func lowered(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

/// Whether the byte separates the words of a name.
private func isSeparator(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: "_") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: ".")
}

/// An ASCII letter in upper case; any other byte unchanged.
func raised(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte & 0xdf : byte
}

func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
