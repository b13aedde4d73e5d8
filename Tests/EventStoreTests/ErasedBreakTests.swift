import EventStore
import TestSupport
import Testing
import Domain

@Suite("A break keeps one life when its person is erased")
struct ErasedBreakTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
    try ledger.ingest("a", [Line()])
    // Two episodes, of which only the second says when something was expected.
    for (seconds, isSeen) in [(1, true), (2, false), (3, true)] as [(Int64, Bool)] {
      let asOf = Instant(seconds: seconds)
      let run = try ledger.beginRun(asOf: asOf, version: "1", options: "{}")
      var found = Break(id: "b", code: .missedRenewal, provider: .qonversion)
      found.user = "user-1"
      found.expectedAt = seconds == 3 ? asOf : nil
      _ = try ledger.storeBreaks(isSeen ? [found] : [], asOf: asOf, run: run)
      try ledger.finishRun(run, archives: 0, tallies: ArchiveTallies(), published: "set")
    }
  }

  private func erase(_ name: @escaping (Break) -> String?) throws -> Erasure {
    let words = ErasureNames(
      breakID: { former, _, _ in name(former) }, decisions: { _, _, _ in nil })
    return try #require(try ledger.erase("user-1", as: NewAuditEntry(.erase), words))
  }

  private func ids() throws -> [String] {
    try ledger.table("select break_id from break_episode where episode > 0 order by episode")
  }

  @Test("All its episodes get the name that one of them tells")
  func oneName() throws {
    let found = try erase { $0.expectedAt == nil ? nil : "c" }
    #expect(try ids() == ["c", "c"])
    #expect(found.breakIDs == ["b": "c"] && found.lostBreaks == 0)
  }

  @Test("One that no episode tells the name of is lost once")
  func lost() throws {
    #expect(try erase { _ in nil }.lostBreaks == 1)
    #expect(try ids() == ["b", "b"])
  }
}
