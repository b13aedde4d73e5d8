import Foundation
import EventStore
import Reports
import TestSupport
import Testing
import Domain

@Suite("Restatements")
struct RestatementTests {
  let world: World

  init() throws {
    world = try World()
    try world.hear(until: day(2026, 3, 10))
  }

  @Test("The first publication restates nothing, and neither does its repetition")
  func unchanged() throws {
    #expect(try world.publish(selling: 3).publication.versions.map(\.report) == ["revenue_monthly"])
    #expect(try world.restated() == [])
    #expect(try world.publish().publication.versions.isEmpty)
    #expect(try world.restated() == [])
  }

  @Test("Every changed cell of a complete row is one restatement, with the run that published it")
  func changed() throws {
    try world.publish(selling: 3)
    try world.publish()
    try world.publish(selling: 4)
    #expect(
      try world.restated("column", "published", "restated", "delta", "published_by_run") == [
        "charges 3 4 1 1", "commission_usd 9.00 12.00 3.00 1", "gross_local 30.00 40.00 10.00 1",
        "gross_usd 30.00 40.00 10.00 1", "net_local 30.00 40.00 10.00 1",
        "net_usd 30.00 40.00 10.00 1", "proceeds_local 21.00 28.00 7.00 1",
        "proceeds_usd 21.00 28.00 7.00 1",
      ])
    let row = try #require(try world.restatements().first)
    #expect(row["report"] == "revenue_monthly")
    #expect(row["period"] == "2026-01")
    #expect(
      row["key"] == "qonversion,app,app_store,pro,subscription,renewal,,,USD,70,provider")
    #expect(row["cause"] == "late_event")
    try world.publish()
    #expect(try world.restated() == [])
  }

  @Test("A repeated run gives the same restatements, however they are printed")
  func again() throws {
    try world.publish(selling: 3)
    try world.publish(selling: 4)
    let reported = try world.text("restatements.csv")
    #expect(reported.contains("charges,3,4,1,late_event,1"))
    #expect(try world.publish(isRepeated: true).publication.versions.isEmpty)
    #expect(try world.text("restatements.csv") == reported)
    let printed = #"{"amount_decimals":"2","csv_dialect":"excel"}"#
    try world.publish(options: printed, isRepeated: true)
    #expect(try world.text("restatements.csv") == reported)
    try world.publish()
    #expect(try world.restatements().isEmpty)
  }

  @Test("A row with a changed key is a pair of restatements that adds up to zero")
  func moved() throws {
    try world.sell(3, "old")
    try world.publish()
    try world.sell(0, "old")
    try world.sell(3, "new")
    try world.publish()
    let charges = try world.restatements().filter { $0["column"] == "charges" }
    #expect(charges.map { $0["delta"] } == ["3", "-3"])
    #expect(charges.map { $0["published"] } == ["0", "3"])
    #expect(charges.map { $0["restated"] } == ["3", "0"])
  }

  @Test("An incomplete row is not restated when it changes or becomes complete")
  func incomplete() throws {
    world.rules.asOf = day(2026, 2, 10)
    try world.hear(until: day(2026, 2, 10))
    try world.sell(1, month: 1)
    try world.sell(1, month: 2)
    try world.publish()
    try world.sell(2, month: 2)
    try world.publish()
    #expect(try world.restated() == [])
    world.rules.asOf = day(2026, 3, 10)
    try world.hear(until: day(2026, 3, 10))
    try world.publish()
    #expect(try world.restated() == [])
    try world.sell(5, month: 2)
    try world.publish()
    #expect(try world.restated("period", "column", "delta").first == "2026-02 charges 3")
  }

  @Test("A new row in a month without rows is restated from zero")
  func fromNothing() throws {
    try world.publish()
    try world.publish(selling: 2)
    #expect(
      try world.restated("column", "published", "restated", "published_by_run").first
        == "charges 0 2 1")
  }

  @Test("A trial that was shown as pending is not a new row when it ends")
  func pendingTrial() throws {
    try world.start(trials: 2, pending: 1)
    try world.publish()
    try world.start(trials: 2, pending: 0)
    try world.publish()
    #expect(try world.restated() == [])
    // A late one is compared with what was complete, while it is pending and when it ends.
    try world.start(trials: 3, pending: 1)
    for _ in 0..<2 {
      try world.publish()
      #expect(
        try world.restated("column", "published", "restated", "published_by_run")
          == ["pending 0 1 2", "started 2 3 2"])
    }
    try world.start(trials: 3, pending: 0)
    try world.publish()
    #expect(
      try world.restated("column", "published", "restated", "published_by_run")
        == ["expired 2 3 2", "started 2 3 2"])
  }

  @Test("A new row in a report without rows at its month's close is reported")
  func closedWithoutRows() throws {
    try world.publish()
    var act = AuditEntry(.close)
    act.month = Month(number: 2026 * 12)
    act.zone = "UTC"
    _ = try world.ledger.close(act, [])
    try world.sell(2)
    for _ in 0..<2 {
      try world.publish()
      #expect(
        try world.restated("column", "published", "restated", "published_by_run").first
          == "charges 0 2 1")
    }
  }

  @Test("A look restates nothing, and does not change later restatements")
  func looksBack() throws {
    try world.publish(selling: 3)
    let (asOf, watermarks) = (world.rules.asOf, world.rules.watermarks)
    world.rules.asOf = day(2026, 1, 10)
    world.facts = Facts()
    try world.publish()
    #expect(try world.restated() == [])
    world.rules.asOf = asOf
    world.rules.watermarks = watermarks
    try world.publish(selling: 4)
    #expect(try world.restated("column", "delta", "published_by_run").first == "charges 1 1")
  }

  @Test("Numbers in different time zones are not compared")
  func zones() throws {
    try world.publish(selling: 3)
    let utc = world.rules.calendar
    world.rules.calendar = CivilCalendar(
      identifier: "Elsewhere", offsets: [(Instant(milliseconds: .min), 0)])
    try world.publish(selling: 4)
    #expect(try world.restated() == [])
    world.rules.calendar = utc
    try world.publish()
    #expect(try world.restated("column", "delta", "published_by_run").first == "charges 1 1")
  }

  @Test("An unknown amount has no difference; the texts show both values")
  func unknown() throws {
    try world.publish(selling: 1)
    for key in world.facts.revenue.keys { world.facts.revenue[key]?.grossUSD.unknown = 1 }
    try world.publish()
    let gross = try world.restatements().first { $0["column"] == "gross_usd" }
    #expect(gross?["published"] == "10.00")
    #expect(gross?["restated"] == "")
    #expect(gross?["delta"] == "")
  }

  @Test("Restatements are exact even if reports are rounded, and follow the dialect")
  func rounding() throws {
    world.amountDecimals = 0
    world.dialect = .excel
    try world.publish(selling: 1)
    for key in world.facts.revenue.keys { world.facts.revenue[key]?.grossUSD.add(micros: 10_000) }
    try world.publish()
    let text = try world.text("restatements.csv")
    #expect(text.contains("gross_usd,10.00,10.01,0.01,"), "\(text)")
    #expect(text.hasSuffix("\r\n"))
    let bytes = FileManager.default.contents(atPath: world.folder.path("reports/restatements.csv"))
    #expect(bytes?.starts(with: [0xEF, 0xBB, 0xBF]) == true)
  }

  @Test("A cohort's restatements are in the month of activity, with cohort and index as key")
  func cohorts() throws {
    let productKey = try world.productKey("pro")
    func retain(_ index: Int32, _ change: Int64) {
      let january = Month(number: 2026 * 12)
      var sums = RetentionSums()
      sums.joined = index == 0 ? 10 : 0
      sums.activeChange = change
      world.facts.retention[
        RetentionKey(cohort: january, productKey: productKey, index: index)] = sums
    }
    retain(0, 10)
    retain(1, -2)
    try world.publish()
    retain(1, -3)
    try world.publish()
    let rows = try world.restatements()
    #expect(rows.map { $0["period"] } == ["2026-02"])
    #expect(rows.map { $0["key"] } == ["2026-01,qonversion,app,app_store,pro,1"])
    #expect(rows.map { $0["column"] } == ["retained"])
    #expect(rows.map { $0["delta"] } == ["-1"])
  }

  @Test(
    "The sum of the differences leads from published to current numbers, row by row",
    arguments: 1...12 as ClosedRange<UInt64>)
  func bridge(_ seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    var before: [String: Int64] = [:]
    for run in 0..<4 {
      for product in ["a", "b", "c"] {
        for month in 1...2 {
          try world.sell(
            Int64(numbers.below(3)), refunds: Int64(numbers.below(2)), product, month: month)
        }
      }
      try world.publish()
      let now = try world.measures("revenue_monthly.csv", ["charges", "refunds"])
      if run > 0 {
        var bridged = before
        for row in try world.restatements() {
          guard let column = row["column"], let key = row["key"], let period = row["period"],
            let delta = row["delta"].flatMap({ Int64($0) }), now.columns.contains(column)
          else { continue }
          bridged["\(period),\(key),\(column)", default: 0] += delta
        }
        #expect(bridged.filter { $0.value != 0 } == now.values, "seed \(seed), night \(run)")
      }
      before = now.values
    }
  }
}

extension World {
  /// Trials started in January 2026; all except the pending ones have expired.
  func start(trials: Int64, pending: Int64) throws {
    var sums = TrialSums()
    (sums.started, sums.pending, sums.expired) = (trials, pending, trials - pending)
    let day = Day(year: 2026, month: 1, day: 5)
    facts.trials[ProductDay(day: day, productKey: try productKey("pro"))] = sums
  }

  /// The nonzero counts of a report, by period, key and column.
  func measures(
    _ path: String, _ columns: [String]
  ) throws -> (columns: [String], values: [String: Int64]) {
    let lines = try text(path).split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    var values: [String: Int64] = [:]
    for line in lines.dropFirst() {
      for column in columns {
        guard let place = lines[0].firstIndex(of: column), let count = Int64(line[place]),
          let end = lines[0].firstIndex(of: "charges")
        else { continue }
        if count != 0 { values["\(line[..<end].joined(separator: ",")),\(column)"] = count }
      }
    }
    return (columns, values)
  }
}
