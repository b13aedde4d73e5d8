internal import Glibc
internal import Vocabulary

/// The lines of a published file, read piece by piece; no cell of a report holds a line end.
struct PublishedLines {
  private let path: String

  init(of path: String) { self.path = path }

  /// Calls `body` at each line, without its end, until it answers false.
  func forEach(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw ReportError.cannotRead(path: path, errorNumber: errno) }
    defer { close(file) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { piece.deallocate() }
    var begun: [UInt8] = []
    while true {
      let count = read(file, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ReportError.cannotRead(path: path, errorNumber: errno) }
      guard count > 0 else { return }
      var rest = UnsafeRawBufferPointer(rebasing: piece[..<count])
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
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

/// The month that a report prints as `text`, of whatever year; nil for any other text.
private func printedMonth(_ text: String) -> Month? {
  guard let dash = text.lastIndex(of: "-"), let year = Int32(text[..<dash]),
    let number = Int32(text[text.index(after: dash)...]), abs(year) < 1 << 24
  else { return nil }
  let month = Month(number: year * 12 + number - 1)
  return month.text == text ? month : nil
}

extension PublishedLines {
  /// Calls `body` at the rows of the months before `until`, of a report whose rows come by month.
  func forEachRow(
    before until: Month,
    _ body: (_ month: Month, _ row: PrintedCells) throws -> Void
  ) throws {
    var cells = PrintedCells()
    var (month, text) = (Month?.none, "")
    var isHeader = true
    try forEach { line in
      if isHeader {
        isHeader = false
        return true
      }
      cells.split(line)
      if month == nil || !cells.bytes(0).elementsEqual(text.utf8) {
        text = String(decoding: cells.bytes(0), as: UTF8.self)
        month = printedMonth(text)
      }
      guard let month else {
        throw ReportError.identity(name: "every row has its month", rows: [path])
      }
      guard month < until else { return false }
      try body(month, cells)
      return true
    }
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
