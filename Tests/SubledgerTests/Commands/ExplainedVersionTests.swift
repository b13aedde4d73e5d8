import Foundation
import TestSupport
import Testing

@Suite("Explain lists every version of an event, wherever it counts")
struct ExplainedVersionTests {
  private let program: Program

  init() throws { program = try Program() }

  /// A start of `transaction`, created `delay` seconds later than usual.
  private func start(_ transaction: String, of original: String, user: String, delay: Int) -> Body {
    var body = Body()
    body.members["user_id"] = "\"\(user)\""
    body.members["created_at"] = "\(1_772_193_660 + delay)"
    body.members["transaction"] = Body.transaction(transaction).replacing(
      "\"original_transaction_id\":\(transaction)", with: "\"original_transaction_id\":\(original)")
    return body
  }

  private func run(_ bodies: [Body], asOf: String = "2026-03-01") throws {
    for (number, body) in bodies.enumerated() {
      try program.folder.write(body.line + "\n", to: "in/\(number).jsonl")
    }
    let result = try program.run(["run", "--archives", "in", "--as-of", asOf])
    try #require([0, 1].contains(result.status), "\(result)")
  }

  /// Step, archive, subscription and user of the received events, by archive.
  private func received(_ subject: String...) throws -> [[String]] {
    let result = try program.run(["explain"] + subject + ["--format", "csv"])
    try #require(result.status == 0, "\(result)")
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
    try run([
      start("100", of: "100", user: "u1", delay: 0), start("100", of: "99", user: "u2", delay: 4),
    ])
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
    try run([
      start("100", of: "100", user: "u1", delay: 0), start("100", of: "100", user: "u2", delay: 4),
    ])
    let expected = [
      ["received, superseded", "0.jsonl", "100", "u1"], ["received", "1.jsonl", "100", "u2"],
    ]
    #expect(try received("--break", try breakID("CONFLICT")) == expected)
    #expect(try received("--transaction", "100") == expected)
  }

  @Test("A subscription that begins after as-of is listed as received after it")
  func later() throws {
    try run([start("100", of: "100", user: "u1", delay: 0)], asOf: "2026-02-27T11:00:00Z")
    let expected = [["received, after as-of", "0.jsonl", "100", "u1"]]
    #expect(try received("--subscription", "100") == expected)
    #expect(try received("--transaction", "100") == expected)
  }

  @Test("A leak between environments is explained from both")
  func leak() throws {
    var sandbox = start("101", of: "100", user: "u1", delay: 4)
    sandbox.members["environment"] = "\"sandbox\""
    try run([start("100", of: "100", user: "u1", delay: 0), sandbox])
    #expect(
      try received("--break", try breakID("ENV_LEAK")).map { $0[1] } == ["0.jsonl", "1.jsonl"])
  }
}
