import TestSupport
import Testing

@Suite("What FLOBUK's states prove in a run")
struct FlobukRunTests {
  private let program: Program

  init() throws { program = try Program() }

  /// The state of a monthly subscription in the App Store at `time` in January 2026 or later.
  private func state(
    _ transaction: Int, at time: Int, until end: Int, status: Int = 0, user: String? = nil
  ) -> String {
    let named = user.map { #","user":"\#($0)""# } ?? ""
    return #"{"received_at":\#(time + 5),"headers":{"X-App-Id":"abcdefgh12345678"},"body":"#
      + #"{"transaction":"\#(transaction)","store":"AppleAppStore","timestamp":\#(time)\#(named),"#
      + #""data":\#(data(until: end, status: status))}}"# + "\n"
  }

  private func data(until end: Int, status: Int) -> String {
    #"{"productId":"com.example.pro.monthly","type":"Subscription","sandbox":false,"#
      + #""status":\#(status),"expiresDate":\#(end),"autoRenew":\#(status == 0),"#
      + #""billingRetry":false}"#
  }

  /// Midnight of a day after the end of 2025, in UTC.
  private func day(_ number: Int) -> Int { 1_767_139_200 + number * 86_400 }

  private func breaks(asOf: String) throws -> [[String: String]] {
    try program.run(["run", "--archives", "in", "--snapshots", "snap", "--as-of", asOf]).ended(0, 1)
    return try program.rows("breaks.csv").filter { $0["code"] != "STALE_INPUT" }
  }

  @Test("Play orders before one that was seen late are counted from the start of its period")
  func seenLate() throws {
    func order(_ id: String, at time: Int, until end: Int, status: Int = 0) -> String {
      state(9, at: time, until: end, status: status).replacing("\"9\"", with: "\"\(id)\"")
        .replacing("AppleAppStore", with: "GooglePlay")
    }
    try program.folder.write(
      "periods: {com.example.pro.monthly: P1M}\nfreshness_max: 400d\n", to: "subledger.yaml")
    try program.folder.write(
      order("GPA.9-9-9-9", at: day(1), until: day(32))
        + order("GPA.1-2-3-4..11", at: day(122), until: day(125))
        + order("GPA.1-2-3-4..11", at: day(125), until: day(125), status: 3), to: "in/a.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2026-07-10"])
    let found = try program.rows("breaks.csv").filter { $0["subscription_id"] == "GPA.1-2-3-4" }
    #expect(found.map { $0["missing_events"] } == ["3"])
    #expect(found.map { $0["expected_at"] } == ["2026-01-05T00:00:00Z"])
  }

  @Test("A state without access shortly before the end agrees with a snapshot that shows none")
  func revokedLate() throws {
    let ended = state(1, at: day(32) - 40_000, until: day(32), status: 3, user: "ada")
    func codes(_ lines: [String]) throws -> [String?] {
      try program.folder.write(lines.joined(), to: "in/a.jsonl")
      try program.folder.write(
        #"{"user":"ada","app_id":"abcdefgh12345678","captured_at":\#(day(32) - 20_000),"#
          + #""purchases":[{"data":\#(data(until: day(32), status: 3))}]}"#, to: "snap/a.jsonl")
      return try breaks(asOf: "2026-02-10").filter { $0["status"] != "resolved" }.map { $0["code"] }
    }
    let start = state(1, at: day(1), until: day(32), user: "ada")
    #expect(try codes([start]) == ["AHEAD_OF_SNAPSHOT"])
    #expect(try codes([start, ended]) == [])
    let again = state(2, at: day(37), until: day(68), user: "ada")
    #expect(try codes([start, ended, again]) == [])
  }

  @Test("A user who becomes known in the night of a new link counts as in one run")
  func userBecomesKnown() throws {
    func bought(_ id: Int, at time: Int, until end: Int, status: Int = 0, by user: String?)
      -> String
    {
      state(id, at: time, until: end, status: status, user: user)
        .replacing("AppleAppStore", with: "PayPal").replacing("\"\(id)\"", with: "\"I-\(id)\"")
    }
    try program.folder.write(
      "periods: {com.example.pro.monthly: P1M}\nhistory_begins: 2024-01-01\n",
      to: "subledger.yaml")
    let nights = [
      bought(5, at: day(1), until: day(31), by: nil)
        + bought(4, at: day(-350), until: day(-349), status: 5, by: "u4") + Body().line + "\n",
      bought(5, at: day(1) + 60, until: day(31), by: "u4")
        + state(2_000_000_900_000_001, at: day(58), until: day(89), user: "u1"),
    ]
    let asOf = "2026-03-10"
    for (number, night) in nights.enumerated() {
      try program.folder.write(night, to: "in/\(number).jsonl")
      try program.run(["run", "--archives", "in", "--as-of", asOf])
    }
    #expect(try program.run(["verify"]).status == 0)
    try program.run([
      "run", "--archives", "in", "--as-of", asOf, "--ledger", "one.sqlite", "--out", "one",
    ])
    let whole = try program.rows("churn_monthly.csv", in: "one")
    #expect(whole.contains { $0["store"] == "paypal" && $0["reactivated"] == "1" })
    #expect(try program.rows("churn_monthly.csv") == whole)
  }

  @Test("A renewal without user that Qonversion missed is no start")
  func missedByQonversion() throws {
    var lines: [String] = []
    for (month, start) in [1, 32, 60].enumerated() {
      // Of the third month, Qonversion reports the cancel only.
      let isLost = month == 2
      let (id, end, time) = (101 + month, [32, 60, 91][month], isLost ? 70 : start)
      var body = Body()
      let name = isLost ? "canceled" : month == 0 ? "started" : "renewed"
      body.members["event_name"] = "\"subscription_\(name)\""
      body.members["revenue"] = isLost ? nil : Body.money("9.99", rate: 70)
      for member in ["time", "created_at"] { body.members[member] = "\(day(time))" }
      body.members["transaction"] = Body.transaction(
        id, of: 101, from: day(start), until: day(end))
      lines += [body.line + "\n", state(id, at: day(start), until: day(end))]
    }
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    try program.folder.write("", to: "snap/a.jsonl")
    let found = try breaks(asOf: "2026-03-20")
    #expect(found.map { [$0["code"], $0["transaction_id"]] } == [["MISSED_RENEWAL", "103"]])
    #expect(found.map { $0["evidence"]?.hasPrefix("reported by flobuk: renewed") } == [true])
  }
}
