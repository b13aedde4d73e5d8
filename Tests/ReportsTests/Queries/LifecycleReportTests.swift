import Reports
import Testing
import Domain

@Suite("Renewals, trials and cohorts")
struct LifecycleReportTests {
  let world: World
  let monthly: ProductKey
  let start = Day(year: 2026, month: 1, day: 15)

  init() throws {
    world = try World()
    monthly = try world.productKey("monthly")
  }

  @Test("Renewals are sorted by number, an unknown one first and empty")
  func renewals() throws {
    for ordinal in [10, 2, nil] as [Int64?] {
      var sums = RenewalSums()
      sums.renewals = 4
      sums.refunded = ordinal == 2 ? 1 : 0
      world.facts.renewals[RenewalKey(month: start.month, productKey: monthly, ordinal: ordinal)] =
        sums
    }
    try world.write()
    let rows = try world.rows("renewals_monthly.csv")
    #expect(rows.map { $0["renewal_ordinal"] } == ["", "2", "10"])
    #expect(rows.map { $0["renewals_refunded"] } == ["0", "1", "0"])
    #expect(rows.map { $0["is_complete"] } == ["true", "true", "true"])
  }

  @Test("Trials are complete if none is pending, and the conversion rate is over decided ones")
  func trials() throws {
    for (day, pending) in [(start, 0), (Day(year: 2026, month: 2, day: 1), 2)] as [(Day, Int64)] {
      var sums = TrialSums()
      sums.started = 3 + pending
      sums.converted = 2
      sums.canceled = 1
      sums.expired = 1
      sums.pending = pending
      world.facts.trials[ProductDay(day: day, productKey: monthly)] = sums
    }
    try world.write()
    let rows = try world.rows("trials_monthly.csv")
    #expect(rows.map { $0["conversion_rate"] } == ["0.666667", "0.666667"])
    #expect(rows.map { $0["is_complete"] } == ["true", "false"])
    #expect(rows.map { $0["started"] } == ["3", "5"])
  }

  @Test("A cohort is reported up to the month of as-of, which is not eligible before it ends")
  func retention() throws {
    let cohort = start.month
    func cell(_ index: Int32, joined: Int64 = 0, change: Int64, net: Int64) {
      var sums = RetentionSums()
      sums.joined = joined
      sums.activeChange = change
      sums.netUSD.sum = Amount(micros: net * 1_000_000)
      world.facts.retention[RetentionKey(cohort: cohort, productKey: monthly, index: index)] = sums
    }
    cell(0, joined: 10, change: 9, net: 100)
    cell(2, change: -2, net: 30)
    try world.write()
    let rows = try world.rows("retention_monthly.csv")
    #expect(rows.map { $0["cohort"] } == ["2026-01", "2026-01", "2026-01"])
    #expect(rows.map { $0["period_index"] } == ["0", "1", "2"])
    #expect(rows.map { $0["eligible"] } == ["10", "10", "0"])
    #expect(rows.map { $0["retained"] } == ["9", "9", "0"])
    #expect(rows.map { $0["net_usd"] } == ["100.00", "0.00", "30.00"])
    #expect(rows.map { $0["is_complete"] } == ["true", "true", "false"])
  }

  @Test("A cohort's month with an unknown amount has an empty amount")
  func unknownRetention() throws {
    var sums = RetentionSums()
    sums.joined = 1
    sums.netUSD.unknown = 1
    world.facts.retention[RetentionKey(cohort: start.month, productKey: monthly, index: 0)] = sums
    try world.write()
    #expect(try world.rows("retention_monthly.csv").first?["net_usd"] == "")
  }
}
