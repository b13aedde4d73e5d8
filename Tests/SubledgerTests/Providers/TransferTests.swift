import Foundation
import TestSupport
import Testing

@Suite("A purchase that moves to another user and is reported by another provider")
struct TransferTests {
  private func purple(
    _ type: String, _ day: String, _ transaction: String, of user: String
  ) throws -> String {
    let time = try #require(try? Date(day + "T00:00:00Z", strategy: .iso8601))
    return """
      {"type":"\(type)","eventTimeMillis":\(Int(time.timeIntervalSince1970) * 1000),\
      "properties":{"packageName":"com.a","productId":"pro","transactionId":"\(transaction)",\
      "accountId":"\(user)"}}
      """
  }

  private func flobuk(_ transaction: String, store: String, of user: String) -> String {
    """
    {"transaction":"\(transaction)","store":"\(store)","timestamp":1768397197,"user":"\(user)",\
    "data":{"productId":"p","type":"Subscription","sandbox":false,"status":0,\
    "expiresDate":1799637573}}
    """
  }

  @Test(
    "The first user's remaining access ends on time, whatever was linked when",
    arguments: [true, false])
  func deadlines(isLinkedFirst: Bool) throws {
    let first = [
      try purple("SUBSCRIPTION_CANCELLED", "2026-01-08", "GPA.1-1", of: "u1"),
      try purple("SUBSCRIPTION_PURCHASED", "2026-03-03", "2000", of: "u1"),
      flobuk("2001", store: "AppleAppStore", of: "u3"),
    ]
    let same = flobuk("GPA.1-1", store: "GooglePlay", of: "u2")
    let moved = try purple("SUBSCRIPTION_RENEWED", "2026-01-18", "GPA.1-1", of: "u2")
    let later = try purple("PRODUCT_PURCHASED", "2026-06-01", "777", of: "u4")
    let nights = isLinkedFirst ? [first + [same], [moved]] : [first, [moved, same]]
    let program = try Program()
    try program.folder.write("periods: {pro: P1M}\n", to: "subledger.yaml")
    func run(_ lines: [String], _ name: String, asOf: String, _ ledger: String) throws {
      try program.folder.write(lines.joined(separator: "\n") + "\n", to: "in-\(ledger)/\(name)")
      try program.run([
        "run", "--archives", "in-\(ledger)", "--ledger", ledger, "--out", "out-\(ledger)",
        "--as-of", asOf,
      ]).ended(0, 1)
      try program.run(["verify", "--replay", "--ledger", ledger]).ended(0)
    }
    for (night, lines) in nights.enumerated() {
      try run(lines, "\(night).jsonl", asOf: "2026-03-10", "many")
    }
    try run([later], "later.jsonl", asOf: "2026-06-02", "many")
    try run(nights.joined() + [later], "all.jsonl", asOf: "2026-06-02", "one")
    let rows = try program.rows("churn_monthly.csv", in: "out-many")
    #expect(rows == (try program.rows("churn_monthly.csv", in: "out-one")))
    #expect(rows.contains { $0["store"] == "app_store" && $0["churned"] == "1" })
  }
}
