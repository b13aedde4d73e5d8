import TestSupport
import Testing

@Suite("A subscription moves to another account")
struct MovedAccountTests {
  let program: Program

  init() throws {
    program = try Program()
    try program.folder.write(
      "products: {pro: com.example.pro, plus: com.example.plus}\nmateriality: 100%\n",
      to: "subledger.yaml")
    // Another user's renewals keep the feed alive.
    let others = stride(from: 0, to: 90, by: 10).map { day in
      event("in_app_purchase", of: "X", day, id: 9_000 + day, original: 9_000 + day, until: nil)
    }
    try program.folder.write(others.joined(), to: "in/others.jsonl")
  }

  /// An event `day` days after 1 January 2026, with the user's entitlements at that time.
  private func event(
    _ name: String, of user: String, _ day: Int, id: Int, original: Int = 100, until end: Int?,
    count: Int? = nil, shown: [String]? = nil
  ) -> String {
    var body = Body(name, of: user, day, id: id, original: original, until: end, count: count)
    body.members["product_id"] = original == 100 ? "\"com.example.pro\"" : "\"coins\""
    body.members["entitlements"] = shown.map { shown in
      "{" + shown.enumerated().map { "\"e\($0)\":\($1)" }.joined(separator: ",") + "}"
    }
    return body.line + "\n"
  }

  /// Access in the format of REST v3, until a number of days after 1 January 2026.
  private func access(_ product: String = "pro", from start: Int = 0, until end: Int) -> String {
    #"{"id":"premium","active":true,"started":\#(Body.seconds(start)),"#
      + #""expires":\#(Body.seconds(end)),"source":"appstore","product":"#
      + #"{"product_id":"\#(product)","subscription":{"renew_state":"will_renew","#
      + #""current_period_type":"normal"}}}"#
  }

  private func breaks(_ asOf: String, _ more: [String] = []) throws -> [String] {
    try program.run(["run", "--archives", "in", "--as-of", asOf] + more).ended(0, 1)
    return try program.rows("breaks.csv").map { row in
      ["code", "user_id", "status"].map { row[$0] ?? "" }.joined(separator: " ")
    }
  }

  @Test("The entitlements in a webhook are those of its own user, not of a later one")
  func webhooks() throws {
    // Ada buys coins while she has the subscription; Ben's account has it from the second renewal.
    let lines = [
      event(
        "subscription_started", of: "ada", 0, id: 100, until: 30, shown: [access(until: 30)]),
      event(
        "in_app_purchase", of: "ada", 5, id: 200, original: 200, until: nil,
        shown: [access(until: 30)]),
      event(
        "subscription_renewed", of: "ada", 30, id: 101, until: 60, count: 1,
        shown: [access(until: 60)]),
      event(
        "subscription_renewed", of: "ben", 60, id: 102, until: 90, count: 2,
        shown: [access(until: 90)]),
    ]
    for (name, line) in zip("abcd", lines) {
      try program.folder.write(line, to: "in/\(name).jsonl")
    }
    #expect(try breaks("2026-03-15") == [])
    #expect(try breaks("2026-03-20") == [])
    // Ada never had the other product, and Eve never had this one.
    for (user, product, id) in [("ada", "plus", 400), ("eve", "pro", 300)] {
      let shown = event(
        "in_app_purchase", of: user, 65, id: id, original: id, until: nil,
        shown: [access(product, from: 50, until: 80)])
      try program.folder.write(shown, to: "in/\(user).jsonl")
    }
    #expect(
      try breaks("2026-03-21").sorted() == ["MISSED_START ada open", "MISSED_START eve open"])
  }

  @Test("Access that leaves one user's snapshot and is in another's has moved")
  func snapshots() throws {
    try program.folder.write(
      event("subscription_started", of: "ada", 40, id: 100, until: 70), to: "in/a.jsonl")
    func show(_ user: String, _ shown: [String]) -> String {
      #"{"user_id":"\#(user)","captured_at":"2026-03-01T00:00:00Z","data":["#
        + shown.joined(separator: ",") + "]}\n"
    }
    try program.folder.write(
      show("ada", []) + show("ben", [access(from: 40, until: 70)]), to: "snap/a.jsonl")
    #expect(try breaks("2026-03-05", ["--snapshots", "snap"]) == [])
    #expect(try breaks("2026-03-06", ["--snapshots", "snap"]) == [])
    // Another end is another subscription.
    try program.folder.write(
      show("ada", []) + show("ben", [access(from: 41, until: 71)]), to: "other/a.jsonl")
    let found = try breaks(
      "2026-03-05", ["--snapshots", "other", "--ledger", "other.sqlite", "--adopt"])
    #expect(found.sorted() == ["AHEAD_OF_SNAPSHOT ada open", "EVENTS_ABSENT ben open"])
  }
}
