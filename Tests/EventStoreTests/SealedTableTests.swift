import Formats
import TestSupport
import Testing
import Domain

@testable import EventStore

@Suite("What runs seal of a table")
struct SealedTableTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
  }

  private static let queries: [(table: String, sql: String)] =
    RunParts.byArchive + RunParts.byRun + RunParts.whole

  /// The columns that are sealed, by table.
  private func sealed() throws -> [String: [String]] {
    var columns: [String: [String]] = [:]
    try ledger.access("prepare the queries") { database in
      for (table, sql) in Self.queries {
        columns[table] = LedgerRow(try Statement(database, sql)).names
      }
    }
    return columns
  }

  @Test("Every column of a sealed table is sealed, in the table's order, or named here")
  func columns() throws {
    let unsealed = ["archive": ["path", "modified_ms", "inode", "path_check"]]
    for (table, columns) in try sealed() {
      let there = try ledger.table("select name from pragma_table_info('\(table)') order by cid")
      let left = there.filter { unsealed[table]?.contains($0) != true }
      #expect(columns.sorted() == left.sorted(), "\(table)")
      if table != "archive" { #expect(columns == left, "\(table)") }
    }
  }

  @Test("A column that a later schema adds is no part of what earlier runs sealed")
  func tomorrow() throws {
    try ledger.ingest("a", [Line()])
    try ledger.record(NewAuditEntry(.prune))
    try ledger.publish()
    let before = try sealed()
    for (table, _) in Self.queries {
      try ledger.rows(
        sql: "alter table \(table) add column tomorrow integer not null default 1"
      ) { _ in }
    }
    #expect(try sealed() == before)
    let check = try ledger.access("hold the chain") { database in
      var check = LedgerCheck("chain")
      try ChainCheck.run(database, &check)
      return check
    }
    #expect(check.problems.isEmpty)
  }

  @Test("Acts kept elsewhere have the digest that a run seals of their table")
  func keptActs() throws {
    try ledger.publish()
    var act = NewAuditEntry(.close)
    (act.month, act.zone) = (Month(number: 2026 * 12 + 1), "UTC")
    (act.reason, act.who, act.content) = ("books", "ada", "run 1\nrevenue 2")
    try ledger.record(act)
    try ledger.record(NewAuditEntry(.prune))
    try ledger.publish()
    let acts = try ledger.acts()
    #expect(acts.map(\.month) == [Month(number: 2026 * 12 + 1), nil])
    #expect(acts.map(\.zone) == ["UTC", ""] && acts.map(\.who) == ["ada", ""])
    #expect(acts.allSatisfy { sha256(of: Array($0.text.utf8)) == $0.sha256 })
    let sealed = try ledger.access("read the acts") { database in
      try RunParts(database).arrived(in: 2, only: ["act"])
    }
    #expect(sealed == [RunPart(acts: acts)])
  }

  @Test("What an act wrote anew is read as it was written; other lines tell nothing of it")
  func rewritings() throws {
    let (old, new) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
    for rewriting in [
      Rewriting.part(
        run: 3, old: RunPart(name: "archive", rows: 2, sha256: old),
        new: RunPart(name: "archive", rows: 1, sha256: new)),
      .document("name", old: old, new: new), .act(7, old: old, new: new),
    ] {
      #expect(Rewriting(line: rewriting.line[...]) == rewriting)
    }
    for line in [
      "", "pseudonym p", "part", "part 1 archive 2 a x b", "part x archive 2 a 1 b", "act x a b",
      "act 1 a", "document d a b c", "revenue_monthly 2 \(old)",
    ] {
      #expect(Rewriting(line: line[...]) == nil)
    }
  }
}
