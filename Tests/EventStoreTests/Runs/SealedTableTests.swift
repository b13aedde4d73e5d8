import Formats
import Testing
import Domain

@testable import EventStore

@Suite("What runs seal of a table")
struct SealedTableTests {
  private let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  @Test(
    "A change in any column is found, except in columns about a file's location",
    arguments: [
      ("archive", "name", true), ("archive", "bytes", true), ("archive", "path", false),
      ("archive", "modified_ms", false), ("delivery_cell", "received", true),
      ("delivery_day", "app", true), ("act", "sha256", true),
    ])
  func columns(table: String, column: String, isFound: Bool) throws {
    try ledger.ingest("a", [Line()])
    try ledger.record(AuditEntry(.prune))
    try ledger.publish()
    func parts() throws -> [RunPart] {
      try ledger.access("seal") { try $0.partsArrived(in: 1, only: [table]) }
    }
    let before = try parts()
    #expect(before.map(\.name) == [table] && before[0].rows > 0)
    try ledger.rows(sql: "update \(table) set \(column) = \(column) || '1'") { _ in }
    #expect(try (parts() != before) == isFound)
  }

  @Test("A change of an act's content is found", arguments: ["reason", "who", "content", "zone"])
  func act(column: String) throws {
    try ledger.record(AuditEntry(.prune))
    try ledger.publish()
    #expect(try ledger.check().allSatisfy { $0.wrong == 0 })
    try ledger.rows(sql: "update act set \(column) = 'other'") { _ in }
    #expect(try ledger.check().first { $0.name == "chain" }?.wrong == 1)
  }

  @Test(
    "Before a run continues or compares data, it checks the data's digests",
    arguments: [
      ("update act set reason = 'other'", true), ("delete from closed_report", true),
      ("delete from act", true), ("insert into erased (key, pseudonym) values (1, 'p')", true),
      ("update run_part set sha256 = 'a' where part = 'break_episode'", true),
      ("update archive set inode = inode + 1", false),
    ])
  func carried(sql: String, isFound: Bool) throws {
    try ledger.ingest("a", [Line()])
    try ledger.publish()
    let row = ReportRow(key: [1], values: [2], isComplete: true)
    let report = (report: "churn_monthly", sha256: "", totals: "{}", rows: [row])
    _ = try ledger.close(AuditEntry(.close), [report])
    #expect(try ledger.closedReports(act: 1).map(\.rows) == [[row]])
    try ledger.publish()
    try ledger.requireSealed()
    try ledger.rows(sql: "pragma foreign_keys = off") { _ in }
    try ledger.rows(sql: sql) { _ in }
    let error = isFound ? SubledgerError.Kind.damagedInput : nil
    var kind: SubledgerError.Kind?
    do { try ledger.requireSealed() } catch { kind = error.kind }
    #expect(kind == error)
  }

  @Test("Closed numbers are checked against the act that closed them before a run seals them")
  func unsealedClose() throws {
    try ledger.publish()
    let rows = ([1, 2] as [UInt8]).map { ReportRow(key: [$0], values: [2], isComplete: true) }
    let reports = ["churn_monthly", "mrr_monthly"].map {
      (report: $0, sha256: "", totals: "{}", rows: rows)
    }
    _ = try ledger.close(AuditEntry(.close), reports)
    #expect(try ledger.closedReports(act: 1, only: "mrr_monthly").first?.rows == rows)
    for (sql, isFound) in [
      ("update closed_report set rows = rows, totals = totals", false),
      ("update closed_report set totals = '[]' where report = 'mrr_monthly'", true),
      ("delete from closed_report where report = 'mrr_monthly'", true),
    ] {
      try ledger.rows(sql: sql) { _ in }
      let found = try? ledger.closedReports(act: 1)
      #expect((found == nil) == isFound, "\(sql)")
      #expect(try ledger.closedReports(act: 1, only: "churn_monthly").count == 1)
    }
  }

  @Test("Stored acts have the digest that a run seals for their table")
  func keptActs() throws {
    try ledger.publish()
    var act = AuditEntry(.close)
    (act.month, act.zone) = (Month(number: 2026 * 12 + 1), "UTC")
    (act.reason, act.who, act.content) = ("books", "ada", "run 1\nrevenue 2")
    try ledger.record(act)
    try ledger.record(AuditEntry(.prune))
    try ledger.publish()
    let acts = try ledger.acts()
    #expect(acts.map(\.month) == [Month(number: 2026 * 12 + 1), nil])
    #expect(acts.map(\.zone) == ["UTC", ""] && acts.map(\.who) == ["ada", ""])
    #expect(acts.allSatisfy { sha256(of: Array($0.text.utf8)) == $0.sha256 })
    let sealed = try ledger.access("read the acts") { database in
      try database.partsArrived(in: 2, only: ["act"])
    }
    #expect(sealed == [RunPart(acts: acts)])
  }

  @Test("A rewriting is parsed as written; other lines are not rewritings")
  func rewritings() throws {
    let (old, new) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
    let rewriting = Rewriting(subject: "part:3:archive", old: "2:\(old)", new: "1:\(new)")
    #expect(Rewriting(rewriting.line.split(separator: " ")) == rewriting)
    for line in [
      "", "pseudonym p", "rewritten", "rewritten act:1 a", "rewritten a b c d",
      "revenue_monthly 2 \(old)",
    ] {
      #expect(Rewriting(line.split(separator: " ")) == nil)
    }
  }
}
