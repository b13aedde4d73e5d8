/// One line of a CSV file: RFC 4180 quoting, cell after cell.
///
/// Text that a spreadsheet would run as a formula gets a leading `'` (OWASP, "CSV Injection"), and
/// control characters, which could steer a terminal, are replaced; numbers never change.
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

  /// A cell of text.
  mutating func add(text: String) {
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
    guard let first = bytes.first else { return }
    let needsQuotes = bytes.contains {
      $0 == comma || $0 == quote || $0 == carriageReturn || $0 == lineFeed
    }
    if needsQuotes { buffer.append(quote) }
    if startsFormula(first) { buffer.append(UInt8(ascii: "'")) }
    if bytes.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == 0xc2 || $0 == quote }) {
      append(special: bytes)
    } else {
      buffer.append(contentsOf: bytes)
    }
    if needsQuotes { buffer.append(quote) }
  }

  /// Doubles quotes and replaces the control characters of ASCII and of Latin-1 (U+0080–U+009F).
  private mutating func append(special bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == quote {
        buffer.append(contentsOf: [quote, quote])
      } else if byte == tab || byte == lineFeed || byte == carriageReturn {
        buffer.append(byte)
      } else if byte < 0x20 || byte == 0x7f {
        buffer.append(contentsOf: replacement)
      } else if byte == 0xc2, index < bytes.count, bytes[index] < 0xa0 {
        buffer.append(contentsOf: replacement)
        index += 1
      } else {
        buffer.append(byte)
      }
    }
  }
}

private let comma = UInt8(ascii: ",")
private let quote = UInt8(ascii: "\"")
private let tab = UInt8(ascii: "\t")
private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
/// U+FFFD in UTF-8.
private let replacement: [UInt8] = [0xef, 0xbf, 0xbd]

private func startsFormula(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): true
  case tab, carriageReturn: true
  default: false
  }
}
