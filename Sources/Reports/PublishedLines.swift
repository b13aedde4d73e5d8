internal import Formats
internal import Glibc
internal import Domain

/// The lines of a published file, read piece by piece; no cell of a report holds a line end.
struct PublishedLines {
  private let path: String

  init(of path: String) { self.path = path }

  /// Calls `body` at each line, without its end, until it answers false.
  func forEach(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
    guard let file = FilePieces(of: path, flags: O_NOFOLLOW) else {
      throw ReportError.cannotRead(path: path, errorNumber: errno)
    }
    var begun: [UInt8] = []
    while true {
      guard var rest = file.next() else {
        throw ReportError.cannotRead(path: path, errorNumber: errno)
      }
      if rest.isEmpty { return }
      while let end = rest.lineEnd {
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        if begun.isEmpty {
          guard try body(line) else { return }
        } else {
          begun += line
          guard try begun.withUnsafeBytes(body) else { return }
          begun.removeAll(keepingCapacity: true)
        }
      }
      begun += rest
    }
  }
}

/// The number of the month or day that a report prints as `text`, of whatever year; nil for any
/// other text.
private func printedPeriod(_ text: String) -> Int32? {
  if let month = printedMonth(text) { return month.number }
  guard let dash = text.lastIndex(of: "-"), let month = printedMonth(String(text[..<dash])),
    let number = Int32(text[text.index(after: dash)...]), (1...31).contains(number)
  else { return nil }
  let day = Day(number: month.firstDay.number + number - 1)
  return day.text == text ? day.number : nil
}

/// The month that a report prints as `text`.
private func printedMonth(_ text: String) -> Month? {
  guard let dash = text.lastIndex(of: "-"), let year = Int32(text[..<dash]),
    let number = Int32(text[text.index(after: dash)...]), abs(year) < 1 << 24
  else { return nil }
  let month = Month(number: year * 12 + number - 1)
  return month.text == text ? month : nil
}

extension PublishedLines {
  /// Calls `body` at the rows of a report whose rows come by month or by day, with its number.
  func forEachRow(
    _ body: (_ period: Int32, _ line: UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var period: Int32?
    /// The period as it is printed, with the comma behind it.
    var text: [UInt8] = []
    var isHeader = true
    try forEach { line in
      if isHeader {
        isHeader = false
        return true
      }
      if period == nil || !line.begins(with: text) {
        let cell = line.prefix { $0 != UInt8(ascii: ",") }
        text = cell + [UInt8(ascii: ",")]
        period = printedPeriod(String(decoding: cell, as: UTF8.self))
      }
      guard let period else {
        throw ReportError.identity(name: "every row has its period", rows: [path])
      }
      try body(period, line)
      return true
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Where the first line ends.
  var lineEnd: Int? {
    guard let start = baseAddress, let end = memchr(start, Int32(UInt8(ascii: "\n")), count)
    else { return nil }
    return start.distance(to: UnsafeRawPointer(end))
  }

  /// Whether the first bytes are those of `text`.
  func begins(with text: [UInt8]) -> Bool {
    guard let start = baseAddress, count >= text.count else { return false }
    return memcmp(start, text, text.count) == 0
  }

  /// Whether the last bytes are those of `text`.
  func ends(with text: StaticString) -> Bool {
    guard let start = baseAddress, count >= text.utf8CodeUnitCount else { return false }
    let tail = start + (count - text.utf8CodeUnitCount)
    return memcmp(tail, text.utf8Start, text.utf8CodeUnitCount) == 0
  }
}

/// The cells of a printed line as numbers.
struct PrintedCells {
  /// Where each cell begins, and one behind the last one's end.
  private var starts: [Int] = []
  /// The line without its end, as long as its reader holds it.
  private(set) var line = UnsafeRawBufferPointer(start: nil, count: 0)

  /// Finds the cells of `line`.
  mutating func split(_ line: UnsafeRawBufferPointer) {
    self.line = line
    starts.removeAll(keepingCapacity: true)
    starts.append(0)
    var isQuoted = false
    for index in line.indices {
      let byte = line[index]
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: ","), !isQuoted { starts.append(index + 1) }
    }
    starts.append(line.count + 1)
  }

  /// How many there are.
  var count: Int { starts.count - 1 }

  /// The bytes of a cell, with its quotes.
  func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: line[starts[index]..<starts[index + 1] - 1])
  }

  /// A number in units of its sixth decimal; nil for a cell that is none.
  func micros(_ index: Int) -> Int128? { PrintedNumber.micros(bytes(index)) }
}
