import Domain
import Foundation
import TestSupport
import Testing

@testable import EventStore

@Suite("Migrations keep the ledger complete")
struct MigrationTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let path: String
  private let before: [String]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("a.sqlite")
    do {
      let ledger = try Ledger.open(path: path, mode: .readWrite)
      try ledger.rows(sql: "insert into string (id, value) values (1, 'kept')") { _ in }
      try ledger.checkpoint()
    }
    before = try Self.content(path)
  }

  /// Today's migrations and a future one.
  private func tomorrow(_ migration: @escaping Schema.Migration) -> [Schema.Migration] {
    Schema.migrations + [migration]
  }

  /// Half of a migration that changes, drops, and writes more than fits in memory.
  private static func half(_ database: Connection) throws {
    try database.execute(
      """
      pragma cache_size = 8;
      alter table string add column extra text;
      update string set value = 'changed' where id = 1;
      create table filler (id integer primary key, text text);
      with recursive number (n) as (select 1 union all select n + 1 from number where n < 20000)
      insert into filler select n, hex(randomblob(100)) from number;
      """)
  }

  /// The rows that a query returns, as lines.
  private static func lines(_ path: String, _ sql: String) throws -> [String] {
    var lines: [String] = []
    try Statement(Connection(path: path, isReadOnly: true), sql).forEachRow { row in
      lines.append((0..<row.columnCount).map { row.text($0) }.joined(separator: "|"))
    }
    return lines
  }

  private static func schema(_ path: String) throws -> [String] {
    try lines(path, "pragma user_version")
      + lines(path, "select type, name, sql from sqlite_schema order by type, name")
  }

  /// The version, the schema and every row of every table, as text.
  private static func content(_ path: String) throws -> [String] {
    let tables = "select name from sqlite_schema where type = 'table' order by name"
    return try schema(path)
      + lines(path, tables).flatMap { table in
        try lines(path, "select * from \"\(table)\"").map { "\(table): \($0)" }
      }
  }

  @Test("A migration that fails halfway leaves a usable old ledger")
  func failing() throws {
    let migrations = tomorrow { database in
      try Self.half(database)
      throw Failure()
    }
    #expect(throws: Failure.self) {
      try LedgerFile.open(path: path, mode: .readWrite, migrations: migrations)
    }
    #expect(try Self.content(path) == before)
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    #expect(ledger.symbol("kept") == 1)
  }

  @Test("A migration killed halfway leaves files that contain the old ledger")
  func dying() throws {
    let corpse = folder.path("corpse.sqlite")
    let migrations = tomorrow { [path] database in
      try Self.half(database)
      // The disk's content if the process is killed here.
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: corpse + suffix)
      }
      throw Failure()
    }
    #expect(throws: Failure.self) {
      try LedgerFile.open(path: path, mode: .readWrite, migrations: migrations)
    }
    let log = try FileManager.default.attributesOfItem(atPath: corpse + "-wal")[.size] as? Int
    #expect(log ?? 0 > 1_000_000, "half of the migration is on the disk")
    do { _ = try Ledger.open(path: corpse, mode: .readWrite) }
    #expect(try Self.content(corpse) == before)
  }

  @Test("A successful migration keeps the data, and programs without it refuse the ledger")
  func working() throws {
    let migrations = tomorrow { try Self.half($0) }
    do { _ = try LedgerFile.open(path: path, mode: .readWrite, migrations: migrations) }
    let after = try Self.content(path)
    #expect(after.first == "2" && after.contains { $0.contains("changed") })
    for mode in [Ledger.Mode.readWrite, .readOnly] {
      expect(.configuration) { try Ledger.open(path: path, mode: mode) }
    }
    #expect(try Self.content(path) == after)
  }

  @Test("Reading an older ledger without migrating it is refused with a hint to run")
  func older() throws {
    let migrations = tomorrow { try Self.half($0) }
    expect(.configuration) {
      try LedgerFile.open(path: path, mode: .readOnly, migrations: migrations)
    }
    #expect(try Self.content(path) == before)
  }

  @Test("A migrated ledger of any release has the schema of a new one")
  func released() throws {
    let schema = try Self.schema(path)
    for release in try ReleasedLedger.all() {
      let path = try folder.write(Array(try release.unpacked()), to: "\(release.name).sqlite")
      do { _ = try Ledger.open(path: path, mode: .readWrite) }
      #expect(try Self.schema(path) == schema, "the ledger of \(release.name)")
    }
  }

  @Test("A ledger open to everyone becomes private, with its log and its lock")
  func rights() throws {
    for (suffix, mode) in [("", 0o644), ("-wal", 0o666), (".lock", 0o604)] {
      if suffix != "" { try folder.write("", to: "a.sqlite\(suffix)") }
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: path + suffix)
    }
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    for suffix in ["", "-wal", "-shm", ".lock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
      let mode = try #require(attributes[.posixPermissions] as? Int)
      #expect(mode & 0o607 == 0o600, "\(suffix) \(String(mode, radix: 8))")
    }
    withExtendedLifetime(ledger) {}
  }
}
