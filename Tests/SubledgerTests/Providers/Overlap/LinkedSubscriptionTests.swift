import TestSupport
import Testing

@Suite("A subscription whose ids or providers only a shared charge links")
struct LinkedSubscriptionTests {
  private func qonversion(
    _ kind: String, at time: Int, _ transaction: Int, of original: Int, from start: Int,
    until end: Int, grace: String = "null", revenue: String = "{}"
  ) -> String {
    var body = Body(1, kind, at: time)
    body.members["created_at"] = "\(time + 40)"
    body.members["product_id"] = "\"weekly\""
    body.members["revenue"] = revenue
    body.members["transaction"] = """
      {"transaction_id":\(transaction),"original_transaction_id":\(original),\
      "expires":\(end),"grace_period_expires":\(grace),"transaction_date":\(start)}
      """
    return body.line
  }

  private func purple(
    _ kind: String, _ transaction: Int, of original: Int, _ product: String, at seconds: Int
  ) -> String {
    """
    {"version":"1.0","type":"SUBSCRIPTION_\(kind)","properties":{"packageName":"com.x.app",\
    "productId":"\(product)","transactionId":"\(transaction)",\
    "originalTransactionId":"\(original)","accountId":"u-1"},\
    "eventTimeMillis":\(seconds)000}
    """
  }

  private func published(_ lines: [String], asOf: String, _ settings: String = "") throws -> Program
  {
    let program = try Program()
    try program.folder.write(settings + "freshness_max: 900d\n", to: "subledger.yaml")
    try program.publishBothWays(lines, asOf: asOf)
    for ledger in ["one/l", "many/l"] {
      try program.run(["verify", "--ledger", ledger]).ended(0)
    }
    return program
  }

  @Test("A churn in which two original ids end is in doubt once")
  func doubt() throws {
    let paid = Body.money("2.99", rate: 85)
    let program = try published(
      [
        qonversion(
          "subscription_started", at: 1_768_566_208, 200, of: 200, from: 1_768_566_208,
          until: 1_769_171_008, revenue: paid),
        qonversion(
          "subscription_billing_retry_entered", at: 1_774_031_457, 205, of: 200,
          from: 1_773_422_608, until: 1_774_027_408, grace: "1774286608"),
        purple("RENEWED", 202, of: 200, "weekly", at: 1_769_880_208),
        qonversion(
          "subscription_renewed", at: 1_769_880_208, 202, of: 600, from: 1_769_880_208,
          until: 1_770_485_008, revenue: paid),
        qonversion(
          "subscription_expired", at: 1_770_489_427, 202, of: 200, from: 1_769_880_208,
          until: 1_770_485_008),
      ], asOf: "2026-05-22")
    let rows = try program.rows("churn_monthly.csv", in: "one/out")
    for row in rows {
      let counts = ["churned", "churned_in_doubt"].map { Int(row[$0] ?? "") ?? 0 }
      #expect(counts[1] <= counts[0], "\(row)")
    }
    #expect(rows.contains { $0["churned_in_doubt"] == "1" })
  }

  @Test("Billing retry that the counted provider reports of its lost renewal is not active")
  func failedAfterLoss() throws {
    let (first, second, third) = (1_767_571_200, 1_768_176_000, 1_768_780_800)
    let program = try published(
      [
        qonversion(
          "subscription_started", at: first, 200, of: 200, from: first, until: second,
          revenue: Body.money("2.99", rate: 85)),
        purple("PURCHASED", 200, of: 200, "weekly", at: first),
        purple("RENEWED", 201, of: 200, "weekly", at: second),
        qonversion(
          "subscription_billing_retry_entered", at: third, 201, of: 200, from: second,
          until: third),
        purple("RENEWAL_FAILED", 201, of: 200, "weekly", at: third),
      ], asOf: "2026-02-10")
    let churn = try program.rows("churn_monthly.csv", in: "one/out")
    #expect(churn.filter { $0["churned"] == "1" }.map { $0["period"] } == ["2026-01"])
  }

  @Test("FLOBUK's renewal without user does not end the subscription that another provider reports")
  func unnamed() throws {
    let own = [(600, 1_762_300_800, "PURCHASED"), (601, 1_764_892_800, "RENEWED")].map {
      purple($0.2, $0.0, of: 600, "monthly", at: $0.1)
    }
    let unnamed = """
      {"receivedAt":"2025-12-05T00:00:05Z","headers":{"X-App-Id":"appaaaaaaaaaaaaa"},\
      "body":{"transaction":"601","data":{"status":0,"type":"Subscription",\
      "productId":"monthly","sandbox":false,"expiresDate":1767571200,"autoRenew":true,\
      "billingRetry":false},"store":"AppleAppStore","timestamp":1764892805}}
      """
    let program = try published(
      own + [unnamed], asOf: "2025-12-31", "periods: {monthly: P1M}\n")
    let churn = try program.rows("churn_monthly.csv", in: "one/out")
    #expect(churn.filter { $0["period"] == "2025-12" }.map { $0["active_close"] } == ["1"])
    let charges = try program.rows("revenue_monthly.csv", in: "one/out").map { $0["charges"] }
    #expect(charges == ["1", "1"])
    let overlaps = try program.rows("overlap.csv", in: "one/out")
    #expect(overlaps.map { $0["other_provider"] } == ["flobuk"])
    // FLOBUK's report of the start counts, and the other provider's continues it.
    let start = unnamed.replacing("\"601\"", with: "\"600\"").replacing(
      "1767571200", with: "1764892800"
    ).replacing("1764892805", with: "1762300805").replacing(
      "\"store\"", with: "\"user\":\"u\",\"store\"")
    let both = try published(
      own + [start, unnamed], asOf: "2025-12-31",
      "periods: {monthly: P1M}\nauthority: [flobuk, purple]\n")
    let counted = try both.rows("revenue_monthly.csv", in: "one/out").map { $0["charges"] }
    #expect(counted == ["1", "1"])
    #expect(try both.rows("overlap.csv", in: "one/out").count == 2)
  }

  @Test("A transaction that the counted provider shows to be a trial is no other provider's charge")
  func trial() throws {
    let (start, end) = (1_741_132_800, 1_741_737_600)
    let noticed = [("trial_canceled", 1_741_478_400), ("trial_expired", end)].map {
      qonversion($0.0, at: $0.1, 1000, of: 1000, from: start, until: end)
    }
    let state = """
      {"receivedAt":"2025-03-05T00:01:00Z","headers":{"X-App-Id":"abcdefghijklmnop"},\
      "body":{"transaction":"1000","data":{"status":0,"type":"Subscription",\
      "expiresDate":\(end),"autoRenew":true,"billingRetry":false,"productId":"weekly",\
      "sandbox":false},"store":"AppleAppStore","user":"U1","timestamp":\(start + 30)}}
      """
    let program = try published(noticed + [state], asOf: "2025-03-20")
    #expect(try program.rows("revenue_monthly.csv", in: "one/out").isEmpty)
    #expect(try program.rows("churn_monthly.csv", in: "one/out").isEmpty)
  }

  @Test("A product change without money reports its charge, which another provider sends")
  func change() throws {
    let (first, changed) = (1_741_132_800, 1_742_342_400)
    let paid = Body.money("9.99", rate: 85)
    let upgrade = qonversion(
      "subscription_upgraded", at: changed, 500, of: 400, from: changed, until: changed,
      revenue: paid)
    let purple = [
      purple("PURCHASED", 400, of: 400, "monthly", at: first),
      """
      {"version":"1.0","type":"SUBSCRIPTION_UPGRADED","properties":{"packageName":"com.x.app",\
      "transactionId":"500","previousProductId":"monthly","nextProductId":"weekly",\
      "accountId":"u-1"},"eventTimeMillis":\(changed)000}
      """,
    ]
    let program = try published(
      purple + [
        qonversion(
          "subscription_started", at: first, 400, of: 400, from: first, until: first + 31 * 86_400,
          revenue: paid), upgrade,
      ], asOf: "2025-03-21",
      "authority: [purple, qonversion]\nperiods: {monthly: P1M, weekly: P7D}\n")
    let codes = try program.rows("breaks.csv", in: "one/out").map { $0["code"] }
    #expect(!codes.contains("MISSED_PRODUCT_CHANGE"), "\(codes)")
  }

  @Test("The end that the slower of two feeds reported counts in nights as at once")
  func slowerFeed() throws {
    let program = try Program()
    /// Seconds of an hour of 2025.
    func at(_ hour: Int) -> Int { 1_735_689_600 + hour * 3600 }
    func started(_ id: Int, _ hour: Int, until end: Int) -> String {
      var body = Body(id, "subscription_started", at: at(hour))
      body.members["product_id"] = "\"m\""
      body.members["transaction"] = Body.transaction(id, from: at(hour), until: at(end))
      return body.line
    }
    func shown(_ id: Int, _ hour: Int, until end: Int, renews: Bool = true) -> String {
      """
      {"user":"f\(id)","timestamp":\(at(hour)),"transaction":"\(id)","store":"AppleAppStore",\
      "data":{"productId":"m","type":"Subscription","sandbox":false,"status":0,\
      "expiresDate":\(at(end)),"autoRenew":\(renews),"billingRetry":false}}
      """
    }
    let lines = [
      started(77, 0, until: 744), started(9, 960, until: 1632), started(19, 1002, until: 1632),
      started(12, 1037, until: 1704), started(13, 1098, until: 1704), shown(77, 0, until: 744),
      shown(77, 456, until: 984, renews: false), shown(555, 1004, until: 1656),
      shown(556, 1035, until: 1704), shown(557, 1098, until: 1704),
    ]
    try program.folder.write(lines.joined(separator: "\n"), to: "in/a.jsonl")
    func run(_ asOf: String, _ out: String) throws {
      try program.run([
        "run", "--archives", "in", "--as-of", asOf, "--ledger", "\(out).sqlite", "--out", out,
      ]).ended(0, 1)
    }
    for asOf in ["2025-02-12", "2025-02-13T06:00:00Z", "2025-02-14T06:00:00Z", "2025-02-16"] {
      try run(asOf, "nights")
    }
    try run("2025-02-16", "once")
    func churn(_ out: String) throws -> [[String: String]] {
      try readCSV(program.folder.path("\(out)/churn_monthly.csv"))
    }
    #expect(try churn("nights") == churn("once"))
    #expect(try churn("once").contains { $0["churned"] == "1" })
  }
}
