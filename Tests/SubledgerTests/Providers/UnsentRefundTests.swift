import TestSupport
import Testing

@Suite("A refund that only another provider sends")
struct UnsentRefundTests {
  private func purple(_ type: String, _ millis: String, id: String, product: String) -> String {
    """
    {"version":"1.0","type":"\(type)","properties":{"packageName":"com.example","productId":\
    "\(product)","transactionId":"\(id)","originalTransactionId":"\(id)","accountId":"ada",\
    "trialPeriod":"false"},"eventTimeMillis":\(millis)}
    """
  }

  private func iaptic(_ reason: String, _ date: String, _ members: String, of purchase: String)
    -> String
  {
    """
    {"type":"purchases.updated","applicationUsername":"ada","password":"p","notification":\
    {"reason":"\(reason)","id":"\(reason)\(purchase)","date":"\(date)","productId":\
    "apple:\(purchase)","purchaseId":"apple:\(purchase)","transactionId":"apple:\(purchase)"},\
    "purchases":{"apple:\(purchase)":{"productId":"apple:\(purchase)","purchaseId":\
    "apple:\(purchase)","transactionId":"apple:\(purchase)","platform":"apple",\
    "purchaseDate":"2026-01-01T00:00:00Z",\(members)"currency":"USD","amountUSD":9.99}}}
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
}
