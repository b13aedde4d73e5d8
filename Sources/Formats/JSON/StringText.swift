/// The content of a JSON string: its end, validity and text.
enum StringText {
  /// The first offset that is not plain ASCII: a quote, backslash, control character or a byte
  /// above 0x7f; or `end`.
  ///
  /// Reads eight bytes at a time. A byte's top bit is set where `word - ones` borrows, so the
  /// lowest bit found is always correct; higher bits may come from its borrow.
  /// Source: Bit Twiddling Hacks, "Determine if a word has a byte less than n".
  @inline(__always)
  static func plainEnd(_ base: UnsafePointer<UInt8>, from start: Int, end: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var here = start
    while here &+ 8 <= end {
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base + here).loadUnaligned(as: UInt64.self))
      let quotes = word ^ (ones &* 0x22)
      let backslashes = word ^ (ones &* 0x5c)
      let borrows =
        ((quotes &- ones) | (backslashes &- ones) | (word &- ones &* 0x20)) & ~word | word
      let marks = borrows & (ones &* 0x80)
      if marks != 0 { return here &+ marks.trailingZeroBitCount >> 3 }
      here &+= 8
    }
    while here < end, isPlain(base[here]) { here &+= 1 }
    return here
  }

  /// The offset of the closing quote; `start` must be between two characters.
  static func end(
    _ base: UnsafePointer<UInt8>, from start: Int, end: Int, isEscaped: inout Bool
  ) throws(JSONProblem) -> Int {
    var here = start
    while here < end {
      let byte = base[here]
      if byte >= 0x80 {
        here = try characterEnd(base, from: here, end: end)
      } else if byte == UInt8(ascii: "\"") {
        return here
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
        here = plainEnd(base, from: try escapeEnd(base, from: here, end: end), end: end)
      } else if byte < 0x20 {
        throw JSONProblem(offset: here, cause: .controlCharacter)
      } else {
        here = plainEnd(base, from: here, end: end)
      }
    }
    throw JSONProblem(offset: end, cause: .truncated)
  }

  /// Writes the unescaped `text` of a string validated before; returns the number of bytes written.
  static func unescape(
    _ text: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>
  ) -> Int {
    var written = 0
    var here = 0
    while here < text.count {
      let copied = copyPlain(text, from: here, to: target + written)
      written += copied
      here += copied
      guard here < text.count else { break }
      let letter = text[here + 1]
      here += 2
      guard letter == UInt8(ascii: "u") else {
        target[written] = plainEscape(letter) ?? letter
        written += 1
        continue
      }
      var scalar = hexValue(text, at: here)
      here += 4
      if scalar & 0xfc00 == 0xd800 {
        scalar = 0x10000 + (scalar & 0x3ff) << 10 + hexValue(text, at: here + 2) & 0x3ff
        here += 6
      }
      written += write(scalar, to: target + written)
    }
    return written
  }

  /// Copies from `start` up to the next backslash or the end; returns the number of bytes copied.
  ///
  /// Writes whole words: excess bytes are overwritten later, and fit because the output is never
  /// ahead of the input.
  @inline(__always)
  private static func copyPlain(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, to target: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let raw = UnsafeRawBufferPointer(text)
    var here = start
    while here &+ 8 <= raw.count {
      let word = raw.loadUnaligned(fromByteOffset: here, as: UInt64.self)
      UnsafeMutableRawPointer(target + (here - start)).storeBytes(of: word, as: UInt64.self)
      let backslashes = UInt64(littleEndian: word) ^ (ones &* 0x5c)
      let marks = (backslashes &- ones) & ~backslashes & (ones &* 0x80)
      if marks != 0 { return here - start + marks.trailingZeroBitCount >> 3 }
      here &+= 8
    }
    while here < raw.count, raw[here] != UInt8(ascii: "\\") {
      target[here - start] = raw[here]
      here += 1
    }
    return here - start
  }

  /// The offset after the multi-byte character at `start`.
  ///
  /// Source: The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
  private static func characterEnd(
    _ base: UnsafePointer<UInt8>, from start: Int, end: Int
  ) throws(JSONProblem) -> Int {
    let count: Int
    var second: ClosedRange<UInt8> = 0x80...0xbf
    switch base[start] {
    case 0xc2...0xdf: count = 2
    case 0xe0: (count, second) = (3, 0xa0...0xbf)
    case 0xed: (count, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: count = 3
    case 0xf0: (count, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: count = 4
    case 0xf4: (count, second) = (4, 0x80...0x8f)
    default: throw JSONProblem(offset: start, cause: .encoding)
    }
    for index in 1..<count {
      guard start + index < end else { throw JSONProblem(offset: end, cause: .truncated) }
      let allowed = index == 1 ? second : 0x80...0xbf
      guard allowed.contains(base[start + index]) else {
        throw JSONProblem(offset: start, cause: .encoding)
      }
    }
    return start + count
  }

  /// The offset after the escape, or surrogate pair of escapes, at `start`.
  private static func escapeEnd(
    _ base: UnsafePointer<UInt8>, from start: Int, end: Int
  ) throws(JSONProblem) -> Int {
    guard start + 1 < end else { throw JSONProblem(offset: end, cause: .truncated) }
    let letter = base[start + 1]
    if plainEscape(letter) != nil { return start + 2 }
    guard letter == UInt8(ascii: "u") else { throw JSONProblem(offset: start, cause: .escape) }
    let scalar = try hexDigits(base, at: start + 2, end: end)
    guard scalar & 0xf800 == 0xd800 else { return start + 6 }
    // Half a surrogate pair has no UTF-8 form, so it is rejected and not replaced.
    guard scalar < 0xdc00 else { throw JSONProblem(offset: start, cause: .loneSurrogate) }
    for index in 6...7 {
      guard start + index < end else { throw JSONProblem(offset: end, cause: .truncated) }
      guard base[start + index] == UInt8(ascii: index == 6 ? "\\" : "u") else {
        throw JSONProblem(offset: start, cause: .loneSurrogate)
      }
    }
    let low = try hexDigits(base, at: start + 8, end: end)
    guard low & 0xfc00 == 0xdc00 else { throw JSONProblem(offset: start, cause: .loneSurrogate) }
    return start + 12
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// The character of the escape with `letter`; nil for `u` and for invalid escapes.
  private static func plainEscape(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0c
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "r"): 0x0d
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  private static func hexDigits(
    _ base: UnsafePointer<UInt8>, at start: Int, end: Int
  ) throws(JSONProblem) -> UInt32 {
    var value: UInt32 = 0
    for here in start..<start + 4 {
      guard here < end else { throw JSONProblem(offset: end, cause: .truncated) }
      guard let digit = hexDigit(base[here]) else {
        throw JSONProblem(offset: here, cause: .escape)
      }
      value = value << 4 | digit
    }
    return value
  }

  private static func hexValue(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt32 {
    text[start..<start + 4].reduce(0) { $0 << 4 | (hexDigit($1) ?? 0) }
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }

  /// Writes one Unicode scalar as UTF-8 and returns its length.
  private static func write(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift) & 0x3f | 0x80 }
    switch scalar {
    case 0..<0x80:
      target[0] = UInt8(truncatingIfNeeded: scalar)
      return 1
    case 0x80..<0x800:
      target[0] = UInt8(truncatingIfNeeded: scalar >> 6) | 0xc0
      target[1] = tail(0)
      return 2
    case 0x800..<0x10000:
      target[0] = UInt8(truncatingIfNeeded: scalar >> 12) | 0xe0
      target[1] = tail(6)
      target[2] = tail(0)
      return 3
    default:
      target[0] = UInt8(truncatingIfNeeded: scalar >> 18) | 0xf0
      target[1] = tail(12)
      target[2] = tail(6)
      target[3] = tail(0)
      return 4
    }
  }
}
