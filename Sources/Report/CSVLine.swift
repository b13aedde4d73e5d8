/// One line of a CSV file: RFC 4180 quoting, cell after cell.
struct CSVLine {
  private(set) var buffer: [UInt8] = []
  private var isEmpty = true

  /// Begins the next line in the same memory.
  mutating func removeAll() {
    buffer.removeAll(keepingCapacity: true)
    isEmpty = true
  }

  /// An empty cell.
  mutating func addNothing() { separate() }

  /// A cell that is no text of anybody: a date, a flag, a header.
  mutating func add(plain text: String) {
    separate()
    buffer.append(contentsOf: text.utf8)
  }

  /// A cell of text as it was told.
  mutating func add(text: String) { add(printed: CellText.of(text)) }

  /// A cell of text that was escaped when it was read.
  mutating func add(name: String) { add(printed: CellText.of(name: name)) }

  /// A cell of text that nothing of `CellText` is left to do for.
  mutating func add(printed text: String) {
    separate()
    var text = text
    text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
  }

  /// A cell with a whole number.
  mutating func add(_ number: Int64) {
    separate()
    if number < 0 { buffer.append(UInt8(ascii: "-")) }
    append(digitsOf: number.magnitude, atLeast: 1)
  }

  /// A cell with `micros` millionths, with at least `decimals` (0–6) decimals and no further
  /// trailing zeros.
  mutating func add(micros: Int64, decimals: Int) {
    separate()
    if micros < 0 { buffer.append(UInt8(ascii: "-")) }
    let (whole, fraction) = micros.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    append(digitsOf: whole, atLeast: 1)
    var rest = fraction
    var count = 6
    while count > decimals, rest % 10 == 0 {
      rest /= 10
      count -= 1
    }
    if count == 0 { return }
    buffer.append(UInt8(ascii: "."))
    append(digitsOf: rest, atLeast: count)
  }

  private mutating func separate() {
    if !isEmpty { buffer.append(comma) }
    isEmpty = false
  }

  private mutating func append(digitsOf number: UInt64, atLeast width: Int) {
    var divisor: UInt64 = 1
    var count = 1
    while count < width || (count < 20 && number / divisor >= 10) {
      divisor *= 10
      count += 1
    }
    while divisor > 0 {
      buffer.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  private mutating func append(text bytes: UnsafeRawBufferPointer) {
    guard bytes.contains(where: { $0 == comma || $0 == quote }) else {
      return buffer.append(contentsOf: bytes)
    }
    buffer.append(quote)
    for byte in bytes {
      buffer.append(byte)
      if byte == quote { buffer.append(quote) }
    }
    buffer.append(quote)
  }
}

private let comma = UInt8(ascii: ",")
private let quote = UInt8(ascii: "\"")
