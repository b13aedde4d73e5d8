import Foundation
import EventStore
import TestSupport
import Testing
import Domain

@Suite("A copy contains the ledger at one moment")
struct CopyTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
    // More than one step copies.
    try ledger.rows(sql: "insert into document values ('long', zeroblob(50000000))") { _ in }
    try ledger.checkpoint()
  }

  @Test("Writes during a copy are not in it and do not restart it")
  func moment() throws {
    let path = folder.path("copy.sqlite")
    let writer = try Ledger.open(path: ledger.path, mode: .readWrite)
    var steps = 0
    let reader = try Ledger.open(path: ledger.path, mode: .readOnly)
    try reader.copy(to: path) {
      steps += 1
      try? writer.rows(sql: "insert into document values ('\(steps)', x'00')") { _ in }
      return steps > 99 ? 15 : 0
    }
    #expect(steps > 2)
    let copy = try Ledger.open(path: path, mode: .readOnly)
    #expect(try copy.table("select sha256 from document") == ["long"])
    #expect(try writer.table("select count(*) from document") == ["\(steps + 1)"])
  }

  @Test("A signal stops a backup between two steps and leaves no file", arguments: [1, 2])
  func stopped(step: Int) throws {
    var steps = 0
    expect(.stopped(15)) {
      try ledger.backup(to: folder.path("b.sqlite")) {
        steps += 1
        return steps == step ? 15 : 0
      }
    }
    #expect(steps == step)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.allSatisfy { $0.hasPrefix("ledger.sqlite") }, "\(left)")
  }

  @Test("A signal stops the checks of rows")
  func checks() throws {
    expect(.stopped(2)) { try ledger.check { 2 } }
  }

  @Test("A signal stops and undoes the current change; without a signal the change succeeds")
  func interrupted() throws {
    let lines = (0..<4_000).map { Line(transaction: "\($0)", original: "\($0)") }
    let listener = Listener(before: 2)
    ledger.stop = listener.ask
    expect(.stopped(15)) { try ledger.ingest("a", lines) }
    #expect(listener.count > 2)
    let undisturbed = Listener(before: .max)
    let again = try Ledger.open(path: ledger.path, mode: .readWrite)
    again.stop = undisturbed.ask
    #expect(try again.table("select count(*) from lineage, archive") == ["0"])
    #expect(try again.ingest("a", lines).accepted == 4_000)
    #expect(undisturbed.count > 2)
  }
}
