// One line for each month and app: sums of what the monthly files print.
internal import Domain
internal import EventStore

/// A column of the summary, and the columns of one report that it adds up: of a rate its numerator
/// and denominator.
private struct SummaryColumn {
  let column: ReportColumn
  let report: ReportDefinition
  let sources: [String]

  init(_ column: ReportColumn, _ report: ReportDefinition, _ sources: String...) {
    self.column = column
    self.report = report
    self.sources = sources.isEmpty ? [column.name] : sources
  }
}

private let summaryColumns: [SummaryColumn] = [
  SummaryColumn(.usd("net_usd", "Gross minus refunds."), .revenueMonthly),
  SummaryColumn(.usd("proceeds_usd", "After commission, net of refunds."), .revenueMonthly),
  SummaryColumn(.count("charges", of: "charges", "Charges booked."), .revenueMonthly),
  SummaryColumn(.usd("refunds_usd", "Given back, positive."), .revenueMonthly),
  SummaryColumn(
    .usd("mrr_close", "Monthly recurring revenue at the end of the month, or at as-of.", .closing),
    .mrrMonthly),
  SummaryColumn(
    .count("active_open", of: unit, "Active at the start of the month.", .opening), .churnMonthly),
  SummaryColumn(.count("new", of: unit, "First paid period."), .churnMonthly),
  SummaryColumn(.count("churned", of: unit, "Ended without a charge."), .churnMonthly),
  SummaryColumn(
    .count("active_close", of: unit, "Active at the end of the month, or at as-of.", .closing),
    .churnMonthly),
  SummaryColumn(
    .rate("churn_rate", "lost / active_open, both added up; empty when nothing was open."),
    .churnMonthly, "lost", "active_open"),
  SummaryColumn(.count("renewals", of: "renewals", "Renewals."), .renewalsMonthly),
  SummaryColumn(
    .count("trials_started", of: "trials", "Trials that began."), .trialsMonthly, "started"),
  SummaryColumn(
    .count("open_breaks", of: "breaks", "Differences that no later delivery will explain."),
    .qualityMonthly),
  SummaryColumn(.usd("missing_usd", "Estimated gross of missing events."), .qualityMonthly),
  SummaryColumn(
    .usd("restated_usd", "How much net_usd changed since it was closed or last complete."),
    .restatements, "delta"),
]

private let unit = "subscriptions"

extension ReportDefinition {
  /// Put together from the printed rows of other reports.
  static let summaryMonthly = ReportDefinition(
    name: "summary_monthly", query: nil, dependsOnArrival: true,
    columns: [.month, .key("app_id", .printed, ReportColumn.app.description)]
      + summaryColumns.map(\.column) + [.isComplete])
}

/// What the rows of the summary add up, such as `net_usd of revenue_monthly`: for one column, or
/// for all of them.
public func summarySources(of column: String?) -> String {
  let asked = summaryColumns.filter { $0.column.name == column }
  return (asked.isEmpty ? summaryColumns : asked).map {
    "\($0.sources.joined(separator: " and ")) of \($0.report.name)"
  }.joined(separator: ", ")
}

/// The sums of each month and app over all providers, stores and products.
struct MonthlySummary {
  /// As they are printed.
  private struct Key: Hashable {
    let month: String
    let app: String
  }

  private struct Row {
    /// One for each source.
    var sums = [KnownSum](repeating: KnownSum(), count: sources.count)
    var isComplete = true
  }

  private static let sources = summaryColumns.flatMap { column in
    column.sources.map { (report: column.report.name, column: $0) }
  }

  private var rows: [Key: Row] = [:]

  /// Adds up the rows of a set, and what it restates.
  init(
    of set: ReportSet, _ restated: [Restatement], _ labels: Labels, _ ledger: Ledger
  ) throws {
    for report in Set(Self.sources.map(\.report)) {
      for table in set.tables(of: report) { try add(table, of: set, report) }
    }
    for change in restated {
      let definition = change.shape.definition
      guard definition.name == ReportDefinition.revenueMonthly.name,
        let cell = change.cells.first(where: { definition.columns[$0.column].name == "net_usd" })
      else { continue }
      let feed = try change.shape.product(of: change.key, in: ledger).feed
      let app = try labels.word(Int64(feed?.app ?? 0), .symbol)
      let delta = cell.published.integer.flatMap { old in
        cell.restated.integer.flatMap { Int64(exactly: Int128($0) - Int128(old)) }
      }
      let places = Self.sources.indices.filter { Self.sources[$0].column == "delta" }
      for place in places {
        rows[Key(month: change.month.text, app: app), default: Row()].sums[place].add(delta)
      }
    }
  }

  /// Adds the columns of a file that are sources; a row of restatements is of no app.
  private mutating func add(_ table: ReportTable, of set: ReportSet, _ report: String) throws {
    let names = table.columns.map(\.name)
    guard let app = names.firstIndex(of: "app_id") else { return }
    let complete = names.firstIndex(of: ReportColumn.isComplete.name)
    let parts = Self.sources.enumerated().compactMap { place, source in
      names.firstIndex { source == (report, $0) }.map { column in
        (place, column, unit: table.columns[column].type == "integer" ? 1_000_000 : Int64(1))
      }
    }
    func add(_ row: CSVRow, to sums: inout Row) {
      for (place, column, unit) in parts {
        sums.sums[place].add(row.micros(column).map { $0 / unit })
      }
      if let complete, row[complete] == "false" { sums.isComplete = false }
    }
    try set.forEachRow(of: table) { row in
      add(row, to: &rows[Key(month: row[0], app: row[app]), default: Row()])
    }
  }

  /// Writes the file of the summary; sums of rounded amounts need no rounding.
  func write(_ plan: ReportPlan, _ labels: Labels, into folder: String) throws -> TableWriter {
    var plan = plan
    plan.amountDecimals = nil
    let writer = TableWriter(.summaryMonthly, plan: plan, labels: labels, into: folder)
    let ordered = rows.sorted { one, other in
      one.key.month == other.key.month
        ? one.key.app.utf8.lexicographicallyPrecedes(other.key.app.utf8)
        : one.key.month < other.key.month
    }
    try writer.write { add in
      for (key, row) in ordered {
        guard let month = Month(text: key.month) else { continue }
        let sums = row.sums.map { $0.value.map(LedgerValue.integer) ?? .null }
        try add(
          [.integer(Int64(month.number)), .text(key.app)] + sums
            + [.integer(row.isComplete ? 1 : 0)])
      }
    }
    return writer
  }
}

/// A sum of cells, some of which can be unknown.
private struct KnownSum {
  private var known: Int128?
  private var isUnknown = false

  mutating func add(_ cell: Int64?) {
    guard let cell else { return isUnknown = true }
    known = (known ?? 0) + Int128(cell)
  }

  /// The sum of the known cells; nil when there are only others, and beyond 64 bits.
  var value: Int64? { known.map { Int64(exactly: $0) } ?? (isUnknown ? nil : 0) }
}
