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
}
