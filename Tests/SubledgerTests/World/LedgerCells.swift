import EventStore
import Domain

/// A ledger's cells and current breaks with words instead of symbols, whose numbers depend on the
/// order of arrival.
func cells(_ path: String) throws -> [String: [String]] {
  let ledger = try Ledger.open(path: path, mode: .readOnly)
  let words = ledger.symbols.words
  let worded: Set<String> = ["app", "product", "country", "storefront", "currency"]
  var tables: [String: [String]] = [:]
  for table in [
    "revenue_cell", "revenue_month_cell", "movement_cell", "renewal_cell", "trial_cell",
    "retention_cell", "excluded_cell", "arrival_cell", "coverage_cell", "churn_doubt", "rate_cell",
    "price_cell", "overlap",
  ] {
    let columns = table == "rate_cell" ? "currency, day, hex(rates)" : "*"
    var rows: [String] = []
    try ledger.rows(sql: "select \(columns) from \(table)") { row in
      let cells = zip(row.names, 0..<row.columnCount).map { name, index in
        worded.contains(name) ? words[Int(row.number(index))] : row.text(index)
      }
      rows.append(cells.joined(separator: "|"))
    }
    tables[table] = rows.sorted()
  }
  var breaks: [String] = []
  // A reopened break counts as open.
  try ledger.rows(
    sql: """
      select break_id, code, iif(status = 'reopened', 'open', status), severity, lineage,
        expected_ms, settles_ms, estimated_usd, evidence
      from break_episode where resolved_ms is null
      """
  ) { row in breaks.append((0..<row.columnCount).map { row.text($0) }.joined(separator: "|")) }
  tables["break"] = breaks.sorted()
  return tables
}
