import EventStore
import TestSupport
import Testing
import Domain

@Suite("Attempts are counted by the time of a delivery")
struct AttemptTests {
  private static let minute: Int64 = 60
  private static let hour: Int64 = 3600

  @Test(
    "A delivery belongs to the attempt scheduled for its time",
    arguments: [
      (0, 1), (59, 2), (58, 1), (-120, 1), (60, 2), (353, 2), (354, 3), (959, 3),
      (4 * hour, 4), (4 * hour - 240, 4), (4 * hour + hour / 2 - 1, 4), (8 * hour, 5),
      (24 * hour, 6), (27 * hour - 1, 6),
    ])
  func inTime(seconds: Int64, attempt: Int) {
    #expect(Provider.qonversion.interface.retries.attempt(after: seconds) == attempt)
  }

  @Test(
    "A delivery between scheduled attempts has no known attempt",
    arguments: [-121, 960, 4 * hour - 241, 4 * hour + hour / 2, 27 * hour, .max, .min])
  func between(seconds: Int64) {
    #expect(Provider.qonversion.interface.retries.attempt(after: seconds) == nil)
  }

  @Test("Without a published schedule, only a prompt first attempt is known")
  func prompt() {
    for provider in [Provider.iaptic, .purple] {
      let schedule = provider.interface.retries
      #expect(schedule.attempt(after: 119) == 1)
      #expect(schedule.attempt(after: 120) == nil)
      #expect(schedule.attempt(after: 3600) == nil)
    }
  }

  @Test("IAPGUARD's attempts are 10 min, 60 min, 4 h and three times 12 h apart")
  func flobuk() {
    let schedule = Provider.flobuk.interface.retries
    #expect(schedule.delays == [0, 600, 4_200, 18_600, 61_800, 105_000, 148_200])
    #expect(schedule.delays.map { schedule.attempt(after: $0) } == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test("FLOBUK's deliveries are counted under both of its published schedules")
  func older() throws {
    let ledger = try Ledger.fresh()
    let delays: [Int64] = [0, 300, 700, 1_500, 1_800, 4_200, 3_000]
    try ledger.ingest(
      "a",
      delays.enumerated().map { index, delay in
        Line(
          provider: .flobuk, transaction: "\(index)", created: 1_000, received: 1_000 + delay)
      })
    #expect(
      try ledger.table(
        """
        select schedule, delivered, received, attempt_1, attempt_2, attempt_3, attempt_4,
          attempt_5, attempt_6
        from delivery_cell order by schedule
        """) == ["0|7|7|1|1|1|0|0|0", "1|0|0|1|1|1|0|0|1"])
    #expect(
      try ledger.table(
        "select schedule, count(*), max(at_ms) from failed_attempt group by schedule")
        == [
          "0|3|\(Line.beginning + 1_000_000 + 600_000)",
          "1|14|\(Line.beginning + 1_000_000 + 1_500_000)",
        ])
  }

  @Test("Retries in non-ascending order are not a schedule")
  func disorder() {
    #expect(RetrySchedule(retriesAfter: [60, 60]) == nil)
    #expect(RetrySchedule(retriesAfter: [0]) == nil)
    #expect(RetrySchedule(retriesAfter: []) == .firstOnly)
  }

  @Test("Attempts count from the message's creation, and only with a receive time")
  func counted() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest(
      "a",
      [
        Line(transaction: "1"), Line(transaction: "2", created: 600, received: 605),
        Line(transaction: "3", received: 70), Line(transaction: "4", received: 5_000),
        Line(transaction: "5", received: 86_400),
      ])
    #expect(
      try ledger.table(
        """
        select sum(delivered), sum(received), sum(attempt_1), sum(attempt_2), sum(attempt_3),
          sum(attempt_4), sum(attempt_5), sum(attempt_6), max(latency_max_s)
        from delivery_cell
        """) == ["5|4|1|1|0|0|0|1|86400"])
  }

  @Test("A later attempt proves when the previous ones failed")
  func failures() throws {
    let ledger = try Ledger.fresh()
    try ledger.ingest("a", [Line(created: 10, received: 10 + 14_400), Line(received: 5)])
    let start = Line.beginning
    #expect(
      try ledger.table("select at_ms - \(start), attempt from failed_attempt order by at_ms")
        == ["10000|1", "70000|2", "370000|3"])
    #expect(
      try ledger.table("select from_ms - \(start), to_ms - \(start) from receipt_cell order by 1")
        == ["5000|5000", "14410000|14410000"])
  }

  @Test("A schedule from the caller overrides the published one")
  func ownSchedule() throws {
    let ledger = try Ledger.fresh()
    let ingest = try ledger.beginEvents(
      .named("a"), schedules: [.qonversion: try #require(RetrySchedule(retriesAfter: [1800]))])
    try ingest.add(.of([Line(received: 1800), Line(transaction: "2", received: 360)]))
    _ = try ingest.finish()
    #expect(
      try ledger.table("select received, attempt_1, attempt_2 from delivery_cell") == ["2|0|1"])
  }

  @Test("Any split over archives in any order gives the same cells", arguments: 1...4)
  func split(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let lines = (0..<200).map { number in
      let delays: [Int64] = [3, 61, 400, 14_410, 28_900, 86_500, 2_000]
      return Line(
        transaction: "\(number)", time: Int64(random.below(20_000)),
        received: random.below(4) == 0 ? nil : delays[random.below(delays.count)])
    }
    let whole = try Ledger.fresh()
    try whole.ingest("all", lines)
    let parted = try Ledger.fresh()
    var rest = lines
    var archive = 0
    while !rest.isEmpty {
      var hand: [Line] = []
      for _ in 0...min(rest.count - 1, random.below(40)) {
        hand.append(rest.remove(at: random.below(rest.count)))
      }
      try parted.ingest("part \(archive)", hand)
      archive += 1
    }
    #expect(archive > 2)
    for table in ["delivery_cell", "latency_cell", "receipt_cell", "failed_attempt"] {
      let cells = try whole.table("select * from \(table)")
      #expect(cells.count > 2)
      #expect(try parted.table("select * from \(table)") == cells, "\(table), seed \(seed)")
    }
  }

  @Test("Lines repeated in another archive prove nothing new")
  func repeated() throws {
    let ledger = try Ledger.fresh()
    let line = Line(received: 14_400)
    try ledger.ingest("a", [line])
    let tables = ["receipt_cell", "failed_attempt"]
    let before = try tables.map { try ledger.table("select * from \($0)") }
    try ledger.ingest("b", [line, line])
    #expect(try tables.map { try ledger.table("select * from \($0)") } == before)
  }
}
