import Foundation
import TestSupport
import Testing

@Suite("Every number of the summary is the sum of printed rows")
struct SummaryTests {
  /// The file and column that each column of the summary adds up.
  private static let sources: [String: (file: String, column: String)] = [
    "net_usd": ("revenue_monthly", "net_usd"), "proceeds_usd": ("revenue_monthly", "proceeds_usd"),
    "charges": ("revenue_monthly", "charges"), "refunds_usd": ("revenue_monthly", "refunds_usd"),
    "mrr_close": ("mrr_monthly", "mrr_close"), "active_open": ("churn_monthly", "active_open"),
    "new": ("churn_monthly", "new"), "churned": ("churn_monthly", "churned"),
    "active_close": ("churn_monthly", "active_close"),
    "renewals": ("renewals_monthly", "renewals"), "trials_started": ("trials_monthly", "started"),
    "open_breaks": ("quality_monthly", "open_breaks"),
    "missing_usd": ("quality_monthly", "missing_usd"), "restated_usd": ("restatements", "delta"),
  ]

  private typealias Row = [String: String]

  /// Compares the summary in `out` with the files next to it; returns the number of nonzero cells.
  private func check(_ program: Program, _ out: String = "reports") throws -> Int {
    var files: [String: [Row]] = [:]
    for file in Set(Self.sources.values.map(\.file)) {
      files[file] = try program.rows("\(file).csv", in: out)
    }
    files["restatements"] = files["restatements"]?.filter {
      $0["report"] == "revenue_monthly" && $0["column"] == "net_usd"
    }.map { row in
      let key = csvRows(of: (row["key"] ?? "") + "\n")[0]
      return row.merging(["app_id": key[1]]) { $1 }
    }
    func place(_ row: Row) -> [String] { [row["period"] ?? "", row["app_id"] ?? ""] }
    let summary = try program.rows("summary_monthly.csv", in: out)
    #expect(Set(summary.map(place)) == Set(files.values.joined().map(place)))
    #expect(Set(summary.map(place)).count == summary.count)
    let rowsByPlace = files.mapValues { Dictionary(grouping: $0, by: place) }
    var checked = 0
    for row in summary {
      func rows(_ file: String) -> [Row] { rowsByPlace[file]?[place(row)] ?? [] }
      func sum(_ file: String, _ column: String) -> Decimal? {
        let cells = rows(file).map { $0[column] ?? "missing" }
        if cells.allSatisfy(\.isEmpty), !cells.isEmpty { return nil }
        return cells.reduce(0) { $0 + (Decimal(string: $1) ?? 0) }
      }
      for (column, source) in Self.sources {
        let shown = Decimal(string: row[column] ?? "missing")
        #expect(shown == sum(source.file, source.column), "\(column) of \(place(row))")
        if shown ?? 0 != 0 { checked += 1 }
      }
      let lost = sum("churn_monthly", "lost") ?? 0
      let open = sum("churn_monthly", "active_open") ?? 0
      let rate = Decimal(string: row["churn_rate"] ?? "")
      #expect((rate == nil) == (open == 0), "\(place(row))")
      let error = (rate ?? 0) * open - lost
      #expect(abs(error) <= open / 2_000_000, "\(place(row))")
      let flags = files.keys.sorted().flatMap(rows).compactMap { $0["is_complete"] }
      #expect((row["is_complete"] == "true") == !flags.contains("false"), "\(place(row))")
    }
    return checked
  }

  @Test(
    "The summary adds up in worlds of several providers, exact and rounded", arguments: [5, 11])
  func worlds(seed: Int) throws {
    let world = try World(
      seed: seed, subscribers: 120, months: 12, lost: 10_000, archives: 12,
      more: ["--providers", "qonversion,flobuk,iaptic,purple"], isPublished: true)
    #expect(try check(world.program) > 100)
    try world.program.run([
      "report", "--ledger", "reports.sqlite", "--config", "world/subledger.yaml", "--as-of",
      world.asOf, "--amount-decimals", "1", "--out", "rounded",
    ]).ended(0, 1)
    #expect(try check(world.program, "rounded") > 100)
  }

  @Test("After late webhooks, the summary's restated revenue equals the restatements")
  func restated() throws {
    let world = try World(seed: 7, subscribers: 200, archives: 6)
    let archives = try world.archives().map { "world/archives/\($0.lastPathComponent)" }
    let early = archives.enumerated().filter { $0.offset != 2 }.map(\.element)
    try world.publish(world.run(archives: early))
    try world.publish(world.run())
    _ = try check(world.program)
    let restated = try world.program.rows("summary_monthly.csv").compactMap {
      Decimal(string: $0["restated_usd"] ?? "")
    }
    #expect(restated.contains { $0 > 0 })
  }

  @Test("Explaining a number of the summary refers to the report that it adds up")
  func explained() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    let result = try world.program.run([
      "explain", "summary_monthly", "period=2026-01", "new", "--ledger", "reports.sqlite",
    ]).ended(64)
    #expect(result.errors.contains("ask for new of churn_monthly"))
  }
}
