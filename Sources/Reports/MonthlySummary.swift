// One row per month and app: sums of what the monthly files print.
internal import Domain
internal import EventStore

/// A column of the summary and the columns of one report that it adds up; for a rate, its numerator
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
    .count("open_breaks", of: "breaks", "Differences that no later delivery should explain."),
    .qualityMonthly),
  SummaryColumn(.usd("missing_usd", "Estimated gross of missing events."), .qualityMonthly),
  SummaryColumn(
    .usd("restated_usd", "How much net_usd changed since it was closed or last complete."),
    .restatements, "delta"),
]

private let unit = "subscriptions"

extension ReportDefinition {
  /// Assembled from the printed rows of other reports.
  static let summaryMonthly = ReportDefinition(
    name: "summary_monthly", query: nil, dependsOnArrival: true,
    columns: [.month, .key("app_id", .printed, ReportColumn.app.description)]
      + summaryColumns.map(\.column) + [.isComplete])
}

/// The report columns that the summary adds up, such as `net_usd of revenue_monthly`: for one
/// column, or for all.
public func summarySources(of column: String?) -> String {
  let asked = summaryColumns.filter { $0.column.name == column }
  return (asked.isEmpty ? summaryColumns : asked).map {
    "\($0.sources.joined(separator: " and ")) of \($0.report.name)"
  }.joined(separator: ", ")
}

/// The sums of each month and app over all providers, stores and products.
struct MonthlySummary {
  /// Sums of each report but the restatements, by its name.
  private let cubes: [String: Cube]
  /// The total change of numbers by month and app, as printed; nil where unknown.
  private var restated: [[String]: [Int128?]] = [:]

  /// Adds up the sums of a set and its restatements.
  init(
    of sums: SetSums, _ restated: [Restatement], _ labels: Labels, _ ledger: Ledger
  ) throws {
    let reports = Set(summaryColumns.map(\.report.name))
      .subtracting([ReportDefinition.restatements.name])
    cubes = Dictionary(uniqueKeysWithValues: reports.map { ($0, sums[$0].by("period", "app_id")) })
    for change in restated {
      let definition = change.shape.definition
      guard definition.name == ReportDefinition.revenueMonthly.name,
        let cell = change.cells.first(where: { definition.columns[$0.column].name == "net_usd" })
      else { continue }
      let feed = try change.shape.product(of: change.key, in: ledger).feed
      let app = try labels.word(Int64(feed?.app ?? 0), .symbol)
      let delta = cell.published.integer.flatMap { old in
        cell.restated.integer.map { Int128($0) - Int128(old) }
      }
      self.restated[[change.month.text, app], default: []].append(delta)
    }
  }

  /// The sum of the known cells, 0 without cells; nil when all are unknown, or beyond 64 bits.
  private func sum(_ source: String, of report: ReportDefinition, _ key: [String]) -> Int64? {
    guard let cube = cubes[report.name] else {
      let known = restated[key, default: [0]].compactMap(\.self)
      return known.isEmpty ? nil : Int64(exactly: known.reduce(0, +))
    }
    let isCount = report.columns.first { $0.name == source }?.type == "integer"
    return cube.sum(source, key).flatMap { Int64(exactly: isCount ? $0 / 1_000_000 : $0) }
  }

  /// Writes the summary file; sums of rounded amounts need no rounding.
  func write(_ plan: ReportPlan, _ labels: Labels, into folder: String) throws -> WrittenReports {
    var plan = plan
    plan.amountDecimals = nil
    let writer = TableWriter(.summaryMonthly, plan: plan, labels: labels, into: folder)
    let keys = Set(cubes.values.flatMap(\.sums.keys) + restated.keys).sorted {
      ($0[0], ExactText($0[1])) < ($1[0], ExactText($1[1]))
    }
    try writer.write { add in
      for key in keys {
        guard let month = Month(text: key[0]) else { continue }
        let sums = summaryColumns.flatMap { column in
          column.sources.map { sum($0, of: column.report, key).map(LedgerValue.integer) ?? .null }
        }
        let isComplete = !cubes.values.contains { $0.incompleteKeys.contains(key) }
        try add(
          [.integer(Int64(month.number)), .text(key[1])] + sums + [.integer(isComplete ? 1 : 0)])
      }
    }
    return writer.written
  }
}
