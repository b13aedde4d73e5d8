// Where JSON values begin and end, told by brackets and quotes alone. It is used only where a line
// is too long to be held, so that it need not be right about what is no JSON: a newline always ends
// a value, and whatever is neither bracket nor string counts as one value up to the next that is.

/// Finds the end of one value, over as many buffers as it takes.
struct ValueEnd {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var hasBegun = false

  /// Offset just behind the value, or of the newline that cuts it off; nil when `bytes` end first.
  mutating func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var position = start
    while position < bytes.count {
      if isInString {
        guard let quote = endOfString(in: bytes, from: position) else { return nil }
        if bytes[quote] == UInt8(ascii: "\n") { return quote }
        isInString = false
        position = quote + 1
        if depth == 0 { return position }
      } else {
        position = plainBytes(in: bytes, from: position)
        if position == bytes.count { return nil }
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\n"): return position
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          if depth == 1 { return position + 1 }
          depth = max(0, depth - 1)
        default:
          if depth == 0, hasBegun { return position }
          if byte == UInt8(ascii: "\"") { isInString = true } else { depth += 1 }
        }
        hasBegun = true
        position += 1
      }
    }
    return nil
  }

  /// Offset of the first bracket, quote or newline from `start` on, or the end.
  private mutating func plainBytes(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var position = start
    while position < bytes.count {
      let byte = bytes[position]
      // 0x20 turns the square brackets into the curly ones.
      let folded = byte | 0x20
      if folded == UInt8(ascii: "{") || folded == UInt8(ascii: "}")
        || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
      {
        break
      }
      position &+= 1
    }
    if position > start { hasBegun = true }
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

/// The values that stand in a stretch of bytes, up to the first one that is too long.
struct ValueScan {
  /// A value longer than the limit.
  struct Oversized {
    let start: Int
    /// Nil when the bytes end before the value does.
    let end: Int?
    /// Where the search for its end stands.
    let search: ValueEnd
  }

  private(set) var firstStart: Int?
  private(set) var lastStart: Int?
  private(set) var isLastClosed = false
  private(set) var oversized: Oversized?

  init(_ bytes: UnsafeRawBufferPointer, valueBytesMax: Int) {
    var position = 0
    while let start = firstByte(of: bytes, from: position) {
      var search = ValueEnd()
      let end = search.find(in: bytes, from: start)
      if (end ?? bytes.count) - start > valueBytesMax {
        oversized = Oversized(start: start, end: end, search: search)
        return
      }
      firstStart = firstStart ?? start
      lastStart = start
      isLastClosed = end != nil
      guard let end else { return }
      position = end
    }
  }
}

/// The next byte that is neither white space nor part of a byte order mark.
private func firstByte(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
  var position = start
  while position < bytes.count {
    switch bytes[position] {
    case 0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF: position += 1
    default: return position
    }
  }
  return nil
}
