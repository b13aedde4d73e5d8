import Foundation
import EventStore
import Reports
import Testing
import Domain

@Suite("Revenue reports")
struct RevenueReportTests {
  let world: World

  init() throws { world = try World() }

  @Test("A month's charges and refunds are the sums of its days")
  func sums() throws {
    try book(on: Day(year: 2026, month: 1, day: 5), charges: 2, gross: 20, refunds: 0)
    try book(on: Day(year: 2026, month: 1, day: 31), charges: 1, gross: 10, refunds: 10)
    try book(on: Day(year: 2026, month: 2, day: 1), charges: 1, gross: 10, refunds: 0)
    let tables = try world.write()
    let daily = tables.map(\.path).filter { $0.hasPrefix("revenue_daily/") }
    #expect(daily == ["revenue_daily/2026-01.csv", "revenue_daily/2026-02.csv"])
    #expect(
      try world.rows("revenue_daily/2026-01.csv").map { $0["period"] }
        == ["2026-01-05", "2026-01-31"])
    let january = try #require(try world.rows("revenue_monthly.csv").first)
    expect(
      january, "period=2026-01", "charges=3", "gross_usd=30.00", "refunds_usd=10.00",
      "net_usd=20.00", "commission_usd=6.00")
    expect(
      january, "proceeds_usd=14.00", "proceeds_rate=70", "amount_basis=provider",
      "charge_kind=renewal", "country=")
  }

  @Test("An unknown amount empties its cell and those computed from it; a known zero is 0.00")
  func unknown() throws {
    let key = try key(on: Day(year: 2026, month: 1, day: 5), rate: nil)
    var sums = RevenueSums()
    sums.charges = 1
    sums.grossUSD.add(micros: 5_000_000)
    sums.proceedsUSD.unknown = 1
    sums.grossLocal.unknown = 1
    world.facts.revenue[key] = sums
    try world.write()
    let row = try #require(try world.rows("revenue_monthly.csv").first)
    expect(
      row, "gross_usd=5.00", "refunds_usd=0.00", "net_usd=5.00", "commission_usd=", "proceeds_usd=")
    expect(row, "gross_local=", "refunds_local=0.00", "net_local=", "proceeds_rate=")
  }

  @Test("Charges without any known amount show their number and no amounts")
  func noBasis() throws {
    var key = try key(on: Day(year: 2026, month: 1, day: 5), rate: nil)
    key.basis = .none
    var sums = RevenueSums()
    sums.charges = 3
    sums.grossUSD.unknown = 3
    world.facts.revenue[key] = sums
    try world.write()
    let row = try #require(try world.rows("revenue_monthly.csv").first)
    expect(row, "charges=3", "amount_basis=none", "gross_usd=", "refunds_usd=", "net_local=")
  }

  @Test("A day is complete after the delivery window, up to the watermark")
  func completeDays() throws {
    world.rules.asOf = day(2026, 3, 10) + .hours(3)
    for number in 7...9 {
      try book(on: Day(year: 2026, month: 3, day: number), charges: 1, gross: 1, refunds: 0)
    }
    let feed = Feed(provider: .qonversion, app: try world.symbol("app"))
    world.rules.watermarks = [
      feed: Watermark(of: feed, newest: day(2026, 3, 10), begin: day(2026, 3, 1))
    ]
    try world.write()
    func complete() throws -> [String?] {
      try world.rows("revenue_daily/2026-03.csv").map { $0["is_complete"] }
    }
    #expect(try complete() == ["true", "true", "false"])
    world.rules.watermarks[feed]?.newest = day(2026, 3, 9) - Interval(milliseconds: 1)
    try world.write()
    #expect(try complete() == ["true", "false", "false"])
  }

  @Test("Rows are sorted by key, texts by bytes, unknown values first")
  func sorted() throws {
    for (provider, app) in [
      (Provider.qonversion, "b"), (.flobuk, "é"), (.flobuk, "Z"), (.flobuk, ""),
    ] {
      try book(
        on: Day(year: 2026, month: 1, day: 5), charges: 1, gross: 1, refunds: 0,
        productKey: world.productKey("p", app: app, provider: provider))
    }
    try world.write()
    #expect(
      try world.rows("revenue_monthly.csv").map { "\($0["provider"] ?? "") \($0["app_id"] ?? "")" }
        == ["flobuk ", "flobuk Z", "flobuk é", "qonversion b"])
  }

  @Test("Rounded amounts leave a residual, half to even")
  func rounded() throws {
    world.amountDecimals = 2
    let key = try key(on: Day(year: 2026, month: 1, day: 5), rate: Amount(micros: 85_500_000))
    var sums = RevenueSums()
    sums.charges = 1
    sums.grossUSD.add(micros: 1_005_000)
    sums.grossLocal.add(micros: 1_015_000)
    sums.proceedsUSD.add(micros: 700_001)
    world.facts.revenue[key] = sums
    let tables = try world.write()
    let row = try #require(try world.rows("revenue_monthly.csv").first)
    expect(row, "gross_usd=1.00", "gross_local=1.02", "proceeds_usd=0.70", "proceeds_rate=85.5")
    let table = try #require(tables.first { $0.path == "revenue_monthly.csv" })
    #expect(table.roundingResidual["gross_usd"] == "0.005")
    #expect(table.roundingResidual["gross_local"] == "-0.005")
    #expect(table.roundingResidual["proceeds_usd"] == "0.000001")
    #expect(table.controlTotals["gross_usd"] == "1.00")
    #expect(table.controlTotals["charges"] == "1")
  }

  @Test("In rounded rows, net and commission are differences of the rounded amounts")
  func footing() throws {
    world.amountDecimals = 2
    let key = try key(on: Day(year: 2026, month: 1, day: 5))
    var sums = RevenueSums()
    (sums.charges, sums.refunds) = (1, 1)
    sums.grossUSD.add(micros: 6_000)
    sums.refundsUSD.add(micros: 4_000)
    sums.proceedsUSD.add(micros: 14_000)
    sums.grossLocal.add(micros: 2_006_000)
    sums.refundsLocal.add(micros: 1_004_000)
    world.facts.revenue[key] = sums
    let tables = try world.write()
    let amounts = ["gross_usd", "refunds_usd", "net_usd", "proceeds_usd", "commission_usd"]
    for path in ["revenue_monthly.csv", "revenue_daily/2026-01.csv"] {
      let row = try #require(try world.rows(path).first)
      #expect(amounts.map { row[$0] } == ["0.01", "0.00", "0.01", "0.01", "0.00"])
      #expect(row["net_local"] == "1.01")
    }
    let table = try #require(tables.first { $0.path == "revenue_monthly.csv" })
    #expect(table.controlTotals["net_usd"] == "0.01")
    #expect(table.roundingResidual["net_usd"] == "-0.008")
    #expect(table.roundingResidual["commission_usd"] == "-0.012")
    world.amountDecimals = nil
    try world.write()
    let exact = try #require(try world.rows("revenue_monthly.csv").first)
    #expect(amounts.map { exact[$0] } == ["0.006", "0.004", "0.002", "0.014", "-0.012"])
  }

  @Test("A sum beyond the exact range is an error, never a wrong number")
  func overflow() throws {
    try book(on: Day(year: 2026, month: 1, day: 5), charges: 1, gross: 0, refunds: 0)
    for (key, sums) in world.facts.revenue {
      var sums = sums
      sums.grossUSD.sum = Amount(micros: .max - 1)
      sums.refundsUSD.sum = Amount(micros: -2)
      world.facts.revenue[key] = sums
    }
    let error = #expect(throws: SubledgerError.self) { try world.write() }
    #expect(error?.message.contains("cannot write net_usd of ") == true, "\(error)")
  }

  @Test("A month is empty if its days fit and their sum does not")
  func overflowOfMonth() throws {
    for day in [5, 6] {
      try book(on: Day(year: 2026, month: 1, day: day), charges: 1, gross: 0, refunds: 0)
    }
    for key in world.facts.revenue.keys {
      world.facts.revenue[key]?.grossUSD.sum = Amount(micros: PartialSum.sumMax - 1)
    }
    try world.write()
    let month = try #require(try world.rows("revenue_monthly.csv").first)
    #expect(month["charges"] == "2" && month["gross_usd"] == "" && month["net_usd"] == "")
    let days = try world.rows("revenue_daily/2026-01.csv")
    #expect(days.map { $0["gross_usd"] } == Array(repeating: "2305843009213.693951", count: 2))
  }

  @Test("Texts that a spreadsheet would run are escaped and sorted as printed")
  func formulas() throws {
    for product in ["a", "=cmd", "'b"] {
      try book(
        on: Day(year: 2026, month: 1, day: 5), charges: 1, gross: 1, refunds: 0,
        productKey: world.productKey(product))
    }
    try world.write()
    #expect(
      try world.rows("revenue_monthly.csv").map { $0["product_id"] } == ["'=cmd", "'b", "a"])
  }

  private func key(
    on day: Day, rate: Amount? = Amount(micros: 70_000_000), productKey: ProductKey? = nil
  ) throws -> RevenueKey {
    RevenueKey(
      day: day, productKey: try productKey ?? world.productKey("p"), productType: .subscription,
      chargeKind: .renewal, country: 0, storefront: 0, currency: try world.symbol("EUR"),
      rate: rate, basis: .provider)
  }

  private func book(
    on day: Day, charges: Int64, gross: Int64, refunds: Int64, productKey: ProductKey? = nil
  ) throws {
    var sums = RevenueSums()
    sums.charges = charges
    sums.refunds = refunds == 0 ? 0 : 1
    sums.grossUSD.add(micros: gross * 1_000_000)
    sums.refundsUSD.add(micros: refunds * 1_000_000)
    sums.proceedsUSD.add(micros: (gross - refunds) * 700_000)
    world.facts.revenue[try key(on: day, productKey: productKey)] = sums
  }
}

extension PartialSum {
  mutating func add(micros: Int64) { sum.micros += micros }
}
