import Foundation
import Ledger
import Report
import TestSupport
import Testing
import Vocabulary

@Suite("Deliveries, inputs and rejects")
struct AccountReportTests {
  let world: World

  init() throws { world = try World() }

  @Test("Every file of the set is there with its header when the ledger is empty")
  func emptySet() throws {
    let tables = try world.write()
    #expect(
      tables.map(\.path) == [
        "revenue_monthly.csv", "churn_monthly.csv", "renewals_monthly.csv", "mrr_monthly.csv",
        "trials_monthly.csv", "retention_monthly.csv", "quality_monthly.csv",
        "excluded_monthly.csv", "coverage.csv", "breaks.csv", "breaks_history.csv",
        "refetch_worklist.csv", "restatements.csv", "inputs.csv", "rejects.csv",
      ])
    for table in tables {
      let header = table.columns.map(\.name).joined(separator: ",")
      #expect(try world.text(table.path) == header + "\n")
      #expect(table.rows == 0)
    }
    #expect(
      try world.text("restatements.csv")
        == "report,period,key,column,published,restated,delta,cause,published_by_run\n")
    let files = try FileManager.default.contentsOfDirectory(
      atPath: world.folder.path("reports"))
    #expect(files.count == tables.count)
  }

  @Test("Percentiles are the least latency that so many deliveries do not exceed")
  func deliveries() throws {
    let day = Day(year: 2026, month: 2, day: 3).number
    let kind = EventKind.renewed.rawValue
    try world.sql("insert into delivery_cell values (\(day), 1, \(kind), 100, 90, 6, 3, 1)")
    for (bucket, count) in [(1, 50), (2, 44), (3, 1), (200, 5)] {
      try world.sql("insert into latency_cell values (\(day), 1, \(kind), \(bucket), \(count))")
    }
    var late = ArrivalSums()
    late.late = 2
    world.facts.arrivals[
      ArrivalKey(day: Day(number: day), provider: .qonversion, kind: .renewed)] = late
    world.facts.arrivals[
      ArrivalKey(day: Day(number: day), provider: .flobuk, kind: .observed)] = late
    try world.write()
    let rows = try world.rows("deliveries_daily/2026-02.csv")
    #expect(rows.map { $0["provider"] } == ["flobuk", "qonversion"])
    #expect(
      told(rows[1], "day", "kind", "delivered", "distinct_events", "conflicts", "late")
        == [
          "day=2026-02-03", "kind=renewed", "delivered=100", "distinct_events=90", "conflicts=1",
          "late=2",
        ])
    #expect(
      told(
        rows[1], "latency_p50_s", "latency_p95_s", "latency_p99_s", "latency_max_s", "attempt_1")
        == [
          "latency_p50_s=1", "latency_p95_s=3", "latency_p99_s=\(LatencyBucket.seconds(200))",
          "latency_max_s=\(LatencyBucket.seconds(200))", "attempt_1=",
        ])
    #expect(told(rows[0], "delivered", "latency_p50_s") == ["delivered=0", "latency_p50_s="])
  }

  @Test("Excluded events are counted by month and reason")
  func excluded() throws {
    var sums = ExclusionSums()
    sums.events = 3
    sums.charges = 1
    let app = try world.symbol("app")
    for reason in ExclusionReason.allCases {
      world.facts.excluded[
        ExclusionKey(
          day: Day(year: 2026, month: 1, day: 9), provider: .iaptic, app: app, reason: reason)] =
        sums
    }
    try world.write()
    #expect(
      try world.text("excluded_monthly.csv")
        == """
        period,provider,app_id,reason,events,charges
        2026-01,iaptic,app,family_sharing,3,1
        2026-01,iaptic,app,manual,3,1
        2026-01,iaptic,app,sandbox,3,1

        """)
  }

  @Test("Inputs and rejects name archives of events, in byte order of their path")
  func inputs() throws {
    try archive(1, "b.gz", kind: "events", rejected: 2)
    try archive(2, "=a.gz", kind: "events", rejected: 0)
    try archive(3, "users.jsonl", kind: "snapshots", rejected: 0)
    for (line, offset) in [(10, 0), (9, 70)] {
      try world.sql(
        "insert into reject values (1, \(line), \(offset), 'not_json', 'value, cut off')")
    }
    try world.write()
    #expect(
      try world.text("inputs.csv")
        == """
        archive,sha256,bytes,lines,accepted,duplicates,skipped,rejected,first_event_at,\
        last_event_at,status
        '=a.gz,2,100,3,3,0,0,0,2026-01-01T00:00:00.500Z,,complete
        b.gz,1,100,5,3,0,0,2,2026-01-01T00:00:00.500Z,,complete

        """)
    #expect(
      try world.text("rejects.csv")
        == """
        archive,line,byte_offset,reason,detail
        b.gz,9,70,not_json,"value, cut off"
        b.gz,10,0,not_json,"value, cut off"

        """)
  }

  private func archive(_ id: Int, _ name: String, kind: String, rejected: Int) throws {
    let first = day(2026, 1, 1).milliseconds + 500
    try world.sql(
      """
      insert into archive (id, name, sha256, kind, path, bytes, modified_ms, inode, lines, accepted,
        duplicates, skipped, rejected, first_event_ms, status)
      values (\(id), ?, '\(id)', '\(kind)', '', 100, 0, 0, \(3 + rejected), 3, 0, 0, \(rejected),
        \(first), 'complete')
      """, .text(name))
  }
}
