import EventStore
import TestSupport
import Testing
import Domain

@Suite("A failed undo stops all further work")
struct UndoTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
  }

  /// Abandons a file of snapshots after `damage`; returns the errors of later operations.
  private func abandon(after damage: [String]) throws -> [SubledgerError?] {
    let ingest = try SnapshotIntake(.named("s", kind: .snapshots), into: ledger)
    let captured = Instant(seconds: 1)
    try ingest.add([
      Snapshot(provider: .qonversion, user: "u", capturedAt: captured, entitlements: [])
    ])
    for sql in damage { try ledger.rows(sql: sql) { _ in } }
    ingest.abandon()
    return [
      #expect(throws: SubledgerError.self) {
        try SnapshotIntake(.named("next", kind: .snapshots), into: ledger)
      },
      #expect(throws: SubledgerError.self) { try ledger.ingest("events", [Line()]) },
      #expect(throws: SubledgerError.self) { try ledger.rows(sql: "select 1") { _ in } },
    ]
  }

  @Test("After a failed rollback of an archive, nothing continues")
  func rollBack() throws {
    for error in try abandon(after: ["release archive", "savepoint other"]) {
      #expect(error?.message.contains("cannot undo an archive") == true)
    }
  }

  @Test("After a failed rollback of a change, nothing continues")
  func change() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try ledger.together("change") {
        for sql in ["release change", "savepoint other"] { try ledger.rows(sql: sql) { _ in } }
        throw Stop()
      }
    }
    let error = #expect(throws: SubledgerError.self) { try ledger.rows(sql: "select 1") { _ in } }
    #expect(error?.message.contains("cannot undo a change") == true)
  }

  @Test("Symbols of an undone change are written by the next change")
  func wordsAgain() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try ledger.together("change") {
        try ledger.ingest("a", [Line()])
        throw Stop()
      }
    }
    try ledger.ingest("a", [Line()])
    let again = try Ledger.open(path: folder.path("ledger.sqlite"), mode: .readOnly)
    #expect(again.symbol("app") == ledger.symbol("app"))
    #expect(again.symbol("app") != nil)
  }

  @Test("After symbols could not be read again, nothing continues")
  func words() throws {
    let gap = "insert into string (id, value) values (900, 'gap')"
    for error in try abandon(after: ["release archive", gap]) {
      #expect(error?.kind == .damagedInput)
    }
  }
}
