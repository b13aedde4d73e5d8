internal import Formats
public import EventStore
public import Domain

/// The rows of one month in every report except about deliveries, to be closed.
public struct FrozenMonth: Sendable {
  /// The reports that have rows of the month, by name.
  public private(set) var reports: [ClosedReport] = []
  /// Number of rows that can still change, by report.
  public private(set) var incomplete: [String: Int] = [:]
  /// Number of rows that are complete but differ from the published ones.
  public private(set) var unpublished = 0

  /// Computes the month from the ledger's facts, as published by run number `plan.run`.
  public init(_ month: Month, from ledger: Ledger, plan: ReportPlan) throws {
    let context = ReportContext(ledger: ledger, plan: plan)
    try context.prepare()
    let labels = try Labels(of: ledger)
    // Restatements compare no deliveries, whose rows change as soon as an archive is read.
    for definition in Self.definitions where !definition.dependsOnArrival {
      try definition.prepare?(context)
      let shape = RowShape(definition)
      var rows: [ReportRow] = []
      let writer = TableWriter(definition, plan: plan, labels: labels, into: nil) {
        if shape.month(of: $0) == month { rows.append(shape.row($0)) }
      }
      try writer.write(from: ledger)
      guard !rows.isEmpty else { continue }
      reports.append(try shape.closed(rows, month, labels))
      if definition.completeness != nil {
        let published = try ledger.publishedRows(
          of: definition.name, zone: plan.zone, month: month, before: plan.run + 1)
        unpublished += rows.count { $0.isComplete && published[$0.key]?.row != $0 }
      }
      guard shape.isFlagged else { continue }
      let open = rows.count { !$0.isComplete }
      if open > 0 { incomplete[definition.name] = open }
    }
    reports.sort { $0.report.utf8.lexicographicallyPrecedes($1.report.utf8) }
  }

  /// The path of a closed report in a folder of reports; nil for an unknown report.
  public static func path(of report: String, _ month: Month) -> String? {
    definition(report).map { $0.isSplitByMonth ? "\(report)/\(month.text).csv" : "\(report).csv" }
  }

  /// A closed report as exact CSV; nil if it was closed with columns that this version lacks.
  public static func csv(
    of report: ClosedReport, _ month: Month, from ledger: Ledger
  ) throws -> [UInt8]? {
    guard let definition = definition(report.report) else { return nil }
    let header = definition.columns.map(\.name).joined(separator: ",") + "\n"
    let rows = try RowShape(definition).csv(of: report.rows, month, Labels(of: ledger))
    return rows.flatMap { sha256(of: $0) == report.sha256 ? Array(header.utf8) + $0 : nil }
  }

  /// Unresolved breaks of the month.
  public var openBreaks: Int {
    reports.first { $0.report == ReportDefinition.openBreaks.name }?.rows.count ?? 0
  }

  private static func definition(_ report: String) -> ReportDefinition? {
    definitions.first { $0.name == report }
  }

  private static let definitions =
    ReportPartition.allCases.flatMap(\.layouts).filter { $0.isMonthly || $0.isSplitByMonth }
    + [.openBreaks]
}

extension RowShape {
  /// The rows of a month as a close freezes them.
  func closed(
    _ rows: [ReportRow], _ month: Month, _ labels: Labels
  ) throws -> ClosedReport {
    var sums: [Int: Int128] = [:]
    for row in rows {
      for (column, cell) in zip(values, values(of: row)) {
        sums[column, default: 0] += Int128(cell.integer ?? 0)
      }
    }
    var totals: [String: JSONValue] = [:]
    for (column, sum) in sums {
      let column = definition.columns[column]
      totals[column.name] = column.format.total(sum).map(JSONValue.string)
    }
    return (
      definition.name, sha256(of: try csv(of: rows, month, labels) ?? []),
      String(decoding: JSONValue.object(totals).line, as: UTF8.self), rows
    )
  }

  /// Stored rows as exact CSV without header; nil if their columns differ from the current ones.
  func csv(of rows: [ReportRow], _ month: Month, _ labels: Labels) throws -> [UInt8]? {
    var lines = ""
    for row in rows {
      guard let cells = cells(of: row, month) else { return nil }
      lines += try text(cells, of: Array(cells.indices), labels) + "\n"
    }
    return Array(lines.utf8)
  }
}

extension ReportDefinition {
  /// The breaks that a close freezes; not part of the set.
  static let openBreaks = ReportDefinition(
    name: "open_breaks", query: PackageResources.open_breaks_sql,
    columns: [.month] + breaks.columns.filter { openBreakColumns.contains($0.name) })

  private static let openBreakColumns: Set = [
    "break_id", "code", "status", "severity", "provider", "app_id", "environment", "store",
    "product_id", "expected_at", "missing_events", "estimated_usd", "amount_basis",
  ]
}
