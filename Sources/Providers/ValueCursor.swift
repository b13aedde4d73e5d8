import Formats

/// Walks over the JSON values in a range of lines.
///
/// A value never crosses a line end, so that a truncated line cannot swallow the next one. Byte
/// order marks may occur wherever a value may begin: archives are concatenated from many parts, and
/// a part may lack its last line end.
struct ValueCursor {
  private let bytes: UnsafeRawBufferPointer
  private var lineEnd = -1
  /// Offset of the first value in the line.
  private var lineStart = 0
  /// Offset of the value, or where the search for the next one starts.
  private(set) var position = 0
  private(set) var line: Int64

  init(_ bytes: UnsafeRawBufferPointer, firstLine: Int64) {
    self.bytes = bytes
    line = firstLine
  }

  /// All bytes up to the end of the value's line.
  var lineBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<lineEnd]) }

  /// The line without surrounding white space; nil when the value is not its first.
  var wholeLine: UnsafeRawBufferPointer? {
    guard position == lineStart else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<lineEnd]).trimmed
  }

  mutating func passLine() { position = lineEnd }

  /// Moves to the first byte of the next value; false at the end.
  mutating func next() -> Bool {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\n"):
        line += 1
        position += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), recordSeparator:
        position += 1
      case 0xef where isByteOrderMark:
        position += 3
      default:
        if position >= lineEnd {
          lineEnd = bytes.place(of: UInt8(ascii: "\n"), from: position) ?? bytes.count
          lineStart = position
        }
        return true
      }
    }
    return false
  }

  /// Moves to the end of the value, which is JSON up to `end`, and of text behind it; a value other
  /// than an object or array must be alone because it can be part of a torn value.
  mutating func pass(to end: Int) throws(JSONProblem) {
    if !ValueEnd.isOpening(bytes[position]),
      let other = bytes[end..<endByBrackets].firstIndex(where: { !isBlank($0) })
    {
      throw JSONProblem(offset: other, cause: .continued)
    }
    position = isText(bytes[end..<lineEnd]) ? lineEnd : end
  }

  /// Whether the rest of a line is the text of a log, which holds no part of a value.
  private func isText(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
    rest.contains { !isBlank($0) } && !rest.contains { "{}[]\"\0".utf8.contains($0) }
  }

  /// Moves to the end of a value that is not JSON, as its brackets and quotes show it; if they do
  /// not, skips the rest of the line.
  mutating func passBroken() { position = endByBrackets }

  private var endByBrackets: Int {
    var end = ValueEnd()
    return end.find(in: lineBytes, from: position) ?? lineEnd
  }

  private var isByteOrderMark: Bool {
    bytes.count - position >= 3 && bytes[position + 1] == 0xbb && bytes[position + 2] == 0xbf
  }
}
