import Formats
import Foundation
import TestSupport
import Testing

@Test("Generated values are parsed back equal, and as Foundation parses them", arguments: 0..<10)
func agreesOnValues(seed: UInt64) throws {
  var writer = DocumentWriter(seed: seed)
  for _ in 0..<100 {
    let (tree, bytes) = writer.document()
    let own = try withTape(bytes) { Tree($0) }
    #expect(own == tree)
    let theirs = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    #expect(isSame(own, theirs), "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
  }
}

@Test("Damaged values are refused when Foundation refuses them", arguments: 0..<20)
func agreesOnDamage(seed: UInt64) throws {
  var writer = DocumentWriter(seed: 1_000 + seed)
  for _ in 0..<100 {
    let bytes = writer.damaged(writer.document().bytes)
    // Foundation refuses numbers beyond a Double's range, which the grammar allows.
    guard !hasHugeExponent(bytes) else { continue }
    let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    #expect(
      isAccepted(bytes) == (theirs != nil),
      "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
  }
}

private func hasHugeExponent(_ bytes: [UInt8]) -> Bool {
  String(decoding: bytes, as: UTF8.self).contains(/[eE][-+]?[0-9]{3}/)
}

/// Whether Foundation's value is equal, except for the last digits of numbers.
private func isSame(_ own: Tree, _ theirs: Any) -> Bool {
  switch own {
  case .object(let members):
    guard let other = theirs as? [String: Any], other.count == members.count else { return false }
    return members.allSatisfy { key, value in other[key].map { isSame(value, $0) } ?? false }
  case .array(let elements):
    guard let other = theirs as? [Any], other.count == elements.count else { return false }
    return zip(elements, other).allSatisfy { isSame($0, $1) }
  case .string(let text): return (theirs as? String).map { Array($0.utf8) } == Array(text.utf8)
  case .number(let text):
    guard let other = (theirs as? NSNumber)?.doubleValue, let own = Double(text) else {
      return false
    }
    return abs(other - own) <= abs(own) * 1e-14
  case .bool(let value): return (theirs as? NSNumber)?.boolValue == value
  case .null: return theirs is NSNull
  }
}

/// Writes random values in random notation.
private struct DocumentWriter {
  private var numbers: SeededNumbers
  private var bytes: [UInt8] = []

  init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

  mutating func document() -> (tree: Tree, bytes: [UInt8]) {
    bytes = []
    let tree = value(depth: 0)
    return (tree, bytes)
  }

  /// The document with one to three small errors.
  mutating func damaged(_ document: [UInt8]) -> [UInt8] {
    var bytes = document
    let marks =
      Array("{}[]\",:\\ux0129.eE+- \n\ttfn/ab".utf8) + [0x1f, 0x7f, 0x80, 0xc3, 0xe2, 0xff]
    for _ in 0..<Int.random(in: 1...3, using: &numbers) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &numbers)
      let mark = marks[Int.random(in: marks.indices, using: &numbers)]
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0: bytes.remove(at: place)
      case 1: bytes[place] = mark
      case 2: bytes.insert(mark, at: place)
      case 3: bytes.swapAt(place, Int.random(in: bytes.indices, using: &numbers))
      default: bytes.removeSubrange(place...)
      }
    }
    return bytes
  }

  private mutating func value(depth: Int) -> Tree {
    space()
    defer { space() }
    switch Int.random(in: 0..<(depth < 5 ? 12 : 8), using: &numbers) {
    case 0: return literal("true", .bool(true))
    case 1: return literal("false", .bool(false))
    case 2: return literal("null", .null)
    case 3, 4: return number()
    case 5...7: return .string(string())
    case 8, 9:
      var elements: [Tree] = []
      list("[", "]") { $0.append(to: &elements, depth: depth) }
      return .array(elements)
    default:
      var members: [String: Tree] = [:]
      list("{", "}") { $0.append(to: &members, depth: depth) }
      return .object(members)
    }
  }

  private mutating func append(to elements: inout [Tree], depth: Int) {
    elements.append(value(depth: depth + 1))
  }

  /// Adds a member with a unique key: of a repeated one, Foundation uses the first.
  private mutating func append(to members: inout [String: Tree], depth: Int) {
    space()
    write("\"k\(members.count)")
    let key = "k\(members.count)" + string(afterQuote: true)
    space()
    write(":")
    members[key] = value(depth: depth + 1)
  }

  private mutating func list(_ open: String, _ close: String, _ item: (inout Self) -> Void) {
    write(open)
    space()
    let count = Int.random(in: 0..<6, using: &numbers)
    for index in 0..<count {
      if index > 0 { write(",") }
      item(&self)
    }
    write(close)
  }

  private mutating func literal(_ text: String, _ tree: Tree) -> Tree {
    write(text)
    return tree
  }

  private mutating func number() -> Tree {
    var text = Bool.random(using: &numbers) ? "-" : ""
    text += String(
      UInt32.random(in: 0...UInt32.max, using: &numbers)
        >> UInt32.random(in: 0..<32, using: &numbers))
    if Bool.random(using: &numbers) { text += ".\(Int.random(in: 0..<10_000, using: &numbers))" }
    if Int.random(in: 0..<4, using: &numbers) == 0 {
      text += ["e", "E"].randomElement(using: &numbers) ?? "e"
      text += ["", "+", "-"].randomElement(using: &numbers) ?? ""
      text += "\(Int.random(in: 0..<30, using: &numbers))"
    }
    write(text)
    return .number(text)
  }

  private mutating func string(afterQuote: Bool = false) -> String {
    if !afterQuote { write("\"") }
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0..<20, using: &numbers) {
      let highest = [0x7e, 0x7e, 0x7e, 0x7ff, 0xffff, 0x10ffff].randomElement(using: &numbers)
      let code = UInt32.random(in: 1...UInt32(highest ?? 0x7e), using: &numbers)
      guard let scalar = Unicode.Scalar(code) else { continue }
      text.append(scalar)
      write(scalar)
    }
    write("\"")
    return String(text)
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
    guard mustEscape || Int.random(in: 0..<8, using: &numbers) == 0 else {
      return write(String(scalar))
    }
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16, uppercase: Bool.random(using: &numbers))
      write("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    }
  }

  private mutating func space() {
    guard Int.random(in: 0..<4, using: &numbers) == 0 else { return }
    write([" ", "\n", "\t", "\r\n", "  "].randomElement(using: &numbers) ?? " ")
  }

  private mutating func write(_ text: String) { bytes += Array(text.utf8) }
}
