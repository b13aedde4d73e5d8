import TestSupport
import Testing

@Suite("An event that only another provider sends")
struct UnsentEventTests {
  private func purple(_ type: String, _ millis: String, id: String, product: String) -> String {
    """
    {"version":"1.0","type":"\(type)","properties":{"packageName":"com.example","productId":\
    "\(product)","transactionId":"\(id)","originalTransactionId":"\(id)","accountId":"ada",\
    "trialPeriod":"false"},"eventTimeMillis":\(millis)}
    """
  }

  private func iaptic(
    _ reason: String, _ date: String, _ members: String, of purchase: String,
    bought: String = "2026-01-01T00:00:00Z"
  ) -> String {
    """
    {"type":"purchases.updated","applicationUsername":"ada","password":"p","notification":\
    {"reason":"\(reason)","id":"\(reason)\(purchase)","date":"\(date)","productId":\
    "apple:\(purchase)","purchaseId":"apple:\(purchase)","transactionId":"apple:\(purchase)"},\
    "purchases":{"apple:\(purchase)":{"productId":"apple:\(purchase)","purchaseId":\
    "apple:\(purchase)","transactionId":"apple:\(purchase)","platform":"apple",\
    "purchaseDate":"\(bought)",\(members)"currency":"USD","amountUSD":9.99}}}
    """
  }

  @Test("For Purple, a one-time purchase's refund is missing, a subscription's is never sent")
  func purpleCounts() throws {
    let ends = #""lastRenewalDate":"2026-01-01T00:00:00Z","expirationDate":"2026-02-01T00:00:00Z","#
    let start = "2026-01-01T00:00:00Z"
    let program = try Program()
    try program.folder.write(
      "authority: [purple]\nfreshness_max: 60d\nperiods: {101: P1M}\n", to: "subledger.yaml")
    try program.publishBothWays(
      [
        purple("SUBSCRIPTION_PURCHASED", "1767225600000", id: "101", product: "101"),
        iaptic("PURCHASED", start, ends, of: "101"),
        iaptic("REFUNDED", "2026-01-20T00:00:00Z", ends, of: "101"),
        purple("PRODUCT_PURCHASED", "1767225600000", id: "201", product: "201"),
        iaptic("PURCHASED", start, "", of: "201"),
        iaptic("REFUNDED", "2026-01-21T00:00:00Z", "", of: "201"),
        purple("PRODUCT_PURCHASED", "1769990400000", id: "301", product: "301"),
      ], asOf: "2026-02-10")
    let missed = try program.rows("breaks.csv", in: "one/out").filter {
      $0["code"] == "MISSED_REFUND"
    }
    #expect(missed.map { $0["transaction_id"] } == ["201"])
  }

  @Test("A missing start without any event of its own is worth nothing once another reports it")
  func start() throws {
    let program = try Program()
    let (bought, end) = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")
    let ends = "\"lastRenewalDate\":\"\(bought)\",\"expirationDate\":\"\(end)\","
    try program.folder.write(
      "products: {monthly: [com.example.pro.monthly]}\n", to: "subledger.yaml")
    try program.folder.write("\(Body(1).line)\n", to: "in/1.jsonl")
    try program.folder.write(
      """
      {"provider":"qonversion","user_id":"QON_9","captured_at":"2026-03-05T00:00:00Z",\
      "entitlements":[{"id":"premium","product_id":"monthly","active":true,\
      "expires_at":"\(end)","renew_state":"will_renew","source":"appstore","transactions":[\
      {"transaction_id":"301","original_transaction_id":"301","type":"subscription_started",\
      "transaction_at":"\(bought)","expires_at":"\(end)"}]}]}
      """, to: "snapshots/1.jsonl")
    func missed(in name: String, asOf: String) throws -> [String: String] {
      try program.run([
        "run", "--archives", "in", "--snapshots", "snapshots", "--as-of", asOf, "--ledger",
        "\(name).sqlite", "--out", name,
      ]).ended(0, 1)
      let found = try program.rows("breaks.csv", in: name).filter { $0["transaction_id"] == "301" }
      #expect(found.map { $0["code"] } == ["MISSED_START"])
      return found.first ?? [:]
    }
    let alone = try missed(in: "nights", asOf: "2026-03-19")
    #expect(alone["estimated_usd"] == "9.99")

    let reported = iaptic("PURCHASED", bought, ends, of: "301", bought: bought)
    try program.folder.write("\(reported)\n", to: "in/2.jsonl")
    for name in ["nights", "once"] {
      let shared = try missed(in: name, asOf: "2026-03-20")
      #expect(shared["estimated_usd"] == "0.00" && shared["severity"] == "info", "\(name)")
      #expect(shared["evidence"]?.hasSuffix("; reported by iaptic, which counts") == true)
      #expect(shared["break_id"] == alone["break_id"])
    }
  }
}
