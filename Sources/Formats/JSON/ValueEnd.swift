/// Finds the end of one JSON value by brackets and quotes alone, across any number of buffers.
///
/// Used for values that are too long or not JSON: a glued line continues with the next value after
/// the end of such a one. A newline always ends a value. A value without an opening bracket extends
/// to the next object that is certainly not part of it: the second half of a torn value contains
/// objects that are not bodies.
public struct ValueEnd: Sendable {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The state of a value without an opening bracket; nil for others, and initially.
  private var stray: BareValue?

  /// A search that has not started.
  public init() {}

  /// Offset just after the value, or of the newline that cuts it off; nil when `bytes` end first.
  public mutating func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var position = start
    if depth == 0, stray == nil, start < bytes.count, !Self.isOpening(bytes[start]) {
      stray = BareValue()
      stray?.add(bytes[start])
      // Whether bytes are inside a string is known only for a value that begins with a quote.
      isInString = bytes[start] == UInt8(ascii: "\"")
      position += 1
    }
    while position < bytes.count {
      if isInString {
        guard let quote = endOfString(in: bytes, from: position) else { return nil }
        if bytes[quote] == UInt8(ascii: "\n") { return quote }
        isInString = false
        position = quote
      } else if stray != nil {
        let byte = bytes[position]
        if byte == UInt8(ascii: "\n") || stray?.isEnded(by: byte) == true { return position }
        stray?.add(byte)
      } else {
        position = plainBytes(in: bytes, from: position)
        if position == bytes.count { return nil }
        switch bytes[position] {
        case UInt8(ascii: "\n"): return position
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          if depth == 1 { return position + 1 }
          depth -= 1
        case UInt8(ascii: "\""): isInString = true
        default: depth += 1
        }
      }
      position += 1
    }
    return nil
  }

  /// Whether a value that begins with `byte` is an object or array.
  public static func isOpening(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
  }

  /// Offset of the first bracket, quote or newline from `start` on, or the end.
  private func plainBytes(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var position = start
    while position < bytes.count {
      let byte = bytes[position]
      // 0x20 maps square brackets to curly ones.
      let folded = byte | 0x20
      if folded == UInt8(ascii: "{") || folded == UInt8(ascii: "}")
        || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
      {
        break
      }
      position &+= 1
    }
    return position
  }

  /// Offset of the quote or newline that ends the string; nil when `bytes` end first.
  private mutating func endOfString(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var position = start
    if isEscaped, position < bytes.count {
      isEscaped = false
      if bytes[position] != UInt8(ascii: "\n") { position += 1 }
    }
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n") { return position }
      position &+= 1
      if byte == UInt8(ascii: "\\") {
        isEscaped = position == bytes.count
        if !isEscaped, bytes[position] != UInt8(ascii: "\n") { position &+= 1 }
      }
    }
    return nil
  }
}

/// The byte that begins each value of a sequence by RFC 7464.
public let recordSeparator: UInt8 = 0x1e

/// Whether a byte may precede a value: white space, part of a byte order mark, or a separator.
public func isBlank(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf, recordSeparator: true
  default: false
  }
}

/// A value that is not an object or array.
private struct BareValue {
  /// The last byte other than white space and byte order marks.
  private var last: UInt8 = 0
  /// Whether its punctuation suggests that it is part of a larger value.
  private var isPart = false

  /// Whether an object that begins with `byte` is certainly not part of it.
  ///
  /// Inside a value, a comma, colon or bracket precedes each object.
  func isEnded(by byte: UInt8) -> Bool {
    guard byte == UInt8(ascii: "{") else { return false }
    if last == UInt8(ascii: "}") || last == UInt8(ascii: "]") { return true }
    return !isPart && last != UInt8(ascii: ":")
  }

  mutating func add(_ byte: UInt8) {
    if isBlank(byte) { return }
    isPart = isPart || "\",{[".utf8.contains(byte)
    last = byte
  }
}

/// The values in a range of bytes, up to the first one that is too long or that ends at least
/// `enough` bytes after the start.
struct ValueScan {
  private(set) var lastStart: Int?
  private(set) var isLastClosed = false
  /// Whether the last value is a closed object or array, which later bytes cannot change.
  private(set) var isLastWhole = false
  /// The value that is too long; without an end when the bytes end before it.
  private(set) var oversized: (start: Int, end: Int?, search: ValueEnd)?
  /// The end of the value at which `enough` bytes are reached; nil when there is none.
  private(set) var end: Int?

  init(_ bytes: UnsafeRawBufferPointer, valueBytesMax: Int, enough: Int = .max) {
    var position = 0
    while let start = bytes[position...].firstIndex(where: { !isBlank($0) }) {
      var search = ValueEnd()
      let end = search.find(in: bytes, from: start)
      if (end ?? bytes.count) - start > valueBytesMax {
        oversized = (start, end, search)
        return
      }
      lastStart = start
      isLastClosed = end != nil
      isLastWhole = isLastClosed && ValueEnd.isOpening(bytes[start])
      guard let end else { return }
      position = end
      if end >= enough {
        self.end = end
        return
      }
    }
  }
}
