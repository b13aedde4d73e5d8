import TestSupport
import Testing

@Suite("Nothing before a feed began is missed")
struct HistoryBeginTests {
  /// Codes of missed charges, of a feed that begins in February and has a fourth renewal in June.
  private func missed(_ setting: String?) throws -> [String?] {
    let program = try Program()
    var renewal = Body(2)
    renewal.members["event_name"] = "\"subscription_renewed\""
    renewal.members["subscription_renew_count"] = "4"
    renewal.members["time"] = "1782561600"
    renewal.members["created_at"] = "1782561660"
    renewal.members["transaction"] =
      #"{"transaction_id":2000000900000009,"original_transaction_id":2000000900000002,"#
      + #""expires":1785153600,"transaction_date":1782561600}"#
    try program.folder.write(Body(1).line + "\n" + renewal.line + "\n", to: "in/a.jsonl")
    if let setting { try program.folder.write("history_begins: \(setting)\n", to: "c.yaml") }
    let result = try program.run(
      ["run", "--archives", "in", "--as-of", "2026-06-29"]
        + (setting == nil ? [] : ["--config", "c.yaml"]))
    #expect(result.status <= 1, "\(result)")
    return try program.rows("breaks.csv").map { $0["code"] }.filter {
      $0?.hasPrefix("MISSED_RENEWAL") == true || $0 == "MISSED_START"
    }
  }

  @Test("The configuration says when, for all, for a provider or for an app")
  func configured() throws {
    #expect(try !missed(nil).isEmpty)
    #expect(try missed("2026-06-20").isEmpty)
    #expect(try missed("{qonversion: {\"1234567890\": 2026-06-20}}").isEmpty)
    #expect(try !missed("{iaptic: 2026-06-20}").isEmpty)
    #expect(try !missed("2026-02-01").isEmpty)
  }
}
