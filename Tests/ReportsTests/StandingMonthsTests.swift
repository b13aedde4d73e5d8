import TestSupport
import Testing
import Domain

@testable import Reports

@Suite("Months that stand since the run before")
struct StandingMonthsTests {
  private static let productKey = ProductKey(
    provider: .qonversion, app: 1, store: .appStore, product: 2)
  private static let january = Day(year: 2026, month: 1, day: 1).month

  private func rules(_ year: Int, _ month: Int, _ day: Int) -> FoldSettings {
    let asOf = Instant(
      seconds: Int64(Day(year: year, month: month, day: day).number) * 86_400)
    var rules = FoldSettings(asOf: asOf)
    rules.watermarks[Feed(provider: .qonversion, app: 1)] = asOf
    return rules
  }

  private func months(_ change: Facts = Facts(), to now: FoldSettings) -> [String: String] {
    let standing = StandingMonths(change, from: rules(2026, 10, 20), to: now)
    return Dictionary(
      uniqueKeysWithValues: standing.reports.map {
        ($0, standing.firstOpenMonth(of: $0)?.text ?? "")
      })
  }

  @Test("A night in the middle of a month leaves all months before it")
  func quietNight() {
    let found = months(to: rules(2026, 10, 21))
    #expect(
      found.keys.sorted() == [
        "churn_monthly", "mrr_monthly", "renewals_monthly", "revenue_monthly", "trials_monthly",
      ])
    #expect(Set(found.values) == ["2026-10"])
  }

  @Test("What changes in a month opens it in the reports that count it")
  func changes() {
    var change = Facts()
    var moved = MovementSums()
    moved.subscriptions = -1
    change.movements[
      MovementKey(month: Self.january, productKey: Self.productKey, movement: .churned)] = moved
    change.renewals[
      RenewalKey(month: Self.january, productKey: Self.productKey, ordinal: 1)] = RenewalSums()
    var expired = TrialSums()
    (expired.expired, expired.pending) = (1, -1)
    change.trials[
      ProductDay(day: Self.january.next.firstDay, productKey: Self.productKey)] = expired
    let found = months(change, to: rules(2026, 10, 21))
    #expect(found["churn_monthly"] == "2026-01")
    #expect(found["mrr_monthly"] == "2026-01")
    #expect(found["renewals_monthly"] == "2026-10", "a difference of nothing is none")
    #expect(found["revenue_monthly"] == "2026-10")
    #expect(found["trials_monthly"] == "2026-02")
  }

  @Test("Input that reaches on completes months since the one it had reached")
  func silentFeed() {
    let feed = Feed(provider: .purple, app: 3)
    var (then, now) = (rules(2026, 10, 20), rules(2026, 10, 21))
    then.watermarks[feed] = Instant(
      seconds: Int64(Day(year: 2026, month: 6, day: 5).number) * 86_400)
    now.watermarks[feed] = then.watermarks[feed]
    #expect(
      StandingMonths(Facts(), from: then, to: now).firstOpenMonth(of: "mrr_monthly")?.text
        == "2026-10", "a feed that stays silent completes nothing")
    now.watermarks[feed] = now.asOf
    #expect(
      StandingMonths(Facts(), from: then, to: now).firstOpenMonth(of: "mrr_monthly")
        .map { $0 <= Day(year: 2026, month: 6, day: 1).month } == true)
  }

  @Test("A file by day stands up to the first day that changes")
  func days() throws {
    let days = [7, 5, 9].map { Day(number: Self.january.firstDay.number + $0) }
    let changed = ChangedMonths(days, from: rules(2026, 10, 20), to: rules(2026, 10, 21))
    #expect(changed.firstOpenDay(of: Self.january)?.text == "2026-01-06")
    #expect(changed.firstOpenDay(of: Self.january.next) == nil)
    let october = Day(year: 2026, month: 10, day: 1).month
    let first = try #require(changed.firstOpenDay(of: october))
    #expect(first.number < october.firstDay.number + 20)
  }

  @Test("Published rows come with the number of their month or day")
  func periods() throws {
    let folder = try TemporaryFolder()
    try folder.write("period,x\n2026-01,1\n2026-01,2\n2026-02,3\n", to: "months.csv")
    try folder.write("period,x\n2026-01-31,1\n2026-02-01,2\n", to: "days.csv")
    try folder.write("period,x\n2026-02-30,1\n", to: "none.csv")
    let months = [0, 0, 1].map { Self.january.number + $0 }
    #expect(try periods(of: folder.path("months.csv")) == months)
    let first = Self.january.firstDay.number
    #expect(try periods(of: folder.path("days.csv")) == [first + 30, first + 31])
    #expect(throws: ReportError.self) { try periods(of: folder.path("none.csv")) }
  }

  private func periods(of path: String) throws -> [Int32] {
    var periods: [Int32] = []
    try PublishedLines(of: path).forEachRow { period, _ in periods.append(period) }
    return periods
  }

  @Test(
    "Printed numbers are read back exactly",
    arguments: [
      ("0", 0), ("12", 12_000_000), ("-0.05", -50_000), ("1.234567", 1_234_567),
      ("9223372036854.775807", Int64.max), ("", nil), ("-", nil), ("\"a,b\"", nil),
      ("1.2345678", nil),
    ] as [(String, Int64?)])
  func numbers(_ text: String, _ micros: Int64?) {
    var line = Array("2026-01,\"x,\"\"y\",\(text),true".utf8)
    line.withUnsafeMutableBytes { bytes in
      var cells = PrintedCells()
      cells.split(UnsafeRawBufferPointer(bytes))
      #expect(cells.count == 4)
      #expect(cells.micros(2) == micros.map { Int128($0) })
      #expect(cells.bytes(3).elementsEqual("true".utf8))
    }
  }
}
