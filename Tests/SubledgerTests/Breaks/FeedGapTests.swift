import Foundation
import TestSupport
import Testing

@Suite("A day without an archive")
struct FeedGapTests {
  private let program: Program

  init() throws {
    program = try Program()
    for day in 1...20 where day != 10 { try write(day) }
  }

  /// The archive of a day in October 2026 with forty first purchases, received so many hours late.
  private func write(_ day: Int, late hours: Int? = nil) throws {
    let midnight = 1_790_812_800 + (day - 1) * 86_400
    let lines = (0..<40).map { number in
      var body = Body(day * 100 + number)
      let time = midnight + number * 2_000
      body.members["time"] = "\(time)"
      body.members["created_at"] = "\(time + 5)"
      body.members["transaction"] = Body.transaction(
        2_000_000_900_000_000 + day * 100 + number, from: time, until: time + 2_678_400)
      guard let hours else { return body.line + "\n" }
      return #"{"received_at":\#(time + hours * 3600),"body":\#(body.line)}"# + "\n"
    }
    let name = "archives/2026-10-\(day < 10 ? "0" : "")\(day).jsonl"
    try program.folder.write(lines.joined(), to: name)
  }

  private func run(
    _ options: [String] = [], out: String = "reports"
  ) throws -> [[String: String]] {
    try program.run(
      ["run", "--archives", "archives", "--as-of", "2026-10-21T06:00:00Z", "--fail-on", "open"]
        + options
    ).ended(0, 1)
    return try program.rows("breaks.csv", in: out).filter { $0["code"] == "FEED_GAP" }
  }

  @Test("A day without an archive is a break with its expected events until the archive arrives")
  func absentDay() throws {
    let gap = try #require(try run().first)
    #expect(gap["break_id"]?.wholeMatch(of: /b-[0-9a-f]{16}/) != nil)
    #expect(gap["status"] == "open" && gap["severity"] == "high")
    #expect(gap["provider"] == "qonversion" && gap["app_id"] == "1234567890")
    #expect(gap["expected_at"] == "2026-10-10T00:00:00Z")
    #expect(gap["estimated_usd"] == "399.60", "forty purchases at 9.99")
    #expect(
      gap["evidence"]
        == "0 events of the app created on 2026-10-10 (UTC) arrived, about 40 were "
        + "expected from the days around it; so few are less likely than 1 in 1000000; no archive "
        + "covers 2026-10-10")
    try write(10)
    #expect(try run().map { $0["status"] } == ["resolved"])
  }

  @Test(
    "A day is no gap once retries or another delivery have added its events", arguments: [24, 240])
  func comesLater(_ hours: Int) throws {
    #expect(try run().map { $0["status"] } == ["open"])
    try write(10, late: hours)
    #expect(try run().map { $0["status"] } == ["resolved"])
    #expect(try run(["--ledger", "once.sqlite", "--out", "once"], out: "once").isEmpty)
  }

  @Test("A day without an archive has zeros for the previous day's kinds until it arrives")
  func zeros() throws {
    func delivered() throws -> [String: String] {
      _ = try run()
      let rows = try program.rows("deliveries_daily/2026-10.csv")
      #expect(rows.allSatisfy { $0["kind"] == "started" && $0["attempt_1"] == "" })
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["day"] ?? "", $0["delivered"] ?? "") })
    }
    let days = (1...20).map { "2026-10-\($0 < 10 ? "0" : "")\($0)" }
    let whole = Dictionary(uniqueKeysWithValues: days.map { ($0, "40") })
    #expect(try delivered() == whole.merging(["2026-10-10": "0"]) { $1 })
    try write(10)
    #expect(try delivered() == whole)
  }

  @Test("A gap is the same break whether days arrive one by one or together")
  func increments() throws {
    for day in 1...20 where day != 10 {
      let name = "2026-10-\(day < 10 ? "0" : "")\(day).jsonl"
      try program.folder.write(program.text(of: "archives/\(name)"), to: "daily/\(name)")
      guard day > 12 else { continue }
      try program.run([
        "run", "--archives", "daily", "--as-of", "2026-10-21T06:00:00Z", "--ledger",
        "daily.sqlite", "--out", "nightly",
      ]).ended(0, 1)
    }
    let gaps = try run()
    let daily = try program.rows("breaks.csv", in: "nightly").filter { $0["code"] == "FEED_GAP" }
    #expect(gaps.map { $0["evidence"] } == daily.map { $0["evidence"] })
    #expect(gaps.map { $0["break_id"] } == daily.map { $0["break_id"] })
  }
}
