internal import Domain

/// The bytes of a document that spans several lines, with one value on each line.
///
/// A document is an array of values or a sequence of values, pretty-printed. Line ends inside a
/// value and the array's brackets and commas become spaces, so that every byte keeps its offset;
/// `line` counts the remaining lines.
final class DocumentSource: ByteSource {
  private let source: ByteWindow
  /// Objects and arrays around the current byte, excluding the outer array.
  private var depth = 0
  /// Which of these are arrays, the innermost in the lowest bit; `JSONTape.depthMax` are enough.
  private var arrays: UInt64 = 0
  private var isInString = false
  private var isEscaped = false
  private var last: UInt8 = 0

  init(_ source: ByteWindow) { self.source = source }

  /// Whether `bytes` begin inside a document: at its first line, or at a bracket alone in a line
  /// after objects of one line each.
  static func isDocument(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var (rest, isFirst) = (bytes[...], true)
    while true {
      rest = rest.drop(while: isBlank)
      guard let first = rest.first, ValueEnd.isOpening(first),
        let end = bytes.place(of: UInt8(ascii: "\n"), from: rest.startIndex),
        let last = rest[..<end].last(where: { !isBlank($0) })
      else { return false }
      let second = rest[..<end].dropFirst().first { !isBlank($0) }
      if second == nil || isFirst && (ValueEnd.isOpening(last) || last == UInt8(ascii: ",")) {
        return true
      }
      guard last == UInt8(ascii: "}") else { return false }
      // The prefix of a log line can be in brackets.
      if first == UInt8(ascii: "[") { return isFirst && second == UInt8(ascii: "{") }
      (rest, isFirst) = (rest[end...], false)
    }
  }

  /// Fills part of `target`, which must not be empty; reads nothing only at the end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(SubledgerError) -> Int {
    let hasNext = try source.fill(atLeast: 2)
    let bytes = source.bytes
    let count = min(hasNext ? bytes.count - 1 : bytes.count, target.count)
    for place in 0..<count {
      target[place] = byte(bytes[place], before: hasNext ? bytes[place + 1] : nil)
    }
    source.consume(count)
    return count
  }

  private func byte(_ byte: UInt8, before next: UInt8?) -> UInt8 {
    if byte == UInt8(ascii: "\n") { return endsValue(before: next) ? byte : space }
    if isInString {
      if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      last = byte
      return byte
    }
    if byte > space { last = byte }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "[") where depth == 0, UInt8(ascii: "]") where depth == 0,
      UInt8(ascii: ",") where depth == 0:
      return space
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
      arrays = arrays << 1 | (byte == UInt8(ascii: "[") ? 1 : 0)
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth = max(0, depth - 1)
      arrays >>= 1
    default: break
    }
    return byte
  }

  /// Whether a line end is outside of values; a value torn inside a string, or one before an object
  /// that begins a line, ends there.
  private func endsValue(before next: UInt8?) -> Bool {
    let isElement = last == UInt8(ascii: ",") ? arrays & 1 == 1 : ":[".utf8.contains(last)
    if isInString || next == UInt8(ascii: "{") && !isElement {
      (depth, arrays, isInString, isEscaped) = (0, 0, false, false)
    }
    return depth == 0
  }
}

private let space: UInt8 = 0x20
