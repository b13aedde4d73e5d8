import EventStore
import TestSupport
import Testing
import Domain

@Suite("A break keeps its id and subscription when its person is erased")
struct ErasedBreakTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger
  private let user = Fingerprint.of("user-1").userKeyText

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger.fresh(in: folder)
    try ledger.ingest("a", [Line(user: "user-1")])
    for (seconds, isSeen) in [(1, true), (2, false), (3, true)] as [(Int64, Bool)] {
      let asOf = Instant(seconds: seconds)
      let run = try ledger.beginRun(asOf: asOf, version: "1", options: "{}")
      var found = Break(id: "b", code: .missedRenewal, provider: .qonversion)
      (found.user, found.subscription) = (user, "\(user)|pro")
      _ = try ledger.storeBreaks(isSeen ? [found] : [], asOf: asOf, run: run)
      try ledger.finishRun(run, archives: 0, counts: ArchiveCounts(), published: "set")
    }
  }

  private func episodes() throws -> [String] {
    try ledger.table(
      """
      select break_id || ' ' || user_id || ' ' || subscription_id from break_history
      where episode > 0 order by episode
      """)
  }

  @Test("A break shows the id before, and the pseudonym in each episode afterwards")
  func pseudonym() throws {
    #expect(try episodes() == ["b user-1 user-1|pro", "b user-1 user-1|pro"])
    let erased = try #require(
      try ledger.erase("user-1", as: AuditEntry(.erase)) { _, _ in nil })
    let name = erased.pseudonym
    #expect(erased.breaks == 2 && erased.lineages == 1)
    #expect(try episodes() == ["b \(name) \(name)|pro", "b \(name) \(name)|pro"])
    #expect(try ledger.knownBreak("b")?.user == user)
  }

  @Test("New events under an erased id stay erased")
  func again() throws {
    let erased = try #require(
      try ledger.erase("user-1", as: AuditEntry(.erase)) { _, _ in nil })
    try ledger.ingest("b", [Line(transaction: "2", user: "user-1")])
    #expect(try ledger.table("select id from user") == [erased.pseudonym])
    #expect(try ledger.userKey(of: erased.pseudonym) == Fingerprint.of("user-1"))
    let second = try ledger.erase("user-1", as: AuditEntry(.erase)) { _, _ in nil }
    #expect(second?.isChanged == false)
  }
}
