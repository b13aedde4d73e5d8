import Foundation
import EventStore
import Reports
import TestSupport
import Testing
import Domain

/// A ledger filled with cells by a test, and its reports.
final class World {
  let folder: TemporaryFolder
  let ledger: Ledger
  var rules = FoldSettings(asOf: day(2026, 3, 10))
  var facts = Facts()
  var dialect = CSVDialect.rfc4180
  var amountDecimals: Int?
  private var words = [""]

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.open(path: folder.path("ledger.sqlite"), mode: .readWrite)
    try FileManager.default.createDirectory(
      atPath: folder.path("reports"), withIntermediateDirectories: true)
  }

  func symbol(_ word: String) throws -> StringID {
    if let known = words.firstIndex(of: word) { return StringID(known) }
    words.append(word)
    try sql("insert into string (id, value) values (\(words.count - 1), ?)", .text(word))
    return StringID(words.count - 1)
  }

  func productKey(
    _ product: String, app: String = "app", provider: Provider = .qonversion
  ) throws -> ProductKey {
    ProductKey(
      provider: provider, app: try symbol(app), store: .appStore, product: try symbol(product))
  }

  func sql(_ text: String, _ arguments: LedgerValue...) throws {
    try ledger.rows(sql: text, arguments: arguments) { _ in }
  }

  @discardableResult
  func write(run: Int64 = 7) throws -> [ReportTable] {
    try fold()
    var plan = ReportPlan(rules: rules, run: run)
    plan.dialect = dialect
    plan.amountDecimals = amountDecimals
    let reports = try writeReports(from: ledger, plan: plan, into: folder.path("reports"))
    return reports.tables
  }

  /// Replaces all facts of the ledger, as a fold of everything does.
  func fold() throws {
    let basis = FactCheckpoint(asOf: rules.asOf, rules: "", archive: 0)
    let change = FoldChange(basis: basis, facts: facts)
    for piece in try ledger.begin(change) { try ledger.write(piece(), of: change) }
    try ledger.finish(change)
  }

  /// The bytes of a written report.
  func text(_ path: String) throws -> String {
    try String(contentsOfFile: folder.path("reports/\(path)"), encoding: .utf8)
  }

  /// The rows of a report by column name.
  func rows(_ path: String) throws -> [[String: String]] {
    let rows = csvRows(of: try text(path))
    let header = try #require(rows.first)
    #expect(rows.allSatisfy { $0.count == header.count }, "each row of \(path) has all columns")
    return rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
  }

  func move(_ movement: Movement, _ count: Int64, _ productKey: ProductKey, on day: Day) {
    let key = MovementKey(month: day.month, productKey: productKey, movement: movement)
    var sums = facts.movements[key] ?? MovementSums()
    sums.subscriptions += count
    sums.mrr = Amount(micros: sums.mrr.micros + count * 10_000_000)
    facts.movements[key] = sums
  }

  /// Marks a subscription of the app of `key` as linked across providers.
  func link(_ key: ProductKey) throws {
    let lineage = 1 + Int64(key.provider.rawValue)
    try sql(
      "insert into lineage values (\(lineage), \(key.provider.rawValue), \(key.app), 0, "
        + "\(key.store.rawValue), 1, 0, 0, 0, 0, x'')")
    try sql("insert into lineage_link values (\(lineage), 1)")
  }

  func churn(_ count: Int64, _ productKey: ProductKey, on day: Day) {
    move(.churned, count, productKey, on: day)
    move(.churnedVoluntary, count, productKey, on: day)
  }
}

/// The first instant of a day in UTC.
func day(_ year: Int, _ month: Int, _ day: Int) -> Instant {
  CivilCalendar.utc.start(of: Day(year: year, month: month, day: day))
}

/// The columns of `row` that are neither empty nor 0.
func reported(_ row: [String: String], _ columns: String...) -> [String] {
  columns.map { "\($0)=\(row[$0] ?? "missing")" }
}

/// Expects these cells of `row`, each as `column=value`.
func expect(
  _ row: [String: String], _ cells: String..., sourceLocation: SourceLocation = #_sourceLocation
) {
  let found = cells.map { cell in
    let column = String(cell.prefix { $0 != "=" })
    return "\(column)=\(row[column] ?? "missing")"
  }
  #expect(found == cells, sourceLocation: sourceLocation)
}

/// Writes every report of the set into `folder`.
func writeReports(
  from ledger: Ledger, plan: ReportPlan, into folder: String
) throws -> WrittenReports {
  var reports = WrittenReports(plan: plan)
  let writer = try ReportWriter(from: ledger, plan: plan, into: folder)
  for share in ReportPartition.allCases { reports.add(try writer.write(share)) }
  let set = reports.set(in: folder)
  let sums = SetSums(try SetSums.shapes.map { try Cube($0, of: set) })
  try reports.finish(in: folder, sums, checkedBy: ledger)
  return reports
}
