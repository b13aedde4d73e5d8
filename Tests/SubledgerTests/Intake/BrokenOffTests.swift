import EventStore
import Foundation
import TestSupport
import Testing

@Suite("An interrupted run affects no other command before it publishes")
struct BrokenOffTests {
  let program: Program

  init() throws {
    program = try Program()
    // 29 June and 20 July 2026.
    let later = [1_782_734_400, 1_784_548_800].enumerated().map { index, time in
      Body(index + 2, at: time).line + "\n"
    }
    try program.folder.write("\(Body(1).line)\n\(later.joined())", to: "in/a.jsonl")
    try program.folder.write("freshness_max: 200d\n", to: "subledger.yaml")
  }

  @discardableResult
  private func run(_ asOf: String, _ more: String...) throws -> ProgramResult {
    try program.run(["run", "--archives", "in", "--as-of", asOf] + more)
  }

  /// A run that fails when it starts to write its set, with breaks and cells in the ledger.
  private func breakOff(_ asOf: String) throws {
    try run(asOf, "--out", "/proc/nope/reports").ended(73)
  }

  private func brokenBreak() throws -> [String: String] {
    #expect(try run("2026-06-30").status <= 1)
    let found = try #require(try program.rows("breaks.csv").first)
    try breakOff("2026-07-10")
    return found
  }

  @Test("No month is closed with breaks that were never published")
  func close() throws {
    let month = try #require(try brokenBreak()["expected_at"]).prefix(7)
    let close = ["close", String(month), "--force", "--reason", "x"]
    let refused = try program.run(close).ended(75)
    #expect(refused.errors.contains("run 2 has not published"), "\(refused)")
    #expect(try run("2026-06-30").status <= 1)
    let closed = try program.run(close)
    #expect(closed.status == 0 && closed.output.contains("2 open breaks"), "\(closed)")
  }

  @Test("Published breaks are still explained, with a note that another run has not published")
  func explain() throws {
    let found = try brokenBreak()
    let month = try #require(found["expected_at"]).prefix(7)
    let number = ["explain", "quality_monthly", "period=\(month)", "open_breaks"]
    let refused = try program.run(number).ended(75)
    #expect(refused.errors.contains("cannot explain quality_monthly: run 2"), "\(refused)")
    for subject in [
      ["--break", found["break_id"] ?? ""], ["--subscription", found["subscription_id"] ?? ""],
    ] {
      let reported = try program.run(["explain"] + subject)
      #expect(
        reported.status == 0 && reported.output.contains("run 2 has not published"), "\(reported)")
    }
    #expect(try run("2026-06-30").status <= 1)
    let explained = try program.run(number)
    #expect(explained.output.contains("open_breaks             2\n"), "\(explained)")
  }

  @Test("Verify checks what was published, and reports what it skips")
  func verify() throws {
    _ = try brokenBreak()
    let result = try program.run(["verify"]).ended(0)
    #expect(result.output.contains("skipped  facts"), "\(result)")
    #expect(result.output.contains("run 2 has not published"), "\(result)")
    #expect(result.output.contains("holds    reports"), "\(result)")
  }

  @Test(
    "The next run publishes what it would have without the interruption, at any as-of",
    arguments: ["2026-06-30", "2026-07-03", "2026-07-12"])
  func carriedOn(asOf: String) throws {
    _ = try brokenBreak()
    try run(asOf)
    try program.run(["verify"]).ended(0)
    let other = ["--ledger", "other.sqlite", "--out", "other"]
    for asOf in ["2026-06-30", asOf] {
      try program.run(["run", "--archives", "in", "--as-of", asOf] + other).ended(0, 1)
    }
    #expect(differences(try program.published(), try program.published(in: "other")).isEmpty)
  }

  @Test("The lines of an interrupted run, rejected ones too, count for the run that continues it")
  func account() throws {
    try program.folder.write(bodies(3000, from: 10), to: "in/many.jsonl")
    #expect(try run("2026-03-01").status == 0)
    let mixed = String(repeating: "{\"event_name\":\"renewed\"}\n", count: 10)
    try program.folder.write(bodies(10, from: 4000) + mixed, to: "in/x.jsonl")
    try program.folder.write(bodies(10, from: 5000) + mixed, to: "in/y.jsonl")
    try breakOff("2026-03-01")
    let result = try run("2026-03-01").ended(1)
    #expect(result.errors.contains("20 of 40 lines"), "\(result)")
    let status = try program.run(["status"]).output
    #expect(status.contains(#/ 2  2026-03-01T00:00:00Z +\S+ +2 +40 /#), "\(status)")
  }
}
