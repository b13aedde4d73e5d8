import Foundation
import TestSupport
import Testing

@Suite("Explain lists every version of an event, wherever it counts")
struct ExplainedVersionTests {
  private let program: Program

  init() throws { program = try Program() }

  /// A start of `transaction`, created `delay` seconds later than usual.
  private func start(_ transaction: Int, of original: Int, user: String, delay: Int) -> Body {
    var body = Body()
    body.members["user_id"] = "\"\(user)\""
    body.members["created_at"] = "\(1_772_193_660 + delay)"
    body.members["transaction"] = Body.transaction(transaction, of: original)
    return body
  }

  private func run(_ bodies: [Body], asOf: String = "2026-03-01") throws {
    for (number, body) in bodies.enumerated() {
      try program.folder.write(body.line + "\n", to: "in/\(number).jsonl")
    }
    try program.run(["run", "--archives", "in", "--as-of", asOf]).ended(0, 1)
  }

  /// Step, archive, subscription and user of the received events, by archive.
  private func received(_ subject: String...) throws -> [[String]] {
    let result = try program.run(["explain"] + subject + ["--format", "csv"]).ended(0)
    return try readCSV(program.folder.write(result.output, to: "explained.csv"))
      .filter { $0["step"]?.hasPrefix("received") == true }
      .map { line in ["step", "archive", "subscription_id", "user_id"].map { line[$0] ?? "" } }
      .sorted { $0[1] < $1[1] }
  }

  private func breakID(_ code: String) throws -> String {
    let row = try #require(program.rows("breaks.csv").first { $0["code"] == code })
    return try #require(row["break_id"])
  }

  @Test("A version in another subscription is shown with its own id and user")
  func elsewhere() throws {
    try run([start(100, of: 100, user: "u1", delay: 0), start(100, of: 99, user: "u2", delay: 4)])
    let expected = [
      ["received, superseded", "0.jsonl", "100", "u1"], ["received", "1.jsonl", "99", "u2"],
    ]
    #expect(try received("--break", try breakID("CONFLICT")) == expected)
    #expect(try received("--transaction", "100") == expected)
    #expect(try received("--subscription", "99") == expected)
    #expect(try received("--subscription", "100") == expected)
  }

  @Test("A superseded version in the same subscription keeps its own user")
  func otherUser() throws {
    try run([start(100, of: 100, user: "u1", delay: 0), start(100, of: 100, user: "u2", delay: 4)])
    let expected = [
      ["received, superseded", "0.jsonl", "100", "u1"], ["received", "1.jsonl", "100", "u2"],
    ]
    #expect(try received("--break", try breakID("CONFLICT")) == expected)
    #expect(try received("--transaction", "100") == expected)
  }

  @Test("A subscription that begins after as-of is listed as received after it")
  func later() throws {
    try run([start(100, of: 100, user: "u1", delay: 0)], asOf: "2026-02-27T11:00:00Z")
    let expected = [["received, after as-of", "0.jsonl", "100", "u1"]]
    #expect(try received("--subscription", "100") == expected)
    #expect(try received("--transaction", "100") == expected)
  }

  @Test("A leak between environments is explained from both")
  func leak() throws {
    var sandbox = start(101, of: 100, user: "u1", delay: 4)
    sandbox.members["environment"] = "\"sandbox\""
    try run([start(100, of: 100, user: "u1", delay: 0), sandbox])
    #expect(
      try received("--break", try breakID("ENV_LEAK")).map { $0[1] } == ["0.jsonl", "1.jsonl"])
  }

  @Test("Subscriptions of two apps with the same id have the breaks of their own app")
  func sameID() throws {
    var bodies = [start(100, of: 100, user: "u1", delay: 0)]
    bodies.append(start(100, of: 100, user: "u2", delay: 0))
    bodies[1].members["app_id"] = "\"other\""
    bodies[1].members["revenue"] = Body.money("9.99", rate: 10)
    for place in bodies.indices { bodies[place].members["platform"] = "\"stripe\"" }
    try run(bodies)
    let id = try breakID("RATE_MISMATCH")
    let output = try program.run(["explain", "--subscription", "100"]).output
    #expect(output.contains(/app_id +1234567890\n/), "\(output)")
    let parts = output.components(separatedBy: id)
    #expect(parts.count == 2 && parts[0].contains(/app_id +other\n/), "\(output)")
  }

  @Test(
    "A subscription of two providers is explained with what counts, whatever its id",
    arguments: ["2000", "3000", "4000", "5000"])
  func reportedTwice(original: String) throws {
    let revenue =
      #""revenue":{"value":9.99,"value_usd":9.99,"currency":"USD","is_proceed":0}"#
    func counted(_ name: String, _ number: Int) -> String {
      let (start, end) = (1_735_689_600 + number * 2_678_400, 1_738_368_000 + number * 2_678_400)
      return #"{"event_name":"\#(name)","user_id":"q","time":\#(start),"created_at":\#(start),"#
        + #""product_id":"p","app_id":"a","environment":"production","platform":"iOS",\#(revenue),"#
        + #""transaction":{"transaction_id":"\#(original)\#(number)","#
        + #""original_transaction_id":"\#(original)","transaction_date":\#(start),"#
        + #""expires":\#(end)}}"#
    }
    func excluded(_ number: Int) -> String {
      #"{"version":"1.0","type":"SUBSCRIPTION_RENEWED","properties":{"packageName":"b","#
        + #""productId":"p","transactionId":"\#(original)\#(number)","accountId":"u","#
        + #""originalTransactionId":"\#(original)"},"#
        + #""eventTimeMillis":\#((1_735_689_600 + number * 2_678_400) * 1_000 + 500)}"#
    }
    let lines = [
      counted("subscription_started", 0), counted("subscription_renewed", 1), excluded(1),
      counted("subscription_renewed", 2), excluded(2),
    ]
    try program.folder.write(lines.joined(separator: "\n") + "\n", to: "in/a.jsonl")
    try program.run(["run", "--archives", "in", "--as-of", "2025-03-10"]).ended(0, 1)
    let output = try program.run(["explain", "--subscription", original]).output
    #expect(output.contains("charges 3, refunds 0"), "\(output)")
    for (text, count) in [("revenue_monthly charges +1", 3), ("excluded_monthly charges +1", 2)] {
      #expect(output.components(separatedBy: text).count == count + 1, "\(text): \(output)")
    }
  }

  @Test("A break that opened again is explained without the end of its earlier episode")
  func reopened() throws {
    func run(_ day: Int?, asOf: String) throws {
      if let day { try program.folder.write(event(of: day) + "\n", to: "in/\(day).jsonl") }
      try program.run([
        "run", "--archives", "in", "--as-of", asOf, "--config", "c.yaml",
      ]).ended(0, 1)
    }
    func event(of day: Int) -> String {
      var body = Body(day)
      for name in ["time", "created_at"] {
        body.members[name] = "\(1_735_603_200 + day * 86_400)"
      }
      return body.line
    }
    try program.folder.write("freshness_max: 48h\n", to: "c.yaml")
    try run(1, asOf: "2025-01-05")
    try run(6, asOf: "2025-01-06T12:00:00Z")
    try run(nil, asOf: "2025-01-12")
    let episodes = try program.rows("breaks_history.csv").filter { $0["code"] == "STALE_INPUT" }
    try #require(episodes.map { $0["status"] } == ["resolved", "reopened"])
    let output = try program.run(["explain", "--break", episodes[1]["break_id"] ?? ""]).output
    #expect(output.contains("reopened") && !output.contains("resolved_"), "\(output)")
  }
}
