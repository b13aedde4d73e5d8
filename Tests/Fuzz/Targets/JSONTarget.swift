import Formats
import Foundation

/// One JSON value: accepted if and only if Foundation accepts it, with equal content, and refused
/// as truncated at every cut.
func feedJSON(_ bytes: UnsafeRawBufferPointer) {
  var tape = JSONTape()
  let behind = end(of: bytes, on: &tape)
  if isCommonGround(bytes) { judge(bytes, isAccepted: behind != nil, tape) }
  guard let behind else { return }
  let again = rewritten(tape, 0)
  withBytes(of: again) { copy in
    var other = JSONTape()
    claim(end(of: copy, on: &other) != nil, "what is written again is JSON: \(again)")
    claim(tree(other, 0) == tree(tape, 0), "what is written again says the same: \(again)")
  }
  guard tape.kind(0) != .number else { return }
  for cut in stride(from: tape.span(0).lowerBound, to: behind, by: max(1, behind / 16)) {
    var part = JSONTape()
    do throws(JSONProblem) {
      _ = try part.read(UnsafeRawBufferPointer(rebasing: bytes[..<cut]), from: 0)
      claim(false, "a value cut at \(cut) is none")
    } catch {
      claim(
        error.reason == "the input ends inside a JSON value",
        "a value cut at \(cut) is called cut off, not: \(error.reason)")
      claim(error.offset == cut, "it is missed where it is cut")
    }
  }
}

/// The end of the value if only white space surrounds it; otherwise nil.
func end(of bytes: UnsafeRawBufferPointer, on tape: inout JSONTape) -> Int? {
  do throws(JSONProblem) {
    let end = try tape.read(bytes, from: 0)
    let isAlone = bytes[end...].allSatisfy { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    return isAlone ? end : nil
  } catch {
    claim(error.offset >= 0 && error.offset <= bytes.count, "a problem is inside the bytes")
    return nil
  }
}

/// Compares with Foundation where both accept the same grammar.
private func judge(_ bytes: UnsafeRawBufferPointer, isAccepted: Bool, _ tape: JSONTape) {
  let theirs = try? JSONSerialization.jsonObject(
    with: Data(bytes), options: [.fragmentsAllowed])
  if !isAccepted, theirs != nil, hasTrailingComma(bytes) { return }
  claim(isAccepted == (theirs != nil), "Foundation judges \(bytes.text) alike")
  guard isAccepted, let theirs, let own = tree(tape, 0) else { return }
  claim(isSame(own, theirs), "Foundation reads the same in \(bytes.text)")
}

/// Excludes input where Foundation differs from RFC 8259: UTF-16 and UTF-32, recognised by zero
/// bytes, and byte order marks, which it drops even at the start of a string; numbers beyond a
/// Double, which it refuses; and values deeper than our limit of 64.
private func isCommonGround(_ bytes: UnsafeRawBufferPointer) -> Bool {
  if bytes.prefix(4).contains(0) || bytes.isEmpty { return false }
  if let first = bytes.first, [0xFE, 0xFF].contains(first) { return false }
  if Array(bytes).firstRange(of: [0xEF, 0xBB, 0xBF]) != nil { return false }
  if bytes.count(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }) > 64 {
    return false
  }
  var digits = 0
  var isExponent = false
  for byte in bytes {
    if byte | 0x20 == UInt8(ascii: "e") {
      isExponent = true
      digits = 0
    } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      digits += 1
      if digits > (isExponent ? 2 : 200) { return false }
    } else if byte != UInt8(ascii: "+"), byte != UInt8(ascii: "-") {
      digits = 0
      isExponent = false
    }
  }
  return true
}

/// Whether the first problem is a trailing comma, which Foundation accepts.
private func hasTrailingComma(_ bytes: UnsafeRawBufferPointer) -> Bool {
  var tape = JSONTape()
  do throws(JSONProblem) {
    _ = try tape.read(bytes, from: 0)
    return false
  } catch {
    guard error.offset < bytes.count, [0x5D, 0x7D].contains(bytes[error.offset]) else {
      return false
    }
    let before = bytes[..<error.offset].last { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    return before == UInt8(ascii: ",")
  }
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
  case .string(let text): return (theirs as? String)?.utf8.elementsEqual(text.utf8) ?? false
  case .number(let text):
    guard let other = (theirs as? NSNumber)?.doubleValue, let own = Double(text) else {
      return false
    }
    return abs(other - own) <= abs(own) * 1e-14
  case .bool(let value): return (theirs as? NSNumber)?.boolValue == value
  case .null: return theirs is NSNull
  }
}
