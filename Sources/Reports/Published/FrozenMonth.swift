internal import Formats
public import EventStore
public import Domain

/// The numbers of one month as all reports show them, to be closed.
public struct FrozenMonth: Sendable {
  /// Every report that has rows of the month, by name.
  public private(set) var reports: [ClosedReport] = []
  /// Rows that can still change, by report.
  public private(set) var incomplete: [String: Int64] = [:]
  /// Rows that are complete, but not those that were published.
  public private(set) var unpublished: Int64 = 0

  /// Reads the month from the ledger's cells, as run number `plan.run` has published them.
  public init(
    _ month: Month, from ledger: Ledger, plan: ReportPlan
  ) throws(ReportError) {
    var frozen: [FrozenReport] = []
    var unpublished: Int64 = 0
    try attempt {
      let context = ReportContext(ledger: ledger, plan: plan)
      try context.prepare()
      try context.prepare(for: Self.layouts)
      let lexicon = try Labels(of: ledger)
      for layout in Self.layouts {
        let report = FrozenReport(layout, month)
        let writer = TableWriter(
          layout, plan: plan, lexicon: lexicon, into: nil, beside: report)
        try writer.write(from: ledger)
        guard report.rows > 0 else { continue }
        unpublished += try report.unpublished(in: ledger, plan)
        frozen.append(report)
      }
    }
    for report in frozen {
      reports.append(report.closed)
      if report.incomplete > 0 { incomplete[report.layout.name] = report.incomplete }
    }
    reports.sort { $0.report.utf8.lexicographicallyPrecedes($1.report.utf8) }
    self.unpublished = unpublished
  }

  /// Where the rows of a closed report stand in a set, and their header; nil for an unknown report.
  public static func file(
    of report: String, _ month: Month
  ) -> (path: String, header: [String])? {
    layouts.first { $0.name == report }.map { layout in
      (
        path: layout.isSplitByMonth ? "\(report)/\(month.text).csv" : "\(report).csv",
        header: layout.columns.map(\.name)
      )
    }
  }

  /// Breaks that are not resolved and speak of the month.
  public var openBreaks: Int64 {
    reports.first { $0.report == ReportDefinition.openBreaks.name }?.rowCount ?? 0
  }

  private static let layouts =
    ReportPartition.allCases.flatMap(\.layouts).filter { $0.isMonthly || $0.isSplitByMonth }
    + [.openBreaks]
}

/// The rows of one report that speak of one month.
private final class FrozenReport: RowSink {
  let layout: ReportDefinition
  private(set) var rows: Int64 = 0
  private(set) var incomplete: Int64 = 0
  private let month: Month
  private let shape: RowShape
  private let formats: [CellFormat]
  private let isFlagged: Bool
  private var text: [UInt8] = []
  private var complete: [UInt8] = []
  private var sums: [Int128]

  init(_ layout: ReportDefinition, _ month: Month) {
    self.layout = layout
    self.month = month
    shape = RowShape(layout)
    formats = layout.columns.map(\.format)
    isFlagged = layout.columns.last?.name == Column.isComplete.name
    sums = formats.map { _ in 0 }
  }

  func add(_ value: (Int) -> Int64?, line: [UInt8], isComplete: Bool) {
    guard month(of: value) == month else { return }
    rows += 1
    text += line
    text.append(UInt8(ascii: "\n"))
    var place = 0
    for (index, format) in formats.enumerated() {
      switch format {
      case .integer, .amount: sums[index] += Int128(value(place) ?? 0)
      default: break
      }
      place += format.width
    }
    guard isFlagged else { return }
    guard isComplete else {
      incomplete += 1
      return
    }
    complete += line
    complete.append(UInt8(ascii: "\n"))
  }

  func finish() {}

  private func month(of value: (Int) -> Int64?) -> Month {
    let number = Int32(truncatingIfNeeded: value(0) ?? 0)
    if layout.isSplitByMonth { return Day(number: number).month }
    let later = shape.monthsLater.map { Int32(truncatingIfNeeded: value($0) ?? 0) } ?? 0
    return Month(number: number + later)
  }

  /// Complete rows that are not as the newest publication has them.
  func unpublished(in ledger: Ledger, _ plan: ReportPlan) throws -> Int64 {
    guard layout.completeness != nil, !complete.isEmpty else { return 0 }
    let heads = try ledger.publishedHeads(of: layout.name, zone: plan.zone, before: plan.run + 1)
    let head = heads[month]
    guard head?.sha256 != sha256(of: complete) else { return 0 }
    let text = try head.flatMap {
      try ledger.publishedRows(of: layout.name, zone: plan.zone, month: month, run: $0.run)
    }
    let published = shape.byKey(RowRecord.rows(of: text ?? []))
    return Int64(
      RowRecord.rows(of: complete).count { row in
        guard let known = published[shape.key(of: row)] else { return true }
        return !shape.differences(known, row).isEmpty
      })
  }

  var closed: ClosedReport {
    ClosedReport(
      report: layout.name, sha256: sha256(of: text), rowCount: rows, totals: totals, rows: text)
  }

  private var totals: String {
    var members: [String: JSONValue] = [:]
    for (index, column) in layout.columns.enumerated() where !column.isKey {
      switch formats[index] {
      case .integer: members[column.name] = .string("\(sums[index])")
      case .amount: members[column.name] = .string(amountText(sums[index]))
      default: break
      }
    }
    return String(decoding: JSONValue.object(members).line, as: UTF8.self)
  }
}

extension ReportDefinition {
  /// Not part of the set: what a close keeps of breaks.
  static let openBreaks = ReportDefinition(
    name: "open_breaks", query: PackageResources.open_breaks_sql,
    columns: [
      .month,
      .key("break_id", .text, "Stable across runs."),
      .cell("code", .text, "What is wrong."),
      .cell("status", .text, "pending, open or reopened."),
      .cell("severity", .text, "info, low, medium, high or critical."),
      .cell("provider", .text, "Who sent the webhooks."),
      .cell("app_id", .text, "App as the provider names it; empty when absent."),
      .cell("environment", .text, "production or sandbox."),
      .cell("store", .text, "Shop that took the money."),
      .cell("product_id", .text, "Product id of the store."),
      .cell("expected_at", .instant, "Business time of the event that is missing or in doubt."),
      .count("missing_events", of: "events", "How many events never came."),
      .usd("estimated_usd", "Gross of the missing events; empty without a known price."),
      .cell("amount_basis", .text, "What the estimate rests on."),
    ])
}
