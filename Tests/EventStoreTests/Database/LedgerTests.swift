import Domain
import Foundation
import EventStore
import TestSupport
import Testing

@Suite("The ledger's file")
struct LedgerTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("a.sqlite")
  }

  @Test("A new ledger, its log and its lock are readable by their owner only")
  func modes() throws {
    let lock = try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0)
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    for name in [path, path + "-wal", path + "-shm", path + ".lock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: name)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    withExtendedLifetime((lock, ledger)) {}
  }

  @Test("A ledger can be reopened, and the empty word has its row")
  func reopening() throws {
    do { _ = try Ledger.open(path: path, mode: .readWrite) }
    let ledger = try Ledger.open(path: path, mode: .readOnly)
    var seen: [String] = []
    try ledger.rows(
      sql: "select id, value, null as absent from string where id = ?", arguments: [.integer(0)]
    ) { row in
      seen = row.names
      seen += ["\(row.number(0))", row.text(1), "\(row.isNull(2))", "\(row.columnCount)"]
    }
    #expect(seen == ["id", "value", "absent", "0", "", "true", "3"])
  }

  @Test("A read-only ledger cannot be written")
  func readOnly() throws {
    do { _ = try Ledger.open(path: path, mode: .readWrite) }
    let ledger = try Ledger.open(path: path, mode: .readOnly)
    expect(.permission) { try ledger.rows(sql: "delete from run") { _ in } }
  }

  @Test("A file that is not a database is refused and left unchanged", arguments: [1, 16, 1_600])
  func notADatabase(length: Int) throws {
    let text = String(String(repeating: "period,provider\n", count: 100).prefix(length))
    let path = try folder.write(text, to: "a.csv")
    expect(.damagedInput) { try Ledger.open(path: path, mode: .readWrite) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test("Another program's database is refused")
  func foreignDatabase() throws {
    do {
      let ledger = try Ledger.open(path: path, mode: .readWrite)
      try ledger.rows(sql: "pragma application_id = 7") { _ in }
    }
    expect(.damagedInput) { try Ledger.open(path: path, mode: .readWrite) }
  }

  @Test("A ledger whose creation was interrupted is empty, and the next run completes it")
  func interrupted() throws {
    do {
      let ledger = try Ledger.open(path: path, mode: .readWrite)
      var parts: [String] = []
      try ledger.rows(
        sql: """
          select type || ' ' || name from sqlite_schema
          where type in ('table', 'view') and name not like 'sqlite%'
          """
      ) { parts.append($0.text(0)) }
      let undoing =
        ["pragma foreign_keys = off"] + parts.map { "drop \($0)" }
        + ["pragma user_version = 0", "pragma application_id = 0"]
      for statement in undoing { try ledger.rows(sql: statement) { _ in } }
    }
    expect(.noInput) { try Ledger.open(path: path, mode: .readOnly) }
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    #expect(try ledger.contents().isEmpty)
  }

  @Test("A ledger of a newer program is refused")
  func newer() throws {
    do {
      let ledger = try Ledger.open(path: path, mode: .readWrite)
      try ledger.rows(sql: "pragma user_version = 999") { _ in }
    }
    for mode in [Ledger.Mode.readWrite, .readOnly] {
      expect(.configuration) { try Ledger.open(path: path, mode: mode) }
    }
  }

  @Test("Opening a missing ledger reports that, and creates no file")
  func missing() throws {
    expect(.noInput) { try Ledger.open(path: folder.path("none.sqlite"), mode: .readOnly) }
    #expect(!FileManager.default.fileExists(atPath: folder.path("none.sqlite")))
    expect(.inputOutput) {
      try Ledger.open(path: folder.path("no/folder/a.sqlite"), mode: .readWrite)
    }
  }

  @Test("A run whose lock was removed writes nothing, even if another run has a new lock")
  func removedLock() throws {
    let ledger = try Ledger.fresh(in: folder)
    ledger.lock = try LedgerLock.acquire(ledgerPath: ledger.path, waitSeconds: 0)
    func finish() throws {
      try ledger.finishRun(1, archives: 0, counts: ArchiveCounts(), published: nil)
    }
    try finish()
    #expect(unlink(ledger.path + ".lock") == 0)
    expect(.tryAgain) { try finish() }
    let other = try LedgerLock.acquire(ledgerPath: ledger.path, waitSeconds: 0)
    #expect(throws: SubledgerError.self) { try ledger.learn(["a word"]) }
    #expect(throws: SubledgerError.self) { try finish() }
    ledger.lock = other
    try ledger.learn(["a word"])
    try finish()
    #expect(try Ledger.open(path: ledger.path, mode: .readOnly).symbol("a word") != nil)
  }

  @Test("A lock that another run holds is refused, and available when that run ends")
  func lock() throws {
    var first: LedgerLock? = try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0)
    expect(.tryAgain) { try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0) }
    #expect(first != nil)
    first = nil
    _ = try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0)
  }
}
