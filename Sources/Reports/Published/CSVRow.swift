public import Domain
internal import Formats

/// A row of a set's CSV file.
public struct CSVRow {
  private let names: [String]
  private let isNumber: [Bool]
  private let isForSpreadsheet: Bool
  private let separator: UInt8
  /// The cells without quotes, joined by separators, and the end of each cell.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// An empty row of a file with these columns.
  public init(_ columns: [ReportColumn], _ dialect: CSVDialect = .rfc4180) {
    names = columns.map(\.name)
    isNumber = columns.map {
      $0.type == "number" || $0.type == "integer" || $0.format == .numeral
    }
    isForSpreadsheet = dialect != .rfc4180
    separator = UInt8(ascii: dialect.separator)
  }

  /// The cell of a column as the dialect `rfc4180` prints it; empty when unknown or absent.
  public subscript(column: Int) -> String {
    let text = String(decoding: cell(column), as: UTF8.self)
    guard isForSpreadsheet else { return text }
    if isNumber[column] { return String(text.map { $0 == "," ? "." : $0 }) }
    return text.hasPrefix("'") && becomesNumber(text) ? String(text.dropFirst()) : text
  }

  /// The number of a column in millionths; nil when it is empty.
  public func micros(_ column: Int) -> Int64? {
    bytes.withUnsafeBytes { Self.micros(of: $0[place(of: column)]) }
  }

  /// Printed cells of some columns as one text, equal for rows with equal cells: no cell contains
  /// the control character between them.
  public func joined(_ columns: [Int]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for column in columns {
      text.append(contentsOf: cell(column))
      text.append(0)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A printed number in millionths; nil if empty, and an arbitrary value if it is not a number.
  public static func micros(of cell: some Collection<UInt8>) -> Int64? {
    guard let first = cell.first else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    // Fits in 64 bits with six more digits, too.
    if cell.count <= 12 { return isNegative ? 0 &- digits(cell, 0) : digits(cell, 0) }
    let micros: Int128 = digits(cell, 0)
    return Int64(clamping: isNegative ? 0 &- micros : micros)
  }

  private static func digits<Number: FixedWidthInteger>(
    _ cell: some Collection<UInt8>, _ none: Number
  ) -> Number {
    var micros = none
    var missing: Number?
    for byte in cell where byte != UInt8(ascii: "-") {
      guard byte >= UInt8(ascii: "0") else {
        missing = 1_000_000
        continue
      }
      micros = micros &* 10 &+ Number(byte - UInt8(ascii: "0"))
      missing = missing.map { $0 / 10 }
    }
    return micros &* (missing ?? 1_000_000)
  }

  private func cell(_ column: Int) -> ArraySlice<UInt8> { bytes[place(of: column)] }

  private func place(of column: Int) -> Range<Int> {
    (column == 0 ? 0 : ends[column - 1] + 1)..<ends[column]
  }

  /// Whether the last line read is the header, with or without a byte order mark.
  var isHeader: Bool {
    let mark: [UInt8] = isForSpreadsheet ? [0xef, 0xbb, 0xbf] : []
    return bytes.starts(with: mark)
      && names.indices.allSatisfy { column in
        cell(column).dropFirst(column == 0 ? mark.count : 0).elementsEqual(names[column].utf8)
      }
  }

  /// Whether all cells of numeric columns are numbers.
  var hasNumbers: Bool {
    bytes.withUnsafeBytes { bytes in
      isNumber.indices.allSatisfy { !isNumber[$0] || Self.isNumber(bytes[place(of: $0)]) }
    }
  }

  private static func isNumber(_ cell: Slice<UnsafeRawBufferPointer>) -> Bool {
    let digits = cell.first == UInt8(ascii: "-") ? cell.dropFirst() : cell
    var decimals: Int?
    for byte in digits {
      if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") {
        guard decimals == nil else { return false }
        decimals = 0
      } else {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return false }
        decimals = decimals.map { $0 + 1 }
      }
    }
    return digits.count <= 21 && decimals ?? 0 <= 6
  }

  /// The cells of any line of comma-separated values; nil when a quoted cell does not end.
  public static func cells(of line: String) -> [String]? {
    var row = CSVRow([])
    guard Array(line.utf8).withUnsafeBytes({ row.split($0) }) else { return nil }
    return row.ends.indices.map { row[$0] }
  }

  /// Reads the cells of a line; returns false when it does not have one cell per column.
  public mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
    split(line) && ends.count == names.count
  }

  /// Reads the cells of a line; returns false when a quoted cell does not end.
  private mutating func split(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    let line = UnsafeRawBufferPointer(rebasing: line.dropLast(isForSpreadsheet ? 1 : 0))
    guard line.place(of: UInt8(ascii: "\""), from: 0) != nil else {
      bytes.append(contentsOf: line)
      while let end = line.place(of: separator, from: (ends.last ?? -1) + 1) { ends.append(end) }
      ends.append(bytes.count)
      return true
    }
    var isQuoted = false
    var wasClosed = false
    for byte in line {
      if byte == UInt8(ascii: "\"") {
        // Two quotes inside a quoted cell are one quote of its text.
        if wasClosed { bytes.append(byte) }
        wasClosed = isQuoted
        isQuoted.toggle()
        continue
      }
      wasClosed = false
      if byte == separator, !isQuoted { ends.append(bytes.count) }
      bytes.append(byte)
    }
    ends.append(bytes.count)
    return !isQuoted
  }
}
