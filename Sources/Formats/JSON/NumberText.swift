enum NumberText {
  /// The offset after the number at `start`, whose first byte is a digit or minus.
  @inline(__always)
  static func end(
    _ base: UnsafePointer<UInt8>, from start: Int, end: Int
  ) throws(JSONProblem) -> Int {
    var here = start
    if base[here] == UInt8(ascii: "-") { here += 1 }
    let first = here
    here = try digitsEnd(base, from: here, end: end)
    if base[first] == UInt8(ascii: "0"), here - first > 1 {
      throw JSONProblem(offset: first, cause: .leadingZero)
    }
    guard here < end, isWordByte(base[here]) else { return here }
    return try fractionEnd(base, from: here, end: end)
  }

  /// Whether `byte` could continue a number or bare word, so that nothing else may begin with it.
  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80...0xff:
      true
    default: false
    }
  }

  private static func fractionEnd(
    _ base: UnsafePointer<UInt8>, from start: Int, end: Int
  ) throws(JSONProblem) -> Int {
    var here = start
    if base[here] == UInt8(ascii: ".") {
      here = try digitsEnd(base, from: here + 1, end: end)
    }
    if here < end, base[here] | 0x20 == UInt8(ascii: "e") {
      here += 1
      if here < end, base[here] == UInt8(ascii: "+") || base[here] == UInt8(ascii: "-") {
        here += 1
      }
      here = try digitsEnd(base, from: here, end: end)
    }
    if here < end, isWordByte(base[here]) { throw JSONProblem(offset: here, cause: .numberEnd) }
    return here
  }

  /// The offset after one or more digits.
  @inline(__always)
  private static func digitsEnd(
    _ base: UnsafePointer<UInt8>, from start: Int, end: Int
  ) throws(JSONProblem) -> Int {
    var here = start
    while here < end, base[here] &- UInt8(ascii: "0") <= 9 { here += 1 }
    if here == start {
      throw JSONProblem(offset: here, cause: here == end ? .truncated : .digitExpected)
    }
    return here
  }
}
