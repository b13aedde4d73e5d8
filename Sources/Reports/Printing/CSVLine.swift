internal import Domain

/// A cell of a CSV line.
public enum CSVCell: Sendable, Equatable {
  /// A number, a date or a word of the vocabulary.
  case plain(String)
  /// A whole number.
  case integer(Int64)
  /// A text from a provider, as received.
  case text(String)
  /// A name that was escaped when it was read, such as an archive's.
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

/// Lines of a CSV file without line ends, mostly one, built cell by cell: in RFC 4180, or in a form
/// that a spreadsheet does not change.
struct CSVLine {
  private(set) var buffer: [UInt8] = []
  let separator: UInt8
  private var isEmpty = true
  private let isForSpreadsheet: Bool
  private let point: UInt8

  init(_ dialect: CSVDialect = .rfc4180) {
    // Growing step by step would copy each line several times.
    buffer.reserveCapacity(128)
    isForSpreadsheet = dialect != .rfc4180
    separator = UInt8(ascii: dialect.separator)
    point = UInt8(ascii: dialect.hasDecimalComma ? "," : ".")
  }

  /// Starts the next line in the same memory.
  mutating func removeAll() {
    buffer.removeAll(keepingCapacity: true)
    isEmpty = true
  }

  /// Starts the next line behind the others.
  mutating func startLine() { isEmpty = true }

  mutating func addNothing() { separate() }

  /// Adds a cell without foreign text: a date, a flag, a header.
  mutating func add(plain text: String) {
    var text = text
    text.withUTF8 { add(cells: UnsafeRawBufferPointer($0)) }
  }

  mutating func add(text: String) { add(printed: cellText(text)) }

  mutating func add(name: String) { add(printed: nameText(name)) }

  /// Adds a cell of text that `cellText` leaves unchanged.
  mutating func add(printed text: String) {
    separate()
    var text = isForSpreadsheet && becomesNumber(text) ? "'" + text : text
    text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
  }

  mutating func add(numeral text: String) {
    separate()
    buffer.append(contentsOf: text.utf8.map { $0 == UInt8(ascii: ".") ? point : $0 })
  }

  mutating func add(id: Int64) {
    if isForSpreadsheet { add(printed: String(id)) } else { add(id) }
  }

  /// Adds cells that were printed before, as bytes.
  mutating func add(cells bytes: UnsafeRawBufferPointer) {
    separate()
    buffer.append(bytes)
  }

  mutating func add(cells bytes: [UInt8]) { bytes.withUnsafeBytes { add(cells: $0) } }

  mutating func add(_ instant: Instant) {
    let day = CivilCalendar.utc.day(of: instant)
    let date = day.date
    guard (0...9999).contains(date.year) else { return add(plain: instant.text) }
    let rest = Int(instant.milliseconds - Int64(day.number) * Interval.days(1).milliseconds)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
      var end = 0
      func put(_ number: Int, _ width: Int, before mark: Unicode.Scalar) {
        var (rest, place) = (number, end + width)
        text[place] = UInt8(ascii: mark)
        while place > end {
          place -= 1
          text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
          rest /= 10
        }
        end += width + 1
      }
      put(date.year, 4, before: "-")
      put(date.month, 2, before: "-")
      put(date.day, 2, before: "T")
      put(rest / 3_600_000, 2, before: ":")
      put(rest / 60_000 % 60, 2, before: ":")
      put(rest / 1000 % 60, 2, before: rest % 1000 == 0 ? "Z" : ".")
      if rest % 1000 != 0 { put(rest % 1000, 3, before: "Z") }
      add(cells: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<end]))
    }
  }

  mutating func add(_ number: Int64) { add(digits: number.magnitude, 0, number < 0) }

  /// Adds `micros` millionths with at least `decimals` (0–6) decimals and no more trailing zeros.
  mutating func add(micros: Int64, decimals: Int) {
    var (rest, count) = (micros.magnitude, 6)
    // Most amounts have no more than two decimals.
    if decimals <= 2, rest % 10_000 == 0 { (rest, count) = (rest / 10_000, 2) }
    while count > decimals, rest % 10 == 0 {
      rest /= 10
      count -= 1
    }
    add(digits: rest, count, micros < 0)
  }

  /// Adds a number whose last `decimals` digits are decimals.
  private mutating func add(digits number: UInt64, _ decimals: Int, _ isNegative: Bool) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
      var start = text.count
      func put(_ byte: UInt8) {
        start -= 1
        text[start] = byte
      }
      var rest = number
      for _ in 0..<decimals {
        put(digit(Int(truncatingIfNeeded: rest % 10)))
        rest /= 10
      }
      if decimals > 0 { put(point) }
      while rest >= 100 {
        let pair = Int(truncatingIfNeeded: rest % 100)
        put(digit(pair % 10))
        put(digit(pair / 10))
        rest /= 100
      }
      let first = Int(truncatingIfNeeded: rest)
      put(digit(first % 10))
      if first >= 10 { put(digit(first / 10)) }
      if isNegative { put(UInt8(ascii: "-")) }
      add(cells: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[start...]))
    }
  }

  private mutating func separate() {
    if !isEmpty { buffer.append(separator) }
    isEmpty = false
  }

  private mutating func append(text bytes: UnsafeRawBufferPointer) {
    guard bytes.contains(where: { $0 == separator || $0 == quote }) else {
      return buffer.append(bytes)
    }
    buffer.append(quote)
    for byte in bytes {
      buffer.append(byte)
      if byte == quote { buffer.append(quote) }
    }
    buffer.append(quote)
  }
}

extension [UInt8] {
  /// Appends bytes; `append(contentsOf:)` of any sequence needs a quarter more instructions.
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    append(addingCapacity: bytes.count) { room in
      room.withUnsafeMutableBufferPointer { room, count in
        UnsafeMutableRawBufferPointer(room).copyMemory(from: bytes)
        count = bytes.count
      }
    }
  }
}

/// The character of a digit (0–9).
private func digit(_ number: Int) -> UInt8 {
  UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)
}

private let quote = UInt8(ascii: "\"")
