import TestSupport
import Testing

@Suite("A snapshot has one name for both of Apple's stores")
struct AppleStoresTests {
  /// A snapshot that lists the period of a purchase, January from the second on.
  private func shown(to user: String, _ id: String) -> String {
    """
    {"provider":"qonversion","user_id":"\(user)","captured_at":"2026-01-20T00:00:00Z",\
    "entitlements":[{"id":"premium","product_id":"com.example.pro.monthly","active":true,\
    "expires_at":"2026-02-01T00:00:00Z","renew_state":"will_renew","source":"appstore",\
    "transactions":[{"transaction_id":"\(id)","original_transaction_id":"\(id)",\
    "type":"subscription_started","transaction_at":"2026-01-02T00:00:00Z",\
    "expires_at":"2026-02-01T00:00:00Z"}]}]}
    """
  }

  /// The breaks of missing events and access.
  private func breaks(_ reported: [String], _ snapshots: [String]) throws -> [[String: String]] {
    let program = try Program()
    try program.folder.write(
      "products: {com.example.pro.monthly: com.example.pro.monthly}\n", to: "subledger.yaml")
    try program.folder.write(reported.joined(separator: "\n"), to: "in/a.jsonl")
    try program.folder.write(snapshots.joined(separator: "\n"), to: "snap/a.jsonl")
    try program.run([
      "run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-01-25",
    ]).ended(0, 1)
    return try program.rows("breaks.csv").filter { $0["user_id"] != "" }
  }

  /// A start on the Mac, days after New Year.
  private func bought(by user: String, _ id: Int, on day: Int = 1) -> String {
    var body = Body("subscription_started", of: user, day, id: id, original: id, until: 31)
    body.members["platform"] = "\"macOS\""
    return body.line
  }

  @Test("A Mac subscription that moved to another account is not a break")
  func moved() throws {
    let empty = """
      {"provider":"qonversion","user_id":"bob","captured_at":"2026-01-20T00:00:00Z",\
      "entitlements":[]}
      """
    let reported = [bought(by: "eve", 99, on: 0), bought(by: "bob", 100)]
    let found = try breaks(reported, [shown(to: "ada", "100"), empty])
    #expect(found.map { $0["code"] } == [])
  }

  @Test("A lost Mac purchase costs what others paid, or nothing if another provider reports it")
  func lost() throws {
    let flobuk = """
      {"receivedAt":"2026-01-02T00:00:05Z","headers":{"X-App-Id":"one"},"body":{"user":"f",\
      "timestamp":1767312000,"transaction":"700","store":"MacAppStore","data":{"type":\
      "Subscription","productId":"com.example.pro.monthly","sandbox":false,"status":0,\
      "expiresDate":1769904000,"autoRenew":true,"billingRetry":false}}}
      """
    let others = [bought(by: "bob", 100, on: 0)]
    for (reported, worth) in [(others, "9.99"), (others + [flobuk], "0.00")] {
      let found = try breaks(reported, [shown(to: "ada", "700")])
      #expect(found.map { $0["code"] } == ["MISSED_START"])
      #expect(found.map { $0["estimated_usd"] } == [worth])
    }
  }
}
