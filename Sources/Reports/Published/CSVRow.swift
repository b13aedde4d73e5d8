internal import Domain

/// A row of a CSV file of a set.
public struct CSVRow {
  private let names: [String]
  private let isNumber: [Bool]
  private let isForSpreadsheet: Bool
  private let separator: UInt8
  /// The cells without quotes, with separators between them, and where each of them ends.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  init(_ columns: [ReportColumn], _ dialect: CSVDialect) {
    names = columns.map(\.name)
    isNumber = columns.map { $0.type == "number" || $0.type == "integer" }
    isForSpreadsheet = dialect != .rfc4180
    separator = UInt8(ascii: dialect.separator)
  }

  /// The cell of a column as the dialect `rfc4180` prints it; empty when unknown or absent.
  public subscript(column: Int) -> String {
    let text = String(decoding: cell(column), as: UTF8.self)
    guard isForSpreadsheet else { return text }
    if isNumber[column] { return String(text.map { $0 == "," ? "." : $0 }) }
    return text.hasPrefix("'") && CellText.becomesNumber(text) ? String(text.dropFirst()) : text
  }

  /// The number of a column in millionths; nil when it is empty.
  public func micros(_ column: Int) -> Int64? { Self.micros(of: cell(column)) }

  /// A number that is printed so, in millionths; nil of nothing.
  public static func micros(of cell: some Collection<UInt8>) -> Int64? {
    guard let first = cell.first else { return nil }
    var micros: Int128 = 0
    var decimals: Int?
    for byte in cell {
      if byte == UInt8(ascii: "-") { continue }
      if byte < UInt8(ascii: "0") {
        decimals = 0
      } else {
        micros = micros * 10 + Int128(byte - UInt8(ascii: "0"))
        decimals = decimals.map { $0 + 1 }
      }
    }
    for _ in (decimals ?? 0)..<6 { micros *= 10 }
    return Int64(clamping: first == UInt8(ascii: "-") ? -micros : micros)
  }

  private func cell(_ column: Int) -> ArraySlice<UInt8> {
    bytes[(column == 0 ? 0 : ends[column - 1] + 1)..<ends[column]]
  }

  /// Whether the line that was read is the header, with or without a byte order mark.
  var isHeader: Bool {
    let mark: [UInt8] = isForSpreadsheet ? [0xef, 0xbb, 0xbf] : []
    return bytes.starts(with: mark)
      && names.indices.allSatisfy { column in
        cell(column).dropFirst(column == 0 ? mark.count : 0).elementsEqual(names[column].utf8)
      }
  }

  /// Whether the cells of columns of numbers are numbers.
  var hasNumbers: Bool {
    isNumber.indices.allSatisfy { !isNumber[$0] || Self.isNumber(cell($0)) }
  }

  private static func isNumber(_ cell: ArraySlice<UInt8>) -> Bool {
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

  /// Takes the cells of a line; false when it has not one for each column.
  mutating func read(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    let line = line.dropLast(isForSpreadsheet ? 1 : 0)
    guard line.contains(UInt8(ascii: "\"")) else {
      bytes.append(contentsOf: line)
      for (place, byte) in bytes.enumerated() where byte == separator { ends.append(place) }
      ends.append(bytes.count)
      return ends.count == names.count
    }
    var isQuoted = false
    var wasClosed = false
    for byte in line {
      if byte == UInt8(ascii: "\"") {
        // Two quotes inside a quoted cell are one of its text.
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
    return !isQuoted && ends.count == names.count
  }
}
