import TestSupport
import Testing

@Suite("What one of several providers marks, and another one does not")
struct OverlapMarksTests {
  @Test("A test purchase is one, whichever of them counts", arguments: [nil, "purple"])
  func sandbox(authority: String?) throws {
    var marked = Body()
    marked.members["environment"] = "\"sandbox\""
    let unmarked = """
      {"version":"1.0","type":"SUBSCRIPTION_RENEWED","eventTimeMillis":1772193600000,\
      "properties":{"packageName":"com.example.app","productId":"com.example.pro.monthly",\
      "transactionId":"2000000900000001","originalTransactionId":"2000000900000001",\
      "accountId":"u1"}}
      """
    let program = try Program()
    let setting = authority.map { "authority: [\($0)]\n" } ?? ""
    try program.folder.write(setting + "freshness_max: 60d\n", to: "subledger.yaml")
    try program.publishBothWays([marked.line, unmarked], asOf: "2026-03-15")
    for out in ["one/out", "many/out"] {
      #expect(try program.rows("revenue_monthly.csv", in: out).isEmpty)
      #expect(try program.rows("churn_monthly.csv", in: out).isEmpty)
      let excluded = try program.rows("excluded_monthly.csv", in: out)
      #expect(excluded.map { $0["reason"] } == ["overlap", "sandbox"])
    }
  }

  @Test("FLOBUK's first charge of a subscription that another one reported before is a renewal")
  func renewal() throws {
    var renewed = Body(1, "subscription_renewed", at: 1_774_612_800, count: 1)
    renewed.members["transaction"] = Body.transaction(
      2_000_000_900_000_002, of: 2_000_000_900_000_001, from: 1_774_612_800, until: 1_777_291_200)
    let flobuk = """
      {"headers":{"x-app-id":"abcdefghijklmnop"},"body":{"transaction":"2000000900000002",\
      "data":{"type":"Subscription","status":0,"productId":"com.example.pro.monthly",\
      "expiresDate":1777291200,"autoRenew":true,"sandbox":false},"store":"AppleAppStore",\
      "user":"u1","timestamp":1774612805}}
      """
    let program = try Program()
    try program.folder.write("authority: [flobuk]\nfreshness_max: 60d\n", to: "subledger.yaml")
    try program.publishBothWays([Body().line, renewed.line, flobuk], asOf: "2026-04-15")
    for out in ["one/out", "many/out"] {
      let revenue = try program.rows("revenue_monthly.csv", in: out)
      #expect(revenue.map { $0["provider"] } == ["qonversion", "flobuk"])
      #expect(revenue.map { $0["charge_kind"] } == ["first", "renewal"])
      #expect(try program.rows("renewals_monthly.csv", in: out).map { $0["renewals"] } == ["1"])
    }
  }

  @Test("What FLOBUK saw bought again after a refund is a start that Purple missed")
  func boughtAgain() throws {
    func purple(_ type: String, _ time: Int, _ user: String) -> String {
      """
      {"version":"1.0","type":"\(type)","eventTimeMillis":\(time)000,\
      "properties":{"packageName":"com.example.app","productId":"pro","transactionId":"\(time)",\
      "originalTransactionId":"\(time)","accountId":"\(user)"}}
      """
    }
    func flobuk(_ transaction: Int, _ time: Int, until end: Int, owned: Bool = true) -> String {
      """
      {"headers":{"x-app-id":"abcdefghijklmnop"},"body":{"transaction":"\(transaction)",\
      "data":{"type":"Subscription","status":\(owned ? 0 : 3),"productId":"pro",\
      "expiresDate":\(end),"autoRenew":\(owned),"sandbox":false},"store":"AppleAppStore",\
      "user":"u1","timestamp":\(time)}}
      """
    }
    // January 1st, 5th and 10th, and the ends a month later.
    let (start, refunded, again) = (1_767_225_600, 1_767_571_200, 1_768_003_200)
    let lines = [
      purple("SUBSCRIPTION_PURCHASED", start, "u2"),
      flobuk(start, start, until: 1_769_904_000),
      flobuk(start, refunded, until: 1_769_904_000, owned: false),
      flobuk(again, again, until: 1_770_681_600),
      purple("PRODUCT_PURCHASED", 1_772_323_200, "u3"),
    ]
    let program = try Program()
    try program.folder.write(
      "authority: [purple]\nperiods: {pro: P1M}\nfreshness_max: 90d\n", to: "subledger.yaml")
    try program.publishBothWays(lines, asOf: "2026-03-05")
    for out in ["one/out", "many/out"] {
      let missed = try program.rows("breaks.csv", in: out).filter {
        $0["code"]?.hasPrefix("MISSED_") == true && $0["transaction_id"] == "\(again)"
      }
      #expect(missed.map { $0["code"] } == ["MISSED_START"])
    }
  }
}
