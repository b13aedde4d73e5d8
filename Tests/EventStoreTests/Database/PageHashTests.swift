import CSQLite
import Domain
import Foundation
import TestSupport
import Testing

@testable import EventStore

@Suite("A page of the ledger is read as written, or refused")
struct PageHashTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("ledger.sqlite")
    let ledger = try Ledger.fresh(in: folder)
    try ledger.ingest("a", (1...20).map { _ in Line() })
    try ledger.publish()
    try ledger.checkpoint()
  }

  private func bytes() throws -> [UInt8] {
    try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Opens the ledger and reads each of its pages.
  private func readAll() throws {
    let ledger = try Ledger.open(path: path, mode: .readOnly)
    let copy = folder.path("copy-\(UUID()).sqlite")
    defer { unlink(copy) }
    try ledger.copy(to: copy)
  }

  /// Runs SQL on the file with plain SQLite.
  private func withPlainSQLite(_ sql: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    try #require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
  }

  @Test("A flipped bit anywhere in a used page is damage, even in its hash or the header")
  func flipped() throws {
    try readAll()
    let whole = try bytes()
    var numbers = SeededNumbers(seed: 3)
    let pages = (0..<whole.count / 8192).filter { page in
      whole[page * 8192 + 8184..<page * 8192 + 8192].contains { $0 != 0 }
    }
    #expect(pages.count > whole.count / 8192 / 2)
    let places = pages.map { $0 * 8192 + numbers.below(8192) } + [20, 8190]
    for place in places {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(numbers.below(8))
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: SubledgerError.self, "byte \(place)") { try readAll() }
      #expect([.damagedInput, .configuration].contains(error?.kind), "\(place): \(error as Any)")
    }
    try Data(whole).write(to: URL(fileURLWithPath: path))
    try readAll()
  }

  @Test("A page moved to another position with its hash is damage")
  func misplaced() throws {
    var bytes = try bytes()
    bytes.replaceSubrange(8192..<16384, with: bytes[16384..<24576])
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(throws: SubledgerError.self) { try readAll() }
  }

  @Test("A program that only checkpoints the log leaves a valid ledger")
  func otherProgram() throws {
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    try ledger.ingest("b", (1...20).map { _ in Line() })
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: path + suffix + ".kept")
    }
    withExtendedLifetime(ledger) {}
    for suffix in ["-shm", "-wal", ""] { unlink(path + suffix) }
    for suffix in ["", "-wal"] {
      try FileManager.default.moveItem(atPath: path + suffix + ".kept", toPath: path + suffix)
    }
    try withPlainSQLite("select count(*) from archive")
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    try readAll()
    let names = try Ledger.open(path: path, mode: .readOnly).archives(byName: true).map(\.name)
    #expect(names == ["a", "b"])
  }

  @Test("Pages that another program writes to the ledger are refused")
  func otherWriter() throws {
    try withPlainSQLite("update archive set name = 'c'")
    #expect(throws: SubledgerError.self) { try readAll() }
  }

  @Test("A copy has a hash in each page with content", arguments: [":memory:", "file:a"])
  func copy(name: String) throws {
    let copy = folder.path(name)
    _ = try Ledger.open(path: path, mode: .readOnly).backup(to: copy)
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: copy)))
    for page in 0..<bytes.count / 8192 {
      let content = bytes[page * 8192..<page * 8192 + 8192]
      #expect(content.suffix(8).contains { $0 != 0 } || content.allSatisfy { $0 == 0 })
    }
  }
}
