import Foundation
import TestSupport
import Testing

@Suite("No single line exceeds the range of sums")
struct GreatAmountTests {
  let program: Program

  init() throws { program = try Program() }

  /// Reads `lines` and three ordinary ones, as of the evening of the next day.
  private func run(_ lines: [String]) throws -> ProgramResult {
    try program.folder.write(bodies(3) + lines.joined(separator: "\n") + "\n", to: "in/a.jsonl")
    return try program.run(["run", "--archives", "in", "--as-of", "2026-02-28T11:00:00Z"])
  }

  /// A charge `number` days after 27 February 2026, noon UTC.
  private func day(_ number: Int, revenue: String) -> String {
    var body = Body(number)
    body.members["transaction"] = Body.transaction(number, until: 1_772_280_000)
    body.members["product_id"] = "\"day\(number)\""
    body.members["revenue"] = revenue
    body.members["price"] = "null"
    return body.line
  }

  @Test("Amounts above 10⁹ dollars are rejected, and all other lines are published")
  func rejected() throws {
    try run([day(7, revenue: Body.money("1000000000000", rate: 70))]).ended(0)
    let reject = try #require(try program.rows("rejects.csv").first)
    #expect(reject["reason"] == "amount_too_large" && reject["line"] == "4")
    #expect(reject["detail"] == "revenue.value_usd: beyond 10^9 US dollars")
    let rows = try program.rows("revenue_monthly.csv")
    #expect(rows.map { $0["gross_usd"] } == ["29.97"])
  }

  @Test("10⁹ dollars a day are published as monthly and yearly revenue")
  func greatest() throws {
    try run([day(7, revenue: Body.money("1000000000", rate: 70))]).ended(0)
    let row = try #require(
      try program.rows("mrr_monthly.csv").first { $0["product_id"] == "day7" })
    #expect(row["mrr_close"] == "30416666666.666667")
    #expect(row["arr_close"] == "365000000000.000004")
  }

  @Test("Recurring revenue beyond the exact range is damaged input, and its lines are reported")
  func recurring() throws {
    // 26 times 365 · 10⁹ dollars a year exceed 2⁶³ millionths.
    func subscriptions(_ count: Int) -> [String] {
      (1...count).map {
        day($0, revenue: Body.money("1000000000", rate: 70))
          .replacing("\"day\($0)\"", with: "\"day\"")
      }
    }
    try run(subscriptions(25)).ended(0)
    let result = try run(subscriptions(26)).ended(65)
    #expect(result.errors.contains("arr_close of mrr_monthly"), "\(result)")
    #expect(result.errors.contains("in a.jsonl:") && result.errors.contains("subledger retract"))
    #expect(try program.rows("mrr_monthly.csv").contains { $0["product_id"] == "day" })
  }

  @Test("Charges of 10¹² rupiah are rejected, whatever their value in dollars")
  func worth() throws {
    let worths = ["9.99", "null", "61000000"]
    let charges = (10..<20).map { number in
      var body = Body(number)
      body.members["revenue"] = Self.rupiah("1000000000000", worth: worths[number % 3])
      return body.line
    }
    var honest = Body(20)
    honest.members["revenue"] = Self.rupiah("16000000000", worth: "1000000")
    honest.members["price"] = "null"
    try run(charges + [honest.line]).ended(0)
    let rejects = try program.rows("rejects.csv")
    #expect(rejects.count == 10 && rejects.allSatisfy { $0["reason"] == "amount_too_large" })
    let row = try #require(
      try program.rows("revenue_monthly.csv").first { $0["currency"] == "IDR" })
    #expect(row["gross_local"] == "16000000000.00")
  }

  /// Revenue in a weak currency.
  private static func rupiah(_ value: String, worth dollars: String) -> String {
    #"{"value":\#(value),"value_usd":\#(dollars),"currency":"IDR","is_proceed":0,"#
      + #""proceeds_rate":70}"#
  }

  /// Charges of 10¹² units each, in a currency with a million units per dollar.
  private func great(_ numbers: Range<Int>) -> String {
    numbers.map { number in
      var body = Body(number)
      body.members["price"] = "null"
      body.members["revenue"] = Self.rupiah("1000000000000", worth: "1000000")
      return body.line + "\n"
    }.joined()
  }

  @Test("A sum beyond the exact range is left empty, and its lines are named", arguments: [1, 2])
  func beyond(_ nights: Int) throws {
    let run = ["run", "--archives", "in", "--as-of", "2026-02-28T11:00:00Z"]
    try program.folder.write(bodies(3) + great(10..<12), to: "in/a.jsonl")
    #expect(try program.run(run).status == 0)
    let exact = try program.rows("revenue_monthly.csv").map { $0["gross_local"] }
    #expect(exact.sorted { $0 ?? "" < $1 ?? "" } == ["2000000000000.00", "29.97"])
    if nights == 1 {
      try FileManager.default.removeItem(atPath: program.folder.path("subledger.sqlite"))
      try FileManager.default.removeItem(atPath: program.folder.path("reports"))
    }
    try program.folder.write(great(12..<20), to: "in/b.jsonl")
    let result = try program.run(run).ended(1)
    #expect(result.errors.contains("amounts in 1 row of revenue_monthly exceed the exact range "))
    #expect(result.errors.contains("the greatest amounts are in a.jsonl:4 (IDR), a.jsonl:5 (IDR)"))
    let rows = try program.rows("revenue_monthly.csv")
    let row = try #require(rows.first { $0["currency"] == "IDR" })
    #expect(row["charges"] == "10" && row["gross_usd"] == "10000000.00")
    #expect(row["gross_local"] == "" && row["net_local"] == "" && row["refunds_local"] == "0.00")
    #expect(rows.first { $0["currency"] == "USD" }?["gross_local"] == "29.97")
    let coverage = try program.rows("coverage.csv").filter { $0["metric"]?.contains("usd") == true }
    #expect(!coverage.isEmpty && coverage.allSatisfy { ($0["events"]?.count ?? 9) < 3 })
    try program.run(["verify"]).ended(0)
  }

  @Test("An amount computed with an impossible rate is unknown", arguments: [0, 1])
  func rates(_ isProceed: Int) throws {
    let rate = isProceed == 1 ? "0.000001" : "1000000000000"
    try run([
      day(
        7,
        revenue: #"{"value":1000000000,"value_usd":1000000000,"currency":"USD","#
          + #""is_proceed":\#(isProceed),"proceeds_rate":\#(rate)}"#)
    ]).ended(0)
    let row = try #require(
      try program.rows("revenue_monthly.csv").first { $0["product_id"] == "day7" })
    let (known, unknown) =
      isProceed == 1 ? ("proceeds_usd", "gross_usd") : ("gross_usd", "proceeds_usd")
    #expect(row[known] == "1000000000.00" && row[unknown] == "")
  }
}
