import Reports
import Testing
import Domain

@Suite("Churn and recurring revenue")
struct SubscriptionReportTests {
  let world: World
  let monthly: ProductKey

  init() throws {
    world = try World()
    monthly = try world.productKey("monthly")
  }

  @Test("A month opens with the close of the previous month, even if nothing moved")
  func balances() throws {
    world.move(.new, 10, monthly, on: Day(year: 2025, month: 11, day: 3))
    world.churn(4, monthly, on: Day(year: 2026, month: 1, day: 20))
    world.move(.lost, 3, monthly, on: Day(year: 2026, month: 1, day: 20))
    world.move(.recovered, 1, monthly, on: Day(year: 2026, month: 1, day: 21))
    try world.write()
    let rows = try world.rows("churn_monthly.csv")
    #expect(
      rows.map {
        reported($0, "period", "active_open", "new", "churned", "recovered", "active_close")
          .map { $0.split(separator: "=")[1] }.joined(separator: " ")
      } == [
        "2025-11 0 10 0 0 10", "2025-12 10 0 0 0 10", "2026-01 10 0 4 1 7", "2026-02 7 0 0 0 7",
        "2026-03 7 0 0 0 7",
      ])
    expect(
      rows[2], "churned_voluntary=4", "lost=3", "churn_rate=0.300000",
      "churn_rate_revenuecat=0.300000")
    expect(rows[0], "churn_rate=")
  }

  @Test("Rates are rounded to six decimals from exact fractions")
  func rates() throws {
    world.move(.new, 7, monthly, on: Day(year: 2025, month: 12, day: 3))
    world.churn(2, monthly, on: Day(year: 2026, month: 1, day: 20))
    world.move(.lost, 2, monthly, on: Day(year: 2026, month: 1, day: 20))
    world.move(.reactivated, 5, monthly, on: Day(year: 2026, month: 1, day: 25))
    try world.write()
    let january = try world.rows("churn_monthly.csv")[1]
    expect(january, "churn_rate=0.285714", "churn_rate_revenuecat=-0.428571")
  }

  @Test("Auto-renew off is a balance at the close of each month")
  func autoRenewOff() throws {
    world.move(.new, 5, monthly, on: Day(year: 2025, month: 12, day: 3))
    world.move(.autoRenewOff, 3, monthly, on: Day(year: 2025, month: 12, day: 9))
    world.move(.autoRenewOff, -1, monthly, on: Day(year: 2026, month: 2, day: 9))
    try world.write()
    #expect(
      try world.rows("churn_monthly.csv").map { $0["auto_renew_off"] } == ["3", "3", "2", "2"])
  }

  @Test("Months after the last subscription ended have no row")
  func noEmptyRows() throws {
    world.move(.new, 1, monthly, on: Day(year: 2025, month: 12, day: 3))
    world.churn(1, monthly, on: Day(year: 2026, month: 1, day: 3))
    try world.write()
    #expect(try world.rows("churn_monthly.csv").map { $0["period"] } == ["2025-12", "2026-01"])
    #expect(try world.rows("mrr_monthly.csv").map { $0["period"] } == ["2025-12", "2026-01"])
  }

  @Test("The month that begins at as-of has no row yet")
  func asOfAtMonthStart() throws {
    world.rules.asOf = day(2026, 2, 1)
    world.move(.new, 1, monthly, on: Day(year: 2026, month: 1, day: 3))
    try world.write()
    #expect(try world.rows("churn_monthly.csv").map { $0["period"] } == ["2026-01"])
  }

  @Test("A month is complete after the renewal gap and delivery window")
  func complete() throws {
    world.move(.new, 1, monthly, on: Day(year: 2026, month: 1, day: 3))
    func complete() throws -> String? {
      try world.write()
      return try world.rows("churn_monthly.csv").first?["is_complete"]
    }
    world.rules.asOf = day(2026, 2, 3) + .hours(3)
    #expect(try complete() == "true")
    world.rules.asOf = world.rules.asOf - Interval(milliseconds: 1)
    #expect(try complete() == "false")
  }

  @Test("Recurring revenue rolls forward with price changes, transfers and exchange rates")
  func recurringRevenue() throws {
    let yearly = try world.productKey("yearly")
    let start = Day(year: 2026, month: 1, day: 3)
    world.move(.new, 3, monthly, on: start)
    world.move(.expansion, 1, monthly, on: start)
    world.move(.contraction, 2, monthly, on: start)
    world.move(.fx, -1, monthly, on: start)
    world.move(.transferOut, 1, monthly, on: start)
    world.move(.transferIn, 1, yearly, on: start)
    try world.write()
    let rows = try world.rows("mrr_monthly.csv").filter { $0["period"] == "2026-01" }
    expect(
      rows[0], "mrr_open=0.00", "new=30.00", "expansion=10.00", "contraction=20.00", "fx=-10.00",
      "transfer_out=10.00")
    expect(rows[0], "mrr_close=0.00", "arr_close=0.00")
    expect(rows[1], "product_id=yearly", "transfer_in=10.00", "mrr_close=10.00", "arr_close=120.00")
  }

  @Test("Rounded rows of recurring revenue foot, and a year is twelve months")
  func roundedRecurringRevenue() throws {
    world.amountDecimals = 2
    let start = Day(year: 2026, month: 1, day: 3)
    let moves = [(Movement.new, 2, 38_975_000), (.contraction, 1, 25_980_001)]
    for (movement, count, micros) in moves {
      world.move(movement, Int64(count), monthly, on: start)
      let key = MovementKey(month: start.month, productKey: monthly, movement: movement)
      world.facts.movements[key]?.mrr = Amount(micros: Int64(micros))
    }
    try world.write()
    let row = try #require(try world.rows("mrr_monthly.csv").first)
    expect(
      row, "mrr_open=0.00", "new=38.98", "contraction=25.98", "fx=-0.01", "mrr_close=12.99",
      "arr_close=155.88")
  }
}
