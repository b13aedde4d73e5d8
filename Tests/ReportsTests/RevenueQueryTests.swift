import Testing

@testable import Reports

@Suite("The queries of revenue")
struct RevenueQueryTests {
  /// The columns of a revenue query, and what makes a row of its report.
  private func parts(_ query: [UInt8], period: String) -> [Substring] {
    String(decoding: query, as: UTF8.self)
      .replacing("cell.\(period)", with: "cell.period")
      .replacing("booked_\(period)", with: "booked_period")
      .split(separator: "\n")
      .filter { !$0.hasPrefix("--") && !$0.hasPrefix("from ") && !$0.hasPrefix("where ") }
  }

  @Test("A day and a month are reported by the same words")
  func oneQuery() {
    let daily = parts(PackageResources.revenue_daily_sql, period: "day")
    #expect(daily.count > 50)
    #expect(daily == parts(PackageResources.revenue_monthly_sql, period: "month"))
  }
}
