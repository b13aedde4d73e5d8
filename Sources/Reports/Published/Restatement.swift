internal import EventStore
internal import Domain

/// A row of a monthly report whose numbers differ from the published or closed ones.
struct Restatement: Sendable {
  let shape: RowShape
  let month: Month
  let key: [UInt8]
  let run: Int64
  var cause: Cause
  /// The columns that differ, with the published and the restated value.
  let cells: [(column: Int, published: LedgerValue, restated: LedgerValue)]
}

/// Writes `restatements.csv`: one row per number that differs.
func writeRestatements(
  _ restatements: [Restatement], plan: ReportPlan, labels: Labels, into folder: String
) throws -> WrittenReports {
  let ordered = try restatements.map { row in
    let key = try row.shape.text(ReportRow.decode(row.key) ?? [], of: row.shape.keys, labels)
    return (row, ExactText(key))
  }.sorted { one, other in
    (ExactText(one.0.shape.definition.name), one.0.month, one.1)
      < (ExactText(other.0.shape.definition.name), other.0.month, other.1)
  }
  let writer = TableWriter(.restatements, plan: plan, labels: labels, into: folder)
  try writer.write { add in
    for (row, key) in ordered {
      let columns = row.shape.definition.columns
      let cells = row.cells.sorted {
        columns[$0.column].name.utf8.lexicographicallyPrecedes(columns[$1.column].name.utf8)
      }
      for cell in cells {
        let column = columns[cell.column]
        try add([
          .text(row.shape.definition.name), .integer(Int64(row.month.number)), .text(key.text),
          .text(column.name),
          .text(try row.shape.text([cell.published], of: [cell.column], labels)),
          .text(try row.shape.text([cell.restated], of: [cell.column], labels)),
          .text(column.format.delta(from: cell.published, to: cell.restated)),
          .text(row.cause.rawValue), .integer(row.run),
        ])
      }
    }
  }
  return writer.written
}

extension CellFormat {
  /// `restated` − `published`; empty if one of them is unknown.
  func delta(from published: LedgerValue, to restated: LedgerValue) -> String {
    guard let old = published.integer, let new = restated.integer else { return "" }
    let delta = Int128(new) - Int128(old)
    if case .ratio = self { return Amount(micros: Int64(clamping: delta)).text(decimalsMin: 6) }
    return total(delta) ?? ""
  }
}
