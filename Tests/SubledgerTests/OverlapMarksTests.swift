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
    var renewed = Body()
    renewed.members["event_name"] = "\"subscription_renewed\""
    renewed.members["time"] = "1774612800"
    renewed.members["created_at"] = "1774612860"
    renewed.members["subscription_renew_count"] = "1"
    renewed.members["transaction"] = """
      {"transaction_id":2000000900000002,"original_transaction_id":2000000900000001,\
      "expires":1777291200,"grace_period_expires":null,"transaction_date":1774612800}
      """
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
}
