import Domain
import EventStore
import Formats
import Reports

/// Writes rows as they arrive, in bounded memory; as text, in aligned columns.
final class RowOutput {
  private(set) var rows = 0
  private let format: AnswerFormat
  private let write: ([UInt8]) throws -> Void
  private var columns: [String] = []
  private var buffer: [UInt8] = []
  /// Rows of a table that wait until the widths of the columns are known.
  private var waiting: [Record] = []

  init(as format: AnswerFormat, write: @escaping ([UInt8]) throws -> Void) {
    self.format = format
    self.write = write
  }

  func begin(_ columns: [String]) throws {
    self.columns = columns
    if format == .csv { try line(csvLine(columns.map(CSVCell.text))) }
  }

  func add(_ values: [LedgerValue]) throws {
    rows += 1
    switch format {
    case .csv: try line(csvLine(values.map(\.cell)))
    case .json:
      let members = zip(columns, values.map(\.json))
      try line(JSONValue.object(Dictionary(members) { $1 }).line)
    case .text:
      waiting.append(Record(zip(columns, values).map { ($0, $1.cell) }))
      if waiting.count == 1000 { try writeTable() }
    }
  }

  func finish() throws {
    if format == .text {
      if rows == 0 { try line(columns.joined(separator: "  ").utf8) }
      try writeTable()
    }
    if !buffer.isEmpty { try write(buffer) }
    buffer.removeAll()
  }

  /// Writes a heading and the waiting rows, up to a thousand.
  private func writeTable() throws {
    for row in Record.table(waiting) { try line(row.utf8) }
    waiting.removeAll(keepingCapacity: true)
  }

  private func line(_ bytes: some Sequence<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    buffer.append(UInt8(ascii: "\n"))
    guard buffer.count >= 1 << 16 else { return }
    try write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}

extension LedgerValue {
  /// The value as in reports: a spreadsheet does not run text from outside.
  var cell: CSVCell {
    switch self {
    case .null: return .plain("")
    case .integer(let number): return .integer(number)
    case .text(var text):
      // A negative amount is not a formula.
      let isNumber = text.withUTF8 { DecimalText.amount(UnsafeRawBufferPointer($0)) } != nil
      return isNumber ? .plain(text) : .text(text)
    }
  }

  var json: JSONValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .string(text)
    }
  }
}
