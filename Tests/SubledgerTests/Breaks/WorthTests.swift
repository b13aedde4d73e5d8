import TestSupport
import Testing

@Suite("What a missing charge is worth")
struct WorthTests {
  private static let original = 2_000_000_900_000_000

  /// Purple's event about charge number `charge`.
  private func purple(_ type: String, _ day: String, charge: Int, user: Int = 1) -> String {
    let id = Self.original + user * 100
    return """
      {"version":"1.0","type":"SUBSCRIPTION_\(type)","eventTimeMillis":\(seconds(day))000,\
      "properties":{"packageName":"com.example.app","productId":"com.example.pro.monthly",\
      "transactionId":"\(id + charge)","originalTransactionId":"\(id)","accountId":"u\(user)"}}
      """
  }

  private func seconds(_ day: String) -> Int {
    let days = ["01": 0, "02": 31, "03": 59, "04": 90, "05": 120, "06": 151]
    let parts = day.split(separator: "-").map(String.init)
    return 1_767_268_800 + ((days[parts[0]] ?? 0) + (Int(parts[1]) ?? 1) - 1) * 86_400
  }

  /// The breaks that money is missing for, in both orders of arrival.
  private func missing(_ lines: [String]) throws -> [String] {
    let program = try Program()
    try program.folder.write(
      """
      store,product_id,country,currency,valid_from,amount,amount_usd,proceeds_rate,period
      ,com.example.pro.monthly,,USD,2025-01-01,9.99,9.99,70,P1M
      ,com.example.pro.monthly,,USD,2026-03-01,11.99,11.99,70,P1M

      """, to: "prices.csv")
    try program.folder.write("prices: prices.csv\nfreshness_max: 90d\n", to: "subledger.yaml")
    try program.publishBothWays(lines, asOf: "2026-05-20")
    let found = try ["one/out", "many/out"].map { out in
      try program.rows("breaks.csv", in: out)
        .filter { $0["code"]?.hasPrefix("MISSED") == true && $0["status"] != "resolved" }
        .map { "\($0["code"] ?? "") \($0["missing_events"] ?? "") \($0["estimated_usd"] ?? "")" }
    }
    #expect(found[0] == found[1])
    return found[0]
  }

  @Test("After a change of the listed price it is worth the new price")
  func newPrice() throws {
    let lines = ["01-10", "02-10", "03-10", "04-10", "05-10"].enumerated().map {
      purple($0 == 0 ? "PURCHASED" : "RENEWED", $1, charge: $0)
    }
    #expect(try missing(lines).isEmpty)
    #expect(try missing(Array(lines[..<3] + lines[4...])) == ["MISSED_RENEWAL 1 11.99"])
    #expect(try missing([lines[0]] + lines[2...]) == ["MISSED_RENEWAL 1 9.99"])
  }

  @Test("Of several that one event proves, those that another provider reports are worth nothing")
  func reportedElsewhere() throws {
    let charges = ["01-01", "02-01", "03-01", "04-01", "05-01"]
    let qonversion = (0..<4).map { number in
      let (start, end) = (seconds(charges[number]), seconds(charges[number + 1]))
      var body = Body(1, number == 0 ? "subscription_started" : "subscription_renewed", at: start)
      body.members["subscription_renew_count"] = number == 0 ? nil : "\(number)"
      body.members["transaction"] = Body.transaction(
        Self.original + 100 + number, of: Self.original + 100, from: start, until: end)
      return body.line
    }
    let told = [
      purple("PURCHASED", "01-01", charge: 0), purple("CANCELLED", "04-20", charge: 3),
      purple("PURCHASED", "05-02", charge: 0, user: 2),
    ]
    #expect(try missing(qonversion + told).contains("MISSED_RENEWAL 3 0.00"))
    #expect(try missing(qonversion[..<3] + told).contains("MISSED_RENEWAL 3 9.99"))
  }
}
