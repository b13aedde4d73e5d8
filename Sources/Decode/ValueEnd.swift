/// Finds the end of one JSON value by brackets and quotes alone, over as many buffers as it takes.
///
/// For values that are too long to be held or are no JSON: where such a value ends, a glued line
/// goes on with the next. A newline always ends a value, and whatever is neither bracket nor string
/// counts as one value up to the next that is.
public struct ValueEnd: Sendable {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var hasBegun = false

  /// A search that has not begun.
  public init() {}

  /// Offset just behind the value, or of the newline that cuts it off; nil when `bytes` end first.
  public mutating func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
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
