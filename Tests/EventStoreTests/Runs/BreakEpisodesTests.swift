@testable import EventStore
import TestSupport
import Testing
import Domain

@Suite("Breaks over several runs")
struct BreakEpisodesTests {
  let ledger: Ledger

  init() throws { ledger = try Ledger.fresh() }

  /// One run that sees the breaks `ids`.
  @discardableResult
  private func see(
    _ ids: [String], at seconds: Int64, _ status: BreakStatus = .open
  ) throws -> BreakCounts {
    let asOf = Instant(seconds: seconds)
    let run = try ledger.beginRun(asOf: asOf, version: "1", options: "{}")
    let breaks = ids.map { id in
      var found = Break(id: id, code: .missedRenewal, provider: .qonversion)
      found.status = status
      found.lineage = 1
      return found
    }
    let expected = try ledger.storeBreaks(breaks, asOf: asOf, run: run)
    try ledger.finishRun(run, archives: 0, counts: ArchiveCounts(), published: "set")
    return expected
  }

  /// Break, episode, first seen, last seen, resolved at, and the resolving run.
  private func histories() throws -> [String] {
    try ledger.table(
      """
      select break_id, episode, first_seen_ms / 1000, last_seen_ms / 1000, resolved_ms / 1000,
        resolved_run
      from break_episode where episode > 0 order by break_id, episode
      """)
  }

  private func expected(new: Int64 = 0, reopened: Int64 = 0, resolved: Int64 = 0) -> BreakCounts {
    var expected = BreakCounts()
    (expected.new, expected.reopened, expected.resolved) = (new, reopened, resolved)
    return expected
  }

  @Test("A break keeps when it was first seen, is resolved when it disappears, and can come back")
  func comingAndGoing() throws {
    #expect(try see(["b", "a"], at: 1) == expected(new: 2))
    #expect(try see(["a"], at: 2) == expected(resolved: 1))
    #expect(try histories() == ["a|1|1|2|-|-", "b|1|1|1|2|2"])
    #expect(try see(["a"], at: 3) == expected())
    #expect(try histories()[1] == "b|1|1|1|2|2")
    #expect(try see(["b"], at: 4) == expected(reopened: 1, resolved: 1))
    #expect(try histories() == ["a|1|1|3|4|4", "b|1|1|1|2|2", "b|2|4|4|-|-"])
    #expect(try see([], at: 5) == expected(resolved: 1))
    #expect(try histories().last == "b|2|4|4|5|5")
  }

  @Test("Repeating a run changes nothing that a report shows")
  func repeated() throws {
    try see(["a", "b"], at: 1)
    try see(["a"], at: 2)
    let before = try histories()
    #expect(try see(["a"], at: 2) == expected())
    #expect(try histories() == before)
  }

  @Test("A look resolves nothing seen later, and reopens nothing resolved later")
  func lookingBack() throws {
    try see(["a", "b"], at: 5)
    try see(["b"], at: 9)
    #expect(try see(["a"], at: 3) == expected())
    #expect(try histories() == ["a|1|5|5|9|2", "b|1|5|9|-|-"])
    #expect(try see(["b"], at: 3) == expected())
    #expect(try histories()[1] == "b|1|5|9|-|-")
    // A break known only at the earlier as-of begins there, and the next run resolves it.
    #expect(try see(["c", "b"], at: 4) == expected(new: 1))
    #expect(try see(["b"], at: 10) == expected(resolved: 1))
    #expect(try histories() == ["a|1|5|5|9|2", "b|1|5|10|-|-", "c|1|4|4|10|6"])
  }

  @Test("A break seen by a look at an earlier time is kept separately until the next run")
  func behindTheEnd() throws {
    try see(["a"], at: 5)
    try see([], at: 9)
    let history = try ledger.table("select * from break_episode")
    try see(["a"], at: 6, .pending)
    #expect(try ledger.table("select * from break_episode where episode > 0") == history)
    #expect(try ledger.table("select episode, status, last_run from break") == ["0|pending|3"])
    #expect(try ledger.standingBreaks().map(\.id) == ["a"])
    try see([], at: 10)
    #expect(try ledger.table("select * from break_episode") == history)
    #expect(try ledger.table("select episode, status, last_run from break") == ["1|open|1"])
  }

  @Test("At the same as-of, new input resolves a break, and more input can reopen it")
  func sameAsOf() throws {
    try see(["a"], at: 7)
    #expect(try see([], at: 7) == expected(resolved: 1))
    #expect(try see(["a"], at: 7) == expected(reopened: 1))
    #expect(try histories() == ["a|1|7|7|7|2", "a|2|7|7|-|-"])
  }

  @Test("The history of advancing runs equals one written by hand", arguments: 1...20)
  func random(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    var expected: [String: [(first: Int64, last: Int64, resolved: Int64?)]] = [:]
    for run in Int64(1)...24 {
      var seen: [String] = []
      for id in ["a", "b", "c", "d"] where numbers.below(4) != 0 { seen.append(id) }
      try see(seen, at: run)
      for id in ["a", "b", "c", "d"] {
        var episodes = expected[id] ?? []
        let isGoing = episodes.last.map { $0.resolved == nil } ?? false
        switch (seen.contains(id), isGoing) {
        case (true, true): episodes[episodes.count - 1].last = run
        case (true, false): episodes.append((run, run, nil))
        case (false, true): episodes[episodes.count - 1].resolved = run
        case (false, false): break
        }
        expected[id] = episodes
      }
    }
    let written = expected.sorted { $0.key < $1.key }.flatMap { id, episodes in
      episodes.enumerated().map { index, history in
        let end = history.resolved.map { "\($0)|\($0)" } ?? "-|-"
        return "\(id)|\(index + 1)|\(history.first)|\(history.last)|\(end)"
      }
    }
    #expect(try histories() == written, "seed \(seed)")
  }

  @Test("A break is read back with every field")
  func fields() throws {
    var item = Break(id: "x", code: .missedRefund, provider: .iaptic)
    item.status = .pending
    item.severity = .critical
    item.app = "app"
    item.environment = .sandbox
    item.store = .amazon
    item.user = Int64(8).userKeyText
    item.subscription = "s"
    item.transaction = "t"
    item.product = "p"
    item.expectedAt = Instant(milliseconds: 1)
    item.settlesAt = Instant(milliseconds: 2)
    item.evidenceExpiresAt = Instant(milliseconds: 3)
    item.missingEvents = 4
    item.estimatedUSD = Amount(micros: -5)
    item.basis = .provider
    item.evidence = "e"
    item.action = "do"
    item.lineage = 7
    let run = try ledger.beginRun(
      asOf: Instant(milliseconds: 9), version: "1", options: "{}")
    _ = try ledger.storeBreaks([item], asOf: Instant(milliseconds: 9), run: run)
    #expect(
      try ledger.table("select * from break_episode") == [
        "x|1|MISSED_REFUND|pending|critical|3|app|1|5|8|s|t|p|1|2|3|4|-5|1|e|do|7|9|9|1|1|-|-"
      ])
    #expect(try ledger.standingBreaks() == [item])
  }

  @Test("Counts include unresolved breaks by status, severity and code, with the oldest")
  func counts() throws {
    try see(["gone", "back", "decided"], at: 1)
    try see(["decided"], at: 2)
    try ledger.replaceDecisions([
      Decision(breakID: "decided", verdict: .writtenOff, reason: "old", who: "me"),
      Decision(breakID: "unknown", verdict: .explained, reason: "early", who: "me"),
    ])
    var old = Break(id: "old", code: .missedRefund, provider: .qonversion)
    old.severity = .high
    old.expectedAt = Instant(seconds: 1)
    var older = old
    older.id = "older"
    older.expectedAt = Instant(seconds: 0)
    var waiting = old
    waiting.id = "waiting"
    waiting.status = .pending
    var late = Break(id: "late", code: .late, provider: .qonversion)
    late.status = .resolved
    let known = ["back", "decided"].map { Break(id: $0, code: .missedStart, provider: .purple) }
    let run = try ledger.beginRun(asOf: Instant(seconds: 3), version: "1", options: "{}")
    _ = try ledger.storeBreaks(
      [old, older, waiting, late] + known, asOf: Instant(seconds: 3), run: run)
    let rows = try ledger.breakCounts().map {
      "\($0.status) \($0.severity) \($0.code) \($0.count) \($0.oldest?.milliseconds ?? -1)"
    }
    #expect(
      rows == [
        "open high MISSED_REFUND 2 0", "pending high MISSED_REFUND 1 1000",
        "reopened medium MISSED_START 1 -1", "written_off medium MISSED_START 1 -1",
      ])
  }

  @Test("Only breaks of the newest run count, in its status, even if its as-of is earlier")
  func earlierRun() throws {
    func store(_ ids: [String], asOf seconds: Int64) throws -> [String] {
      try see(ids, at: seconds)
      return try ledger.breakCounts().map { "\($0.status) \($0.count)" }
    }
    #expect(try store(["a", "b"], asOf: 10) == ["open 2"])
    #expect(try store([], asOf: 20) == [])
    #expect(try store(["a", "b", "c"], asOf: 30) == ["open 1", "reopened 2"])
    #expect(try store(["a"], asOf: 15) == ["open 1"])
  }

  @Test("The worth of a count is unknown if no missing event of it has an estimate")
  func worth() throws {
    func missing(_ code: BreakCode, _ events: Int64, _ cents: Int64?) -> Break {
      var item = Break(id: "\(code)-\(cents ?? -1)", code: code, provider: .qonversion)
      item.missingEvents = events
      item.estimatedUSD = cents.map { Amount(micros: $0 * 10_000) }
      return item
    }
    let run = try ledger.beginRun(asOf: Instant(seconds: 3), version: "1", options: "{}")
    _ = try ledger.storeBreaks(
      [
        missing(.missedStart, 1, nil), missing(.missedRenewal, 1, nil),
        missing(.missedRenewal, 1, 299), missing(.missedPurchase, 1, 0), missing(.late, 0, nil),
        missing(.feedGap, 0, 39960),
      ], asOf: Instant(seconds: 3), run: run)
    let worth = try ledger.breakCounts().map {
      "\($0.code) \($0.estimatedUSD?.text() ?? "unknown") \($0.withoutEstimate)"
    }
    #expect(
      worth.sorted() == [
        "FEED_GAP 399.60 0", "LATE unknown 0", "MISSED_PURCHASE 0.00 0",
        "MISSED_RENEWAL 2.99 1", "MISSED_START unknown 1",
      ])
  }

  @Test("The decisions of the last run replace earlier ones")
  func decisions() throws {
    let first = Decision(breakID: "b", verdict: .explained, reason: "r", who: "w")
    let second = Decision(breakID: "a", verdict: .writtenOff, reason: "s", who: "v")
    try ledger.replaceDecisions([first, second])
    #expect(
      try ledger.table("select * from decision") == ["a|written_off|s|v", "b|explained|r|w"])
    try ledger.replaceDecisions([])
    #expect(try ledger.table("select * from decision").isEmpty)
  }
}
