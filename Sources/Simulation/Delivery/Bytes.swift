import Domain

/// Text in the making, without a `String` per piece.
struct Bytes {
  private(set) var array: [UInt8] = []

  mutating func reserve(_ count: Int) { array.reserveCapacity(count) }

  mutating func removeAll() { array.removeAll(keepingCapacity: true) }

  mutating func put(_ text: StaticString) {
    array.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func put(word: String) { array.append(contentsOf: word.utf8) }

  /// A word in quotation marks.
  ///
  /// Words of the world need no escapes.
  mutating func put(quoted word: String) {
    array.append(UInt8(ascii: "\""))
    put(word: word)
    array.append(UInt8(ascii: "\""))
  }

  mutating func put(_ number: Int64) {
    guard number != 0 else { return array.append(UInt8(ascii: "0")) }
    if number < 0 { array.append(UInt8(ascii: "-")) }
    put(digits: number.magnitude, width: 1)
  }

  /// The decimal digits of `value`, at least `width` of them.
  mutating func put(digits value: UInt64, width: Int) {
    let first = array.count
    var rest = value
    while rest > 0 || array.count - first < width {
      array.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    }
    array[first...].reverse()
  }

  /// `count` lower-case hexadecimal digits of `value`.
  mutating func put(hex value: UInt64, count: Int) {
    for place in stride(from: (count - 1) * 4, through: 0, by: -4) {
      let nibble = UInt8(truncatingIfNeeded: value >> UInt64(place)) & 15
      array.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
    }
  }

  /// An amount of millionths as a JSON number, exact, without needless decimals.
  mutating func put(micros: Int64) {
    if micros < 0 { array.append(UInt8(ascii: "-")) }
    let (whole, fraction) = micros.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    put(digits: whole, width: 1)
    guard fraction > 0 else { return }
    array.append(UInt8(ascii: "."))
    put(digits: fraction, width: 6)
    while array.last == UInt8(ascii: "0") { array.removeLast() }
  }

  mutating func put(_ other: Bytes) { array.append(contentsOf: other.array) }

  /// JSON text as the content of a JSON string.
  mutating func put(escaped other: Bytes) {
    for byte in other.array {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        array.append(UInt8(ascii: "\\"))
      }
      array.append(byte)
    }
  }
}
