import TestSupport
import Testing

@Suite("Play's base plans are separate products")
struct BasePlanTests {
  private func purchase(_ number: Int, _ group: String, on platform: String) -> String {
    var body = Body(number)
    body.members["platform"] = "\"\(platform)\""
    body.members["subscription_group"] = "\"\(group)\""
    return body.line + "\n"
  }

  private func snapshot(_ number: Int, _ product: String, at hour: Int = 12) -> String {
    #"{"user_id":"QON_\#(number)","captured_at":"2026-02-28T\#(hour):00:00Z","data":["#
      + #"{"id":"premium","active":true,"started":1772193600,"expires":1774612800,"#
      + #""source":"playstore","product":"#
      + #"{"product_id":"\#(product)","subscription":{"renew_state":"will_renew","#
      + #""current_period_type":"normal"}}}]}"# + "\n"
  }

  @Test("Plans of one product have separate rows; configuration and snapshots accept both forms")
  func rows() throws {
    let program = try Program()
    let product = "com.example.pro.monthly"
    try program.folder.write(
      purchase(1, "month", on: "Android") + purchase(2, "year", on: "Android")
        + purchase(3, "21000000", on: "iOS"), to: "in/a.jsonl")
    try program.folder.write(snapshot(1, "pro") + snapshot(2, "yearly"), to: "snap/a.jsonl")
    try program.folder.write(
      """
      products:
        pro: \(product)
        yearly: "\(product):year"
        monthly: "\(product):month"
      periods:
        \(product): P1M
        "\(product):year": P1Y

      """, to: "subledger.yaml")
    let run = ["run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-03-01"]
    #expect(try program.run(run).status == 0)
    let rows = try program.rows("revenue_monthly.csv")
    #expect(rows.map { $0["product_id"] } == [product, "\(product):month", "\(product):year"])
    let mrr = try program.rows("mrr_monthly.csv").map { $0["new"] }
    #expect(mrr == ["9.99", "9.99", "0.8325"])
    #expect(try program.rows("breaks.csv").isEmpty)
    try program.folder.write(snapshot(2, "monthly", at: 13), to: "snap/b.jsonl")
    #expect(try program.run(run).status == 0)
    #expect(try program.rows("breaks.csv").map { $0["code"] } == ["MISSED_PRODUCT_CHANGE"])
  }
}
