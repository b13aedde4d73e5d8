import EventStore
import Testing
import Domain

@Suite("Delivery reports show what is known and nothing else")
struct DeliveryReportTests {
  private let world: World
  private let kind = EventKind.renewed.rawValue

  init() throws { world = try World() }

  @Test("A percentile is the smallest latency that covers its share of deliveries")
  func percentiles() throws {
    let day = Day(year: 2026, month: 2, day: 3).number
    try world.sql(
      """
      insert into delivery_cell values (1, \(day), 1, \(kind), 0, 100, 90, 6, 3, 1, 100, 80, 9, 4,
        0, 0, 1, 321)
      """)
    for (bucket, count) in [(1, 50), (2, 44), (3, 1), (200, 5)] {
      // Half of each bucket arrived in another run.
      for (run, part) in [(1, count / 2), (2, count - count / 2)] {
        try world.sql(
          "insert into latency_cell values (\(run), \(day), 1, \(kind), \(bucket), \(part))")
      }
    }
    var late = ArrivalSums()
    late.late = 2
    world.facts.arrivals[
      ArrivalKey(day: Day(number: day), provider: .qonversion, kind: .renewed)] = late
    world.facts.arrivals[
      ArrivalKey(day: Day(number: day), provider: .flobuk, kind: .observed)] = late
    try world.write()
    #expect(
      try world.text("deliveries_daily/2026-02.csv")
        == """
        day,provider,kind,delivered,distinct_events,duplicates_exact,duplicates_semantic,\
        conflicts,out_of_order,late,attempt_1,attempt_2,attempt_3,attempt_4,attempt_5,attempt_6,\
        attempt_unknown,latency_p50_s,latency_p95_s,latency_p99_s,latency_max_s
        2026-02-03,flobuk,observed,0,0,0,0,0,0,2,,,,,,,,,,,
        2026-02-03,qonversion,renewed,100,90,6,3,1,0,2,80,9,4,0,0,1,6,1,3,288,321

        """)
  }

  @Test("Without receive times, attempts are unknown, not zero; with some, the rest is unknown")
  func withoutReceiveTimes() throws {
    let day = Day(year: 2026, month: 2, day: 3).number
    for (provider, received) in [(1, 0), (2, 3)] {
      try world.sql(
        """
        insert into delivery_cell values (1, \(day), \(provider), \(kind), 0, 5, 5, 0, 0, 0,
          \(received), \(received), 0, 0, 0, 0, 0, null)
        """)
    }
    try world.write()
    let rows = try world.rows("deliveries_daily/2026-02.csv")
    let attempts = ["1", "2", "3", "4", "5", "6", "unknown"].map { "attempt_\($0)" }
    #expect(rows.map { $0["provider"] } == ["flobuk", "qonversion"])
    #expect(attempts.map { rows[0][$0] } == ["3", "0", "0", "0", "0", "0", "2"])
    #expect(attempts.map { rows[1][$0] } == attempts.map { _ in "" })
  }

  @Test("Attempts follow the schedule that fits most of the provider's deliveries")
  func fittingSchedule() throws {
    let day = Day(year: 2026, month: 2, day: 3).number
    func came(_ schedule: Int, _ attempts: String) throws {
      let whole = schedule == 0 ? "9, 9, 0, 0, 0, 9" : "0, 0, 0, 0, 0, 0"
      try world.sql(
        "insert into delivery_cell values (1, \(day), 2, \(kind), \(schedule), \(whole), "
          + "\(attempts), 0, 0, null)")
    }
    func counted() throws -> [String?] {
      try world.write()
      let row = try world.rows("deliveries_daily/2026-02.csv").first
      return ["1", "2", "3", "4", "unknown"].map { row?["attempt_\($0)"] }
        + [try world.rows("outages.csv").first?["deliveries_delayed"]]
    }
    try came(0, "4, 2, 0, 0")
    try fail(at: 100, 200, 300, provider: .flobuk)
    try fail(at: 100, 200, 300, 400, provider: .flobuk, schedule: 1)
    #expect(try counted() == ["4", "2", "0", "0", "3", "3"])
    try came(1, "4, 0, 1, 1")
    #expect(try counted() == ["4", "2", "0", "0", "3", "3"])
    try world.sql("update delivery_cell set attempt_2 = 1 where schedule = 1")
    #expect(try counted() == ["4", "1", "1", "1", "2", "4"])
  }

  @Test("Three failed first attempts over a minute or more without a receipt are an outage")
  func outage() throws {
    try receive(at: 10)
    try fail(at: 100, 130, 160)
    try receive(at: 700)
    try world.write()
    #expect(
      try world.text("outages.csv")
        == """
        from,to,provider,deliveries_delayed,deliveries_lost,last_taken_at,next_taken_at
        2026-02-03T00:01:40Z,2026-02-03T00:02:40Z,qonversion,3,0,2026-02-03T00:00:10Z,\
        2026-02-03T00:11:40Z

        """)
  }

  @Test("Two failures, or three within less than a minute, are not an outage")
  func tooLittle() throws {
    try fail(at: 100, 10_000)
    #expect(try outages().isEmpty)
    try receive(at: 20_000)
    try fail(at: 30_000, 30_001, 30_059)
    #expect(try outages().isEmpty)
  }

  @Test("Failed retries extend an outage but do not make one")
  func retries() throws {
    try fail(at: 100, 101)
    try fail(at: 160, 460, attempt: 2)
    #expect(try outages().isEmpty)
    try fail(at: 102)
    let rows = try outages()
    #expect(rows.map { $0["to"] } == ["2026-02-03T00:07:40Z"])
    #expect(rows.map { $0["deliveries_delayed"] } == ["3"])
    #expect(rows.map { $0["last_taken_at"] } == [""])
  }

  @Test("A receipt between failures separates them, whatever its attempt")
  func parted() throws {
    try fail(at: 100, 400)
    try receive(at: 650)
    try fail(at: 1_000, 1_300)
    #expect(try outages().isEmpty)
  }

  @Test("Failures between two receipts of the same five minutes are not in an outage")
  func interleaved() throws {
    try receive(at: 10, to: 290)
    try fail(at: 100, 150, 200, 250)
    #expect(try outages().isEmpty)
    try fail(at: 295, 310, 400)
    #expect(try outages().map { $0["deliveries_delayed"] } == ["3"])
  }

  @Test("Each provider has its own outages")
  func providers() throws {
    try fail(at: 100, 200)
    try fail(at: 150, 250, provider: .flobuk)
    try receive(at: 155, provider: .flobuk)
    #expect(try outages().isEmpty)
    try fail(at: 180)
    #expect(try outages().map { $0["provider"] } == ["qonversion"])
  }

  @Test("An outage reported by several runs is one outage")
  func overRuns() throws {
    try receive(at: 5)
    for run in 1...3 { try fail(at: 100, 120, 180, run: Int64(run)) }
    #expect(try outages().map { $0["deliveries_delayed"] } == ["3"])
  }

  @Test("Events that stay missing between the receipts around an outage were lost in it")
  func lost() throws {
    try receive(at: 1_000)
    try fail(at: 90_000, 95_000, 99_000)
    try receive(at: 100_000)
    let run = try world.ledger.beginRun(asOf: world.rules.asOf, version: "1", options: "{}")
    _ = try world.ledger.storeBreaks(
      [
        missed("a", at: 1_000), missed("b", at: 1_001), missed("c", at: 99_999),
        missed("d", at: 60_000, .pending), missed("e", at: 60_000, code: .conflict),
        missed("f", at: 60_000, provider: .flobuk), missed("g", at: 100_000),
      ], asOf: world.rules.asOf, run: run)
    try world.write(run: run)
    #expect(try world.rows("outages.csv").map { $0["deliveries_lost"] } == ["2"])
  }

  /// The rows of outages.csv, written now.
  private func outages() throws -> [[String: String]] {
    try world.write()
    return try world.rows("outages.csv")
  }

  private static let midnight = Int64(Day(year: 2026, month: 2, day: 3).number) * 86_400

  private func receive(
    at first: Int64, to last: Int64? = nil, provider: Provider = .qonversion
  ) throws {
    let (from, to) = (Self.midnight + first, Self.midnight + (last ?? first))
    try world.sql(
      """
      insert into receipt_cell values (1, \(provider.rawValue), \(from / 300),
        \(from * 1000), \(to * 1000))
      """)
  }

  private func fail(
    at seconds: Int64..., attempt: Int = 1, provider: Provider = .qonversion, schedule: Int = 0,
    run: Int64 = 1
  ) throws {
    for second in seconds {
      try world.sql(
        """
        insert into failed_attempt values (\(run), \(provider.rawValue), \(schedule),
          \((Self.midnight + second) * 1000), \(second), \(attempt))
        """)
    }
  }

  private func missed(
    _ id: String, at seconds: Int64, _ status: BreakStatus = .open,
    code: BreakCode = .missedRenewal, provider: Provider = .qonversion
  ) -> Break {
    var item = Break(id: id, code: code, provider: provider)
    item.status = status
    item.expectedAt = Instant(seconds: Self.midnight + seconds)
    item.missingEvents = 1
    return item
  }
}
