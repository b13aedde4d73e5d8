import TestSupport
import Testing

@Suite("Nothing before the start of a feed is missing")
struct HistoryBeginTests {
  private let start = 1_782_561_600
  private let end = 1_785_153_600

  /// A renewal in June.
  private func renewal(count: Int) -> Body {
    var body = Body(2, "subscription_renewed", at: start, count: count)
    body.members["transaction"] = Body.transaction(
      2_000_000_900_000_009, of: 2_000_000_900_000_002, from: start, until: end)
    return body
  }

  /// Codes of missing charges in a feed that begins in February and has a fourth renewal in June.
  private func missed(_ setting: String?) throws -> [String?] {
    let program = try Program()
    let renewal = renewal(count: 4)
    try program.folder.write(Body(1).line + "\n" + renewal.line + "\n", to: "in/a.jsonl")
    if let setting { try program.folder.write("history_begins: \(setting)\n", to: "c.yaml") }
    try program.run(
      ["run", "--archives", "in", "--as-of", "2026-06-29"]
        + (setting == nil ? [] : ["--config", "c.yaml"])
    ).ended(0, 1)
    return try program.rows("breaks.csv").map { $0["code"] }.filter {
      $0?.hasPrefix("MISSED_RENEWAL") == true || $0 == "MISSED_START"
    }
  }

  @Test("A subscription that a webhook shows to be older has no missing start", arguments: [0, 1])
  func begunBefore(years: Int) throws {
    let program = try Program()
    var renewal = renewal(count: 1)
    renewal.members["entitlements"] =
      #"{"0":{"id":"premium","active":true,"started":\#(start - (years * 365 + 30) * 86_400),"#
      + #""expires":\#(end),"source":"appstore","product":{"product_id":"pro","subscription":"#
      + #"{"renew_state":"will_renew","current_period_type":"normal"}}}}"#
    try program.folder.write(Body(1).line + "\n" + renewal.line + "\n", to: "in/a.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-06-29"])
    let missed = try program.rows("breaks.csv").filter {
      $0["code"] == "MISSED_START" && $0["user_id"] == "QON_2"
    }
    #expect(missed.count == (years == 0 ? 1 : 0))
  }

  @Test("Transactions minutes before the first delivery are not missing", arguments: [-1, 1])
  func justBefore(sign: Int) throws {
    let program = try Program()
    let at = 1_772_193_660 + sign * 1_800
    try program.folder.write(Body().line + "\n", to: "in/a.jsonl")
    try program.folder.write(
      #"{"provider":"qonversion","user_id":"QON_2","captured_at":\#(at + 86_400),"entitlements":"#
        + #"[{"id":"pro","product_id":"pro","active":true,"expires_at":\#(at + 2_592_000),"#
        + #""transactions":[{"transaction_id":"2000000900000007","type":"subscription_started","#
        + #""original_transaction_id":"2000000900000007","product_id":"pro","#
        + #""transaction_at":\#(at),"expires_at":\#(at + 2_592_000)}]}]}"#,
      to: "snapshots/s.jsonl")
    try program.run(
      ["run", "--archives", "in", "--snapshots", "snapshots", "--as-of", "2026-03-01"])
    let missed = try program.rows("breaks.csv").map { $0["code"] }.filter { $0 == "MISSED_START" }
    #expect(missed.count == (sign < 0 ? 0 : 1))
  }

  @Test("The configuration sets the start for all, for a provider or for an app")
  func configured() throws {
    #expect(try !missed(nil).isEmpty)
    #expect(try missed("2026-06-20").isEmpty)
    #expect(try missed("{qonversion: {\"1234567890\": 2026-06-20}}").isEmpty)
    #expect(try !missed("{iaptic: 2026-06-20}").isEmpty)
    #expect(try !missed("2026-02-01").isEmpty)
  }
}
