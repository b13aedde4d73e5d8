import TestSupport
import Testing

@Suite("Without any snapshot, a user's subscriptions explain each other as with one")
struct UnshownUserTests {
  private let program: Program

  init() throws { program = try Program() }

  private func charge(
    _ name: String, _ day: Int, order: String, of original: String, product: String = "monthly",
    more: String = ""
  ) -> String {
    let time = 1_767_225_600 + day * 86_400
    let revenue = Body.money("2.99", rate: 70)
    return #"{"event_name":"subscription_\#(name)","user_id":"Ada","time":\#(time),"#
      + #""created_at":\#(time),"product_id":"\#(product)","revenue":\#(revenue),"#
      + #""transaction":{"transaction_id":"\#(order)","original_transaction_id":"\#(original)","#
      + #""expires":\#(time + 30 * 86_400),"transaction_date":\#(time)},"#
      + #""environment":"production","platform":"Android","app_id":"com.example"\#(more)}"# + "\n"
  }

  /// The breaks of a run, without snapshots or with one of another user.
  private func breaks(_ lines: [String], asOf: String) throws -> [String?] {
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    try program.folder.write(
      #"{"user_id":"Zoe","captured_at":"2026-01-02T00:00:00Z","data":[]}"#, to: "snap/a.jsonl")
    let sets = try [[], ["--snapshots", "snap"]].map { more in
      let out = more.isEmpty ? "alone" : "beside"
      try program.run(
        ["run", "--archives", "in", "--as-of", asOf, "--out", out, "--ledger", "\(out).db"] + more
      ).ended(0, 1)
      return try program.rows("breaks.csv", in: out).filter { $0["code"] != "FEED_STALE" }
        .map { "\($0["code"] ?? "") \($0["subscription_id"] ?? "") \($0["break_id"] ?? "")" }
    }
    #expect(sets[0] == sets[1])
    return sets[0]
  }

  @Test("An upgrade under a new order of Play ends the old order")
  func upgrade() throws {
    let found = try breaks(
      [
        charge("started", 0, order: "GPA.1", of: "GPA.1"),
        charge(
          "product_changed", 10, order: "GPA.2", of: "GPA.2", product: "yearly",
          more: #","old_product_id":"monthly","new_product_id":"yearly""#),
        charge("started", 80, order: "GPA.3", of: "GPA.3"),
      ], asOf: "2026-03-25")
    // The end of the yearly order in these 30 days.
    #expect(found == ["MISSED_EXPIRATION GPA.2 b-ebb3c0861c925f1e"])
  }
}
