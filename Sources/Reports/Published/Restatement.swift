internal import EventStore
internal import Domain

/// A row of a monthly report whose numbers differ from the published or closed ones.
struct Restatement: Sendable {
  let shape: RowShape
  let month: Month
  let key: [UInt8]
  let run: Int64
  var cause: Cause
  /// The columns that differ, with both values.
  let cells: [(column: Int, published: LedgerValue, restated: LedgerValue)]

  var columnNames: [String] { cells.map { shape.definition.columns[$0.column].name } }

  func keyText(_ labels: Labels) throws -> ExactText {
    var line = CSVLine()
    var printer = RowPrinter(labels)
    for (column, cell) in zip(shape.keys, ReportRow.decode(key) ?? []) {
      try printer.add(cell, as: shape.definition.columns[column].format, to: &line)
    }
    return ExactText(String(decoding: line.buffer, as: UTF8.self))
  }
}

/// Writes `restatements.csv`: a line for each number that differs.
func writeRestatements(
  _ restatements: [Restatement], plan: ReportPlan, labels: Labels, into folder: String
) throws -> (ReportTable, FileSeal) {
  let definition = ReportDefinition.restatements
  let name = "\(definition.name).csv"
  let file = try CSVFile(path: "\(folder)/\(name)", dialect: plan.dialect)
  var line = CSVLine(plan.dialect)
  for column in definition.columns { line.add(plain: column.name) }
  try file.add(line)
  var printer = RowPrinter(labels)
  var lines: Int64 = 0
  let ordered = try restatements.map { ($0, try $0.keyText(labels)) }.sorted { one, other in
    let (report, otherReport) = (one.0.shape.definition.name, other.0.shape.definition.name)
    if report != otherReport {
      return report.utf8.lexicographicallyPrecedes(otherReport.utf8)
    }
    return one.0.month == other.0.month
      ? one.1.precedes(other.1) : one.0.month < other.0.month
  }
  for (row, key) in ordered {
    try plan.checkStop()
    let columns = row.shape.definition.columns
    let cells = row.cells.sorted {
      columns[$0.column].name.utf8.lexicographicallyPrecedes(columns[$1.column].name.utf8)
    }
    for cell in cells {
      let column = columns[cell.column]
      line.removeAll()
      line.add(plain: row.shape.definition.name)
      line.add(plain: row.month.text)
      line.add(printed: key.text)
      line.add(plain: column.name)
      try printer.add(cell.published, as: column.format, to: &line)
      try printer.add(cell.restated, as: column.format, to: &line)
      line.add(numeral: column.format.delta(from: cell.published, to: cell.restated))
      line.add(plain: row.cause.rawValue)
      line.add(row.run)
      try file.add(line)
      lines += 1
    }
  }
  let table = ReportTable(path: name, rows: lines, columns: definition.columns.map(\.shown))
  return (table, try file.finish())
}

extension CellFormat {
  /// `restated` − `published`; empty if one of them is unknown.
  func delta(from published: LedgerValue, to restated: LedgerValue) -> String {
    guard let old = published.integer, let new = restated.integer else { return "" }
    let delta = Int128(new) - Int128(old)
    switch self {
    case .integer: return String(delta)
    case .amount: return amountText(delta)
    case .ratio: return Amount(micros: Int64(clamping: delta)).text(decimalsMin: 6)
    default: return ""
    }
  }
}
