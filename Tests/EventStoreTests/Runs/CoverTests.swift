import EventStore
import Formats
import TestSupport
import Testing
import Domain

@Suite("Every table is verified")
struct CoverTests {
  /// The chain proves its own tables, documents have their SHA-256, a ledger with other migrations
  /// cannot be opened, sets are checked against the runs that published them, and no number is
  /// computed from drill results.
  static let elsewhere: Set = ["run", "run_part", "document", "published_set", "drill"]

  @Test("Every table has a check, a digest per run, or is recomputed by repeating the run")
  func everyTable() throws {
    let folder = try TemporaryFolder()
    let ledger = try Ledger.fresh(in: folder)
    try ledger.ingest("a", [Line()])
    try ledger.publish()
    let copy = folder.path("copy.sqlite")
    try ledger.copy(to: copy)
    let checks = try ledger.check()
    #expect(checks.allSatisfy { $0.wrong == 0 }, "\(checks)")
    let covered = Self.elsewhere
      .union(checks.map(\.name))
      .union(try ledger.table("select distinct part from run_part"))
      .union(try ledger.differences(from: copy).map(\.name))
    let tables = Set(
      try ledger.table("select name from sqlite_schema where type = 'table' order by name"))
    #expect(tables.count > 25)
    #expect(tables.subtracting(covered) == [])
  }

  @Test("A record contains the previous one, and fails when its run is changed")
  func chain() throws {
    let ledger = try Ledger.fresh()
    for name in ["a", "b", "c"] {
      try ledger.ingest(name, [Line(transaction: name)])
      try ledger.publish()
    }
    func isSound(_ link: ChainLink) -> Bool { sha256(of: Array(link.text.utf8)) == link.record }
    let chain = try ledger.chain()
    #expect(chain.map(\.run) == [1, 2, 3])
    #expect(chain.allSatisfy(isSound))
    #expect(chain[0].text.hasPrefix("previous none\nrun 1\n"))
    #expect(chain[2].text.hasPrefix("previous \(chain[1].record)\nrun 3\n"))
    try ledger.rows(sql: "update run set lines = 7 where id = 2") { _ in }
    #expect(try ledger.chain().map(isSound) == [true, false, true])
  }

  @Test("Rewinding removes later input and restores what counted before")
  func rewind() throws {
    let folder = try TemporaryFolder()
    let ledger = try Ledger.fresh(in: folder)
    var then: [[String]] = []
    for run in VersionTests.rivals.indices {
      try ledger.ingest("\(run)", [VersionTests.rivals[run], Line(transaction: "n\(run)")])
      try ledger.publish()
      then.append(try ledger.countedContent())
    }
    for run in VersionTests.rivals.indices.reversed() {
      let path = folder.path("\(run).sqlite")
      try ledger.copy(to: path)
      let copy = try Ledger.open(path: path, mode: .readWrite)
      try copy.rewind(to: Int64(run + 1))
      #expect(try copy.countedContent() == then[run], "run \(run + 1)")
      #expect(try copy.table("select max(id) from archive") == ["\(run + 1)"])
    }
  }
}
