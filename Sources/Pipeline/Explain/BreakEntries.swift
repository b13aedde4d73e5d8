import EventStore
import Reconciliation
import Reports
import Domain

/// A row of `breaks.csv` or `breaks_history.csv` by column name.
struct BreakRow {
  /// The cells as printed.
  let cells: [(name: String, text: String)]

  /// Returns the column as printed; empty if the report does not have it.
  subscript(_ column: String) -> String { cells.first { $0.name == column }?.text ?? "" }

  var expectedAt: Instant? { CivilCalendar.utc.instant(self["expected_at"]) }

  /// Its contributions to the columns of `quality_monthly.csv`; sandbox purchases carry no money.
  var contributions: [ColumnContribution] {
    let missing = Int64(self["missing_events"]) ?? 0
    let count = ColumnContribution(column: "open_breaks", value: 1)
    guard missing != 0 else { return [count] }
    var money = ColumnContribution(column: "missing_usd", value: 0)
    if self["environment"] == Environment.production.name {
      let micros = CSVRow.micros(of: self["estimated_usd"].utf8)
      (money.value, money.isUnknown) = (micros ?? 0, micros == nil)
    }
    return [count, ColumnContribution(column: "missing_events", value: missing), money]
  }
}

func forEachBreak(
  of report: String, in ledger: Ledger, _ plan: ReportPlan, _ body: (BreakRow) throws -> Void
) throws {
  let names = (reportColumns(report) ?? []).map(\.name)
  try forEachRow(of: report, from: ledger, plan: plan) { row in
    try body(BreakRow(cells: names.enumerated().map { (name: $1, text: row[$0]) }))
  }
}

extension NumberPass {
  /// Lists the newest run's breaks in the requested rows, as `quality_monthly.csv` counts them.
  mutating func explainBreaks(_ plan: ReportPlan) throws {
    try forEachBreak(of: "breaks", in: ledger, plan) { found in
      guard ["open", "reopened"].contains(found["status"]), fits(found) else { return }
      let contributions = found.contributions.filter { question.listed.contains($0.column) }
      guard !contributions.isEmpty else { return }
      var entry = Entry(at: found.expectedAt, step: found["code"], breakID: found["break_id"])
      entry.contributions = contributions.map { ($0.column, question.text($0)) }
      for contribution in contributions {
        sums[contribution.column, default: ColumnSum()].add(contribution)
      }
      try output.add(entry)
    }
  }

  /// Whether a break is in the requested rows; without a business time it is counted at as-of.
  private func fits(_ found: BreakRow) -> Bool {
    let asOf = rules.fold.asOf - Interval(milliseconds: 1)
    let month = rules.fold.calendar.month(of: found.expectedAt ?? asOf).number
    guard question.time.map({ $0.number == month }) ?? true else { return false }
    return question.keys.allSatisfy { $0.fits(printed: found[$0.column]) }
  }
}
