import Foundation
import EventStore
import Logging
import Reconciliation
import Reports
import TestSupport
import Testing
import Subscriptions
import Domain

@testable import Pipeline

/// The sample, run once, and all contributions of its subscriptions to reports.
private struct Sample: Sendable {
  let folder: TemporaryFolder
  let rules: FoldSettings
  let shares: [Share]

  /// The contribution of one event to a report, and the row's keys.
  struct Share {
    let cell: Contribution.Cell
    let keys: ContributionKeys
  }

  /// Created once for all tests.
  static let made = Result { try Sample() }

  init() throws {
    folder = try TemporaryFolder()
    let options = [
      "archives": [Project.path("sample-data/archives")],
      "snapshots": [Project.path("sample-data/snapshots")],
      "config": [Project.path("sample-data/subledger.yaml")],
      "prices": [Project.path("sample-data/prices.csv")], "as_of": ["2026-03-01"],
      "ledger": [folder.path("ledger.sqlite")], "out": [folder.path("reports")],
    ]
    let plan = try Plan(flags: options, environment: [:], now: Instant(seconds: 0)).withLists()
    var log = Logger(label: "sample")
    log.logLevel = .critical
    let pipeline = RunPipeline(
      GivenSettings(flags: options, environment: [:]), now: Instant(seconds: 0), version: "0",
      log: log, progress: { _ in }, stop: { 0 }
    ).following(plan)
    _ = try pipeline.run()
    let ledger = try Ledger.open(path: plan.ledger, mode: .readOnly)
    rules = try pipeline.reconcileRules(for: ledger).fold
    let words = ledger.symbols.words
    var shares: [Share] = []
    let rules = rules
    try ledger.forEachGroup(linked: true) { rows, events in
      for history in try countedHistories(rows, events, rules: rules) {
        shares += try history.shares().map {
          Share(cell: $0.cell, keys: ContributionKeys($0.cell, words: words))
        }
      }
    }
    self.shares = shares
  }

  /// The published rows of a report over all its months.
  func rows(_ report: NumberReport) throws -> [[String: String]] {
    let path = Project.path("reports/\(report.rawValue)")
    guard FileManager.default.fileExists(atPath: path) else { return try table("\(path).csv") }
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted().flatMap {
      try table("\(path)/\($0)")
    }
  }

  private func table(_ path: String) throws -> [[String: String]] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let records = text.split(separator: "\n").compactMap { CSVRow.cells(of: String($0)) }
    let header = try #require(records.first)
    return records.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
  }
}

@Suite("Every number of the sample is the sum of its events")
struct ExplainedCellTests {
  /// Sums of contributions by row and column, and where an amount is unknown.
  private struct Cells {
    var sums: [String: Int64] = [:]
    var unknown: Set<String> = []
  }

  @Test("Each cell of each report from the fold equals the published one")
  func cells() throws {
    let sample = try Sample.made.get()
    var compared = 0
    for report in NumberReport.allCases where report != .qualityMonthly {
      let columns = try #require(reportColumns(report.rawValue))
      let count = try compare(report, columns, sample)
      #expect(count > 0, "\(report)")
      compared += count
    }
    #expect(compared > 60_000)
  }

  private func compare(
    _ report: NumberReport, _ columns: [ReportColumn], _ sample: Sample
  ) throws -> Int {
    let keyNames = columns.filter(\.isKey).map(\.name)
    let others = keyNames.filter { $0 != report.timeColumn }
    let rows = try sample.rows(report)
    // Contributions by the keys other than time, so that each row checks few of them.
    let shares = Dictionary(
      grouping: sample.shares.filter { !report.columns(of: $0.cell).isEmpty }
    ) { share in
      others.map { share.keys.texts[$0] ?? "" }
    }
    // Most rows share their time with many others, and their other keys with other times.
    var questions: [[String: String]: NumberQuestion] = [:]
    func question(_ names: [String], of row: [String: String]) throws -> NumberQuestion {
      let keys = names.reduce(into: [String: String]()) { $0[$1] = row[$1] }
      let made =
        try questions[keys] ?? NumberQuestion(report: report.rawValue, keys: keys, column: nil)
      questions[keys] = made
      return made
    }
    var compared = 0
    for row in rows {
      let keys = keyNames.reduce(into: [String: String]()) { $0[$1] = row[$1] }
      let dated = try question([report.timeColumn], of: row)
      let question = try question(others, of: row)
      let cells = sum(
        shares[others.map { row[$0] ?? "" }] ?? [], question, dated, by: sample.rules)
      for column in question.asked.map({ columns[$0] })
      where question.hasEvents(column.name) && column.name != "churned_in_doubt" {
        compared += 1
        let printed = row[column.name] ?? ""
        if case .ratio(let part, let whole) = report.formula(of: column.name) {
          let text = ratio(part, whole, row)
          #expect(printed == text, "\(report.rawValue) \(keys) \(column.name): \(text)")
          continue
        }
        let sum = cells.sums[column.name] ?? 0
        let isUnknown = cells.unknown.contains(column.name)
        var place: String { "\(report.rawValue) \(keys) \(column.name)" }
        if printed.isEmpty {
          #expect(isUnknown || sum == 0, "\(place): empty, though its events come to \(sum)")
        } else {
          let text = numberText(Int128(sum), isAmount: column.isAmount)
          #expect(printed == text && !isUnknown, "\(place): \(printed), its events \(text)")
        }
      }
    }
    return compared
  }

  /// A rate from the printed parts of its explanation, rounded half to even at six decimals.
  private func ratio(
    _ part: [(factor: Int64, column: String)], _ whole: [String], _ row: [String: String]
  ) -> String {
    func count(_ column: String) -> Int64 { Int64(row[column] ?? "") ?? 0 }
    let above = part.reduce(0) { $0 + $1.factor * count($1.column) }
    let below = whole.reduce(0) { $0 + count($1) }
    guard below != 0 else { return "" }
    let (quotient, rest) = (above.magnitude * 1_000_000).quotientAndRemainder(
      dividingBy: below.magnitude)
    let isUp = 2 * rest > below.magnitude || 2 * rest == below.magnitude && quotient % 2 == 1
    let digits = String(quotient + (isUp ? 1 : 0))
    let text = String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    let sign = above < 0 && text.contains { $0 != "0" } ? "-" : ""
    return "\(sign)\(text.dropLast(6)).\(text.suffix(6))"
  }

  private func sum(
    _ shares: [Sample.Share], _ question: NumberQuestion, _ dated: NumberQuestion,
    by rules: FoldSettings
  ) -> Cells {
    var cells = Cells()
    for (cell, keys) in shares.lazy.map({ ($0.cell, $0.keys) }) where question.fits(keys) {
      for share in question.report.columns(of: cell)
      where dated.counts(share, keys, by: rules) {
        cells.sums[share.column, default: 0] += share.value
        if share.isUnknown { cells.unknown.insert(share.column) }
      }
    }
    return cells
  }
}
