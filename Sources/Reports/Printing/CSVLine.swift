internal import Domain

/// A cell of a CSV line.
public enum CSVCell: Sendable, Equatable {
  /// A number, a date or a word of this program.
  case plain(String)
  /// A whole number.
  case integer(Int64)
  /// A text from a provider, as received.
  case text(String)
  /// A name that was escaped when it was read, as names of archives are.
  case name(String)
}

/// One line of a CSV file, without a line end.
public func csvLine(_ cells: [CSVCell]) -> [UInt8] {
  var line = CSVLine()
  for cell in cells {
    switch cell {
    case .plain(let text): line.add(plain: text)
    case .integer(let number): line.add(number)
    case .text(let text): line.add(text: text)
    case .name(let text): line.add(name: text)
    }
  }
  return line.buffer
}

/// One line of a CSV file, cell after cell: in RFC 4180, or so that a spreadsheet does not change
/// it.
struct CSVLine {
  private(set) var buffer: [UInt8] = []
  let separator: UInt8
  private var isEmpty = true
  private let isForSpreadsheet: Bool
  private let point: UInt8

  init(_ dialect: CSVDialect = .rfc4180) {
    isForSpreadsheet = dialect != .rfc4180
    separator = UInt8(ascii: dialect.separator)
    point = UInt8(ascii: dialect.hasDecimalComma ? "," : ".")
  }

  /// Begins the next line in the same memory.
  mutating func removeAll() {
    buffer.removeAll(keepingCapacity: true)
    isEmpty = true
  }

  mutating func addNothing() { separate() }

  /// A cell without foreign text: a date, a flag, a header.
  mutating func add(plain text: String) {
    separate()
    buffer.append(contentsOf: text.utf8)
  }

  mutating func add(text: String) { add(printed: CellText.of(text)) }

  mutating func add(name: String) { add(printed: CellText.of(name: name)) }

  /// A cell of text that `CellText` leaves unchanged.
  mutating func add(printed text: String) {
    separate()
    var text = isForSpreadsheet && CellText.becomesNumber(text) ? "'" + text : text
    text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
  }

  mutating func add(numeral text: String) {
    separate()
    buffer.append(contentsOf: text.utf8.map { $0 == UInt8(ascii: ".") ? point : $0 })
  }

  mutating func add(id: Int64) {
    if isForSpreadsheet { add(printed: String(id)) } else { add(id) }
  }

  /// A cell whose bytes another line has made already.
  mutating func add(cell bytes: [UInt8]) {
    separate()
    buffer.append(contentsOf: bytes)
  }

  mutating func add(_ instant: Instant) {
    let day = CivilCalendar.utc.day(of: instant)
    let date = day.date
    guard (0...9999).contains(date.year) else { return add(plain: instant.text) }
    separate()
    let rest = UInt64(instant.milliseconds - Int64(day.number) * Interval.day.milliseconds)
    append(digitsOf: UInt64(date.year), atLeast: 4)
    append(digitsOf: UInt64(date.month), atLeast: 2, after: "-")
    append(digitsOf: UInt64(date.day), atLeast: 2, after: "-")
    append(digitsOf: rest / 3_600_000, atLeast: 2, after: "T")
    append(digitsOf: rest / 60_000 % 60, atLeast: 2, after: ":")
    append(digitsOf: rest / 1000 % 60, atLeast: 2, after: ":")
    if rest % 1000 != 0 { append(digitsOf: rest % 1000, atLeast: 3, after: ".") }
    buffer.append(UInt8(ascii: "Z"))
  }

  private mutating func append(
    digitsOf number: UInt64, atLeast width: Int, after mark: Unicode.Scalar
  ) {
    buffer.append(UInt8(ascii: mark))
    append(digitsOf: number, atLeast: width)
  }

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
    buffer.append(point)
    append(digitsOf: rest, atLeast: count)
  }

  private mutating func separate() {
    if !isEmpty { buffer.append(separator) }
    isEmpty = false
  }

  /// Two digits at a time, from the end: dividing is what printing a number costs.
  private mutating func append(digitsOf number: UInt64, atLeast width: Int) {
    if width == 2, number < 100 {
      buffer.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
      return buffer.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: digitsMax) { digits in
      var start = digitsMax
      var rest = number
      while rest >= 10 {
        let (hundreds, pair) = rest.quotientAndRemainder(dividingBy: 100)
        let (ten, one) = pair.quotientAndRemainder(dividingBy: 10)
        digits[start - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: one)
        digits[start - 2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: ten)
        start -= 2
        rest = hundreds
      }
      if rest > 0 || start == digitsMax {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
      }
      while digitsMax - start < width {
        start -= 1
        digits[start] = UInt8(ascii: "0")
      }
      buffer.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start...]))
    }
  }

  private mutating func append(text bytes: UnsafeRawBufferPointer) {
    guard bytes.contains(where: { $0 == separator || $0 == quote }) else {
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

/// Digits of the greatest number of 64 bits.
private let digitsMax = 20
private let quote = UInt8(ascii: "\"")
