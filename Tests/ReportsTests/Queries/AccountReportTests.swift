import Foundation
import EventStore
import Reports
import TestSupport
import Testing
import Domain

@Suite("Deliveries, inputs and rejects")
struct AccountReportTests {
  let world: World

  init() throws { world = try World() }

  @Test("An empty ledger gives every file of the set with its header")
  func emptySet() throws {
    let tables = try world.write()
    #expect(
      tables.map(\.path) == [
        "revenue_monthly.csv", "churn_monthly.csv", "renewals_monthly.csv", "mrr_monthly.csv",
        "trials_monthly.csv", "retention_monthly.csv", "quality_monthly.csv",
        "excluded_monthly.csv", "overlap.csv", "coverage.csv", "breaks.csv", "breaks_history.csv",
        "refetch_worklist.csv", "outages.csv", "unknown_input.csv", "restatements.csv",
        "inputs.csv", "rejects.csv", "drill.csv", "summary_monthly.csv",
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

  @Test("Excluded events are counted by month and reason")
  func excluded() throws {
    var sums = ExclusionSums()
    sums.events = 3
    sums.charges = 1
    let app = try world.symbol("app")
    for reason in ExclusionReason.allCases {
      world.facts.excluded[
        ExclusionKey(
          day: Day(year: 2026, month: 1, day: 9), feed: Feed(provider: .iaptic, app: app),
          reason: reason)] = sums
    }
    try world.write()
    #expect(
      try world.text("excluded_monthly.csv")
        == """
        period,provider,app_id,reason,events,charges
        2026-01,iaptic,app,double_charge,3,1
        2026-01,iaptic,app,family_sharing,3,1
        2026-01,iaptic,app,manual,3,1
        2026-01,iaptic,app,over_refund,3,1
        2026-01,iaptic,app,overlap,3,1
        2026-01,iaptic,app,sandbox,3,1

        """)
  }

  @Test("Names are sorted as printed, and a line that arrived twice is listed once")
  func printedOrder() throws {
    try archive(1, "b.gz", kind: "events", rejected: 2)
    try archive(2, "1.gz", kind: "events", rejected: 1)
    try archive(3, "=a.gz", kind: "events", rejected: 1)
    try archive(4, "b.gz", kind: "events", rejected: 1)
    for (archive, line) in [(1, 9), (1, 10), (2, 1), (3, 1), (4, 9)] {
      try world.sql("insert into reject values (\(archive), \(line), 0, 'not_json', 'd\(archive)')")
    }
    try world.write()
    let inputs = try world.text("inputs.csv").split(separator: "\n").dropFirst()
    #expect(
      inputs.map { $0.split(separator: ",")[0...1].joined(separator: " ") }
        == ["'=a.gz 3", "1.gz 2", "b.gz 1", "b.gz 4"])
    #expect(
      try world.text("rejects.csv")
        == """
        archive,line,byte_offset,reason,detail
        '=a.gz,1,0,not_json,d3
        1.gz,1,0,not_json,d2
        b.gz,9,0,not_json,d4; also in 1 other contents of this name
        b.gz,10,0,not_json,d1

        """)
  }

  @Test("Inputs and rejects list archives of events, in byte order of their path")
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
        last_event_at,status,retracted
        '=a.gz,2,100,3,3,0,0,0,2026-01-01T00:00:00.500Z,,complete,0
        b.gz,1,100,5,3,0,0,2,2026-01-01T00:00:00.500Z,,complete,0

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
      insert into archive (id, run, name, sha256, kind, path, bytes, modified_ms, inode, lines,
        accepted, duplicates, skipped, rejected, first_event_ms, status)
      values (\(id), 1, ?, '\(id)', '\(kind)', '', 100, 0, 0, \(3 + rejected), 3, 0, 0, \(rejected),
        \(first), 'complete')
      """, .text(name))
  }
}
