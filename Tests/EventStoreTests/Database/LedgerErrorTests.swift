import CSQLite
import Domain
import Foundation
import TestSupport
import Testing

@testable import EventStore

@Suite("SQLite's errors are reported by their cause")
struct LedgerErrorTests {
  @Test(
    "A failed read by the system is a broken disk, not a damaged ledger",
    arguments: [
      (EIO, SubledgerError.Kind.inputOutput), (ENXIO, .inputOutput), (ENOENT, .damagedInput),
      (0, .damagedInput),
    ])
  func unreadable(_ number: Int32, _ kind: SubledgerError.Kind) {
    errno = number
    let error = SubledgerError(
      SQLiteError(code: SQLITE_CORRUPT), doing: "read", path: "a.sqlite")
    #expect(error.kind == kind, "\(error)")
  }

  @Test("A missing number or table is damage, unless the reader expects it")
  func missing() throws {
    let ledger = try Ledger.fresh()
    for sql in ["select null", "select 0 union all select null"] {
      expect(.damagedInput) {
        try ledger.access("read") { try $0.all(sql) { $0.int64(0) } }
      }
    }
    #expect(throws: SubledgerError.self) {
      try ledger.access("read") { try $0.first("select null") { $0.int64(0) } }
    }
    let named = #expect(throws: SubledgerError.self) {
      try ledger.access("read") {
        try $0.all("select r.line from (select 1) left join reject r") { $0.int64(0) }
      }
    }
    #expect(named?.message.contains("`line` of table reject") == true, "\(named)")
    let read = try ledger.access("read") { try $0.all("select null, 0") { $0.optionalInt64(0) } }
    #expect(read == [nil])
    let error = expect(.damagedInput) {
      try ledger.access("read") { try $0.execute("select 1 from gone") }
    }
    #expect(error?.hint.contains("rebuild") == true)
  }

  @Test("A failure without a message of SQLite is named by its code")
  func unnamed() {
    #expect(SQLiteError(code: SQLITE_FULL, message: "not an error").message.contains("full"))
    #expect(!SQLiteError(code: SQLITE_OK, message: "not an error").message.contains("not an error"))
    #expect(SQLiteError(code: SQLITE_FULL, message: "no room").message == "no room")
  }

  @Test("Undoing a change does not hide a broken disk")
  func undone() throws {
    let ledger = try Ledger.fresh()
    expect(.inputOutput) {
      try ledger.change("write") { (_) throws -> Void in
        errno = EIO
        throw SQLiteError(code: SQLITE_CORRUPT)
      }
    }
  }

  @Test("A sum beyond a column's range is not damage")
  func overflow() throws {
    let ledger = try Ledger.fresh()
    try ledger.rows(sql: "create table cell (id integer primary key, x integer) strict") { _ in }
    let addition = """
      insert into cell values (1, \(Int64.max)) on conflict do update set x = x + excluded.x
      """
    try ledger.rows(sql: addition) { _ in }
    expect(.overflow) { try ledger.access("add") { try Statement($0, addition).run() } }
  }
}
