import TestSupport
import Testing

@Suite("Play's order numbers prove missing renewals with and without a snapshot")
struct OrderBesideSnapshotTests {
  /// The charge of week `week` from 1 January 2026, order `..n-1`, or the failed payment after it.
  private func event(_ week: Int, failed: Bool = false) -> String {
    let start = 1_767_225_600 + week * 604_800
    let time = failed ? start + 604_800 : start
    let name = failed ? "billing_retry_entered" : week == 0 ? "started" : "renewed"
    let revenue = failed ? "null" : Body.money("2.99", rate: 70)
    let order = week == 0 ? "GPA.1-2" : "GPA.1-2..\(week - 1)"
    return #"{"event_name":"subscription_\#(name)","user_id":"Ada","time":\#(time),"#
      + #""created_at":\#(time),"product_id":"weekly","revenue":\#(revenue),"#
      + #""transaction":{"transaction_id":"\#(order)","original_transaction_id":"GPA.1-2","#
      + #""expires":\#(start + 604_800),"transaction_date":\#(start)},"#
      + #""environment":"production","platform":"Android","app_id":"com.example"}"# + "\n"
  }

  @Test("Two renewals are missing before an order that follows a failed payment")
  func declined() throws {
    let program = try Program()
    let lines = [0, 1, 2].map { event($0) } + [event(2, failed: true)] + [5, 6].map { event($0) }
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    try program.folder.write(
      #"{"user_id":"Ada","captured_at":"2026-02-14T00:00:00Z","data":[]}"#, to: "snap/a.jsonl")
    func renewals(_ more: [String], _ out: String) throws -> [[String?]] {
      try program.run(
        ["run", "--archives", "in", "--as-of", "2026-02-15", "--out", out, "--ledger", "\(out).db"]
          + more
      ).ended(0, 1)
      return try program.rows("breaks.csv", in: out).filter { $0["code"] == "MISSED_RENEWAL" }
        .map { [$0["break_id"], $0["missing_events"], $0["evidence"]] }
    }
    let alone = try renewals([], "alone")
    #expect(alone.map { $0[1] } == ["2"])
    #expect(try renewals(["--snapshots", "snap"], "beside") == alone)
  }

  /// iaptic's weekly purchase as of its last order.
  private func purchase(_ order: String, from last: String, until end: String, isOver: Bool = false)
    -> String
  {
    #"{"google:weekly":{"productId":"google:weekly","purchaseId":"google:GPA.1-2","#
      + #""platform":"google","sandbox":false,"purchaseDate":"2025-08-04T10:00:00Z","#
      + #""expirationDate":"\#(end)T10:00:00Z","isExpired":\#(isOver),"renewalIntent":"Renew","#
      + #""transactionId":"google:GPA.1-2\#(order)","lastRenewalDate":"\#(last)T10:00:00Z","#
      + #""currency":"USD","amountMicros":2990000,"amountUSD":2.99}}"#
  }

  private func notice(_ reason: String, _ order: String, _ day: String, _ end: String) -> String {
    #"{"receivedAt":"\#(day)T12:00:00Z","body":{"type":"purchases.updated","#
      + #""applicationUsername":"Ada","notification":{"reason":"\#(reason)","id":"\#(day)","#
      + #""date":"\#(day)T12:00:00Z","#
      + #""productId":"google:weekly","purchaseId":"google:GPA.1-2","#
      + #""transactionId":"google:GPA.1-2\#(order)"},"#
      + #""purchases":\#(purchase(order, from: day, until: end))}}"# + "\n"
  }

  @Test("A renewal is missing although an expired purchase in a snapshot lists its order")
  func listedButExpired() throws {
    let program = try Program()
    let lines = [
      notice("PURCHASED", "", "2025-08-04", "2025-08-11"),
      notice("RENEWED", "..0", "2025-08-11", "2025-08-18"),
      notice("RENEWED", "..2", "2025-08-25", "2025-09-01"),
    ]
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    let shown = purchase("..1", from: "2025-08-18", until: "2025-08-25", isOver: true)
    try program.folder.write(
      #"{"applicationUsername":"Ada","captured_at":"2025-08-25T11:00:00Z","purchases":\#(shown)}"#,
      to: "snap/a.jsonl")
    try program.run(
      ["run", "--archives", "in", "--snapshots", "snap", "--as-of", "2025-08-30"]).ended(1)
    let breaks = try program.rows("breaks.csv", in: "reports")
    #expect(breaks.map { $0["code"] } == ["MISSED_RENEWAL"])
    #expect(breaks.first?["evidence"]?.contains("renewed of 2025-08-25") == true)
  }
}
