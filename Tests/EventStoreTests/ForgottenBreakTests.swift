import EventStore
import TestSupport
import Testing
import Domain

@Suite("A break keeps one life when its person is forgotten")
struct ForgottenBreakTests {
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

  private func forget(_ name: @escaping (Break) -> String?) throws -> Forgotten {
    let words = ForgetWords(
      breakID: { former, _, _ in name(former) }, decisions: { _, _, _ in nil })
    return try #require(try ledger.forget("user-1", as: NewAuditEntry(.forget), words))
  }

  private func ids() throws -> [String] {
    try ledger.table("select break_id from break_episode where episode > 0 order by episode")
  }

  @Test("All its episodes get the name that one of them tells")
  func oneName() throws {
    let found = try forget { $0.expectedAt == nil ? nil : "c" }
    #expect(try ids() == ["c", "c"])
    #expect(found.breakIDs == ["b": "c"] && found.lostBreaks == 0)
  }

  @Test("One that no episode tells the name of is lost once")
  func lost() throws {
    #expect(try forget { _ in nil }.lostBreaks == 1)
    #expect(try ids() == ["b", "b"])
  }
}
