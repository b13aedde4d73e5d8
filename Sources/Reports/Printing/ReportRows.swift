public import EventStore
internal import Domain

/// The columns of a report by the name of its file or folder; nil when it does not exist.
public func reportColumns(_ report: String) -> [ReportColumn]? { layout(report)?.columns }

/// Every word that columns with this name can contain in reports; empty when events supply the
/// words, nil when the column has none.
public func columnWords(_ column: String) -> [String]? {
  let named = ReportDefinition.all.flatMap(\.columns).filter { $0.name == column }
  return named.compactMap(\.part).first?.names.map(\.1)
}

/// Calls `body` for every row of a report from the ledger's cells, by period, printed exactly.
///
/// Tables in the temporary schema hide tables of the ledger with the same name. Throws
/// `SubledgerError`, and whatever `body` throws.
public func forEachRow(
  of report: String, from ledger: Ledger, plan: ReportPlan, _ body: (CSVRow) throws -> Void
) throws {
  guard let layout = layout(report), let query = layout.query else { return }
  let context = ReportContext(ledger: ledger, plan: plan)
  try context.prepare()
  try layout.prepare?(context)
  var rows = PrintedRows(
    layout, plan: ReportPlan(rules: plan.rules, run: plan.run), labels: try Labels(of: ledger))
  var cells = CSVRow(layout.columns)
  var places: [Int32] = []
  try ledger.rows(sql: String(decoding: query, as: UTF8.self)) { row in
    if places.isEmpty { places = layout.places(in: row) }
    try rows.append({ row.optionalInt64(places[$0]) }, text: { row.text(places[$0]) })
    let isRow = rows.line.buffer.withUnsafeBytes { cells.read($0) }
    precondition(isRow, "a row is printed with a cell for each column")
    try body(cells)
  }
}

private func layout(_ name: String) -> ReportDefinition? {
  ReportPartition.allCases.flatMap(\.layouts).first { $0.name == name }
}
