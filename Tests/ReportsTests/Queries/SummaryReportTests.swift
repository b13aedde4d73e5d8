import Foundation
import EventStore
import Reports
import Testing
import Domain

@Suite("The summary has a row per month and app, with sums of the other reports' rows")
struct SummaryReportTests {
  let world: World

  init() throws { world = try World() }

  private func summary() throws -> [[String: String]] { try world.rows("summary_monthly.csv") }

  @Test("Sums cover providers and products; a value missing from a month is zero, not unknown")
  func sums() throws {
    try world.sell(3, refunds: 1, "monthly")
    try world.sell(2, "yearly")
    try world.sell(4, "yearly", provider: .purple)
    try world.sell(1, month: 2)
    world.move(.new, 2, try world.productKey("monthly"), on: Day(year: 2025, month: 12, day: 9))
    world.move(
      .new, 1, try world.productKey("monthly", app: "b\"a,r"),
      on: Day(year: 2025, month: 12, day: 9))
    try world.write()
    let rows = try summary()
    let months = rows.map { reported($0, "period", "app_id").joined(separator: " ") }
    #expect(
      months.prefix(4) == [
        "period=2025-12 app_id=app", "period=2025-12 app_id=b\"a,r", "period=2026-01 app_id=app",
        "period=2026-01 app_id=b\"a,r",
      ])
    expect(
      rows[2], "charges=9", "net_usd=80.00", "refunds_usd=10.00", "proceeds_usd=56.00", "renewals=0"
    )
    expect(
      rows[0], "charges=0", "net_usd=0.00", "new=2", "mrr_close=20.00", "missing_usd=0.00",
      "restated_usd=0.00")
  }

  @Test("A rate is computed from the sums, not as the mean of the rates")
  func rate() throws {
    let (one, other) = (try world.productKey("monthly"), try world.productKey("yearly"))
    world.move(.new, 1, one, on: Day(year: 2025, month: 12, day: 9))
    world.move(.new, 2, other, on: Day(year: 2025, month: 12, day: 9))
    world.churn(1, one, on: Day(year: 2026, month: 1, day: 9))
    world.move(.lost, 1, one, on: Day(year: 2026, month: 1, day: 9))
    try world.write()
    let rows = try summary()
    #expect(try #require(rows.first { $0["period"] == "2025-12" })["churn_rate"] == "")
    let january = try #require(rows.first { $0["period"] == "2026-01" })
    expect(january, "active_open=3", "churned=1", "active_close=2", "churn_rate=0.333333")
  }

  @Test("Only known amounts are summed; if none is known, the sum is empty")
  func unknown() throws {
    try world.sell(3)
    try world.sell(2, month: 2, basis: .none)
    for (key, sums) in world.facts.revenue where key.basis == .none {
      var sums = sums
      sums.grossUSD = PartialSum()
      sums.grossUSD.unknown = 2
      world.facts.revenue[key] = sums
    }
    try world.write()
    #expect(try summary().map { $0["net_usd"] } == ["30.00", ""])
    try world.sell(1, month: 2)
    try world.write()
    let february = try #require(try summary().last)
    expect(february, "charges=3", "net_usd=10.00")
  }

  @Test("Rounded rows are summed as printed, even with decimal commas")
  func rounded() throws {
    for (product, basis) in [("a", AmountBasis.provider), ("b", .priceBook)] {
      try world.sell(1, product, basis: basis)
    }
    for key in world.facts.revenue.keys { world.facts.revenue[key]?.grossUSD.add(micros: 4000) }
    try world.write()
    #expect(try summary().map { $0["net_usd"] } == ["20.008"])
    world.amountDecimals = 2
    world.dialect = .de
    try world.write()
    let line = try #require(
      try world.text("summary_monthly.csv").split(whereSeparator: \.isNewline).last)
    #expect(line.hasPrefix("2026-01;app;20,00;14,00;2;0,00;0,00;0;0;0;0;;"))
  }

  @Test("Restated revenue is the sum of the restatements of the month and app")
  func restated() throws {
    try world.hear(until: day(2026, 3, 10))
    try world.sell(3)
    try world.sell(1, "gone")
    try world.publish()
    #expect(try summary().map { $0["restated_usd"] } == ["0.00"])
    #expect(try summary().map { $0["is_complete"] } == ["true"])
    try world.sell(5)
    try world.sell(0, "gone")
    try world.publish()
    #expect(try summary().map { $0["restated_usd"] } == ["10.00"])
    try world.publish(selling: 0)
    #expect(
      try summary().map { reported($0, "period", "net_usd", "restated_usd", "is_complete") }
        == [["period=2026-01", "net_usd=0.00", "restated_usd=-50.00", "is_complete=true"]])
  }

  @Test("A month is complete if each of its rows is")
  func complete() throws {
    world.move(.new, 1, try world.productKey("pro"), on: Day(year: 2026, month: 1, day: 9))
    try world.sell(3)
    for (asOf, churn) in [(day(2026, 2, 3), "false"), (day(2026, 3, 3), "true")] {
      world.rules.asOf = asOf
      try world.hear(until: asOf)
      try world.write()
      #expect(try world.rows("revenue_monthly.csv").map { $0["is_complete"] } == ["true"])
      #expect(try world.rows("churn_monthly.csv").first?["is_complete"] == churn)
      #expect(try summary().first?["is_complete"] == churn)
    }
  }
}
