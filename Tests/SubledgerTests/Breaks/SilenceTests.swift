import TestSupport
import Testing

@Suite("How long a feed may be silent is learned from its history")
struct SilenceTests {
  private let program: Program

  init() throws { program = try Program() }

  /// Writes a purchase in `app` on each of these days of March 2026, at noon UTC.
  private func sell(_ app: Int, on days: [Int]) throws {
    for day in days {
      var body = Body(app * 100 + day)
      let time = 1_772_366_400 + (day - 1) * 86_400
      body.members["app_id"] = "\"app\(app)\""
      body.members["time"] = "\(time)"
      body.members["created_at"] = "\(time)"
      body.members["transaction"] = Body.transaction(
        app * 100 + day, from: time, until: time + 2_592_000)
      try program.folder.write(body.line + "\n", to: "in/\(app)-\(day).jsonl")
    }
  }

  /// Reads everything, and returns the breaks about stale input.
  private func stale(
    on day: Int, _ more: String..., exits: Int32 = 0
  ) throws -> [[String: String]] {
    let result = try program.run(
      ["run", "--archives", "in", "--as-of", "2026-03-\(day < 10 ? "0" : "")\(day)"] + more)
    #expect(result.status == exits, "\(result)")
    return try program.rows("breaks.csv").filter { $0["code"] == "STALE_INPUT" }
  }

  @Test("An app that sells every third day is not stale until it stops")
  func small() throws {
    try sell(1, on: [1, 4, 7, 10])
    for day in [11, 12, 13, 19] {
      #expect(try stale(on: day, "--fail-on", "open").isEmpty, "\(day)")
    }
    #expect(try stale(on: 20, "--fail-on", "open", exits: 1).count == 1)
    let found = try #require(try stale(on: 21).first)
    #expect(found["app_id"] == "app1" && found["expected_at"] == "2026-03-19T12:00:00Z")
    #expect(
      found["evidence"] == "the newest input of qonversion app1 is of 2026-03-10T12:00:00Z, "
        + "as-of is 2026-03-21T00:00:00Z, and the feed may be silent until 2026-03-19T12:00:00Z")
  }

  @Test("Feeds that stopped within a day are one break with a stable id; later ones are another")
  func together() throws {
    try sell(1, on: [1, 2, 3, 4])
    try sell(2, on: [1, 3, 5])
    try sell(3, on: [1, 2, 3, 4, 5, 6, 7, 8, 9])
    let first = try #require(try stale(on: 9).first)
    #expect(first["app_id"] == "app1")
    let both = try stale(on: 12)
    let open = try #require(both.first)
    #expect(both.count == 1 && open["break_id"] == first["break_id"])
    #expect(open["app_id"] == "" && open["expected_at"] == first["expected_at"])
    #expect(
      open["evidence"] == "2 feeds stopped within a day, as-of is 2026-03-12T00:00:00Z: "
        + "qonversion app1 until 2026-03-04T12:00:00Z, qonversion app2 until 2026-03-05T12:00:00Z")
    #expect(try stale(on: 14).count == 2, "app3 stopped four days later")
  }

  @Test("freshness_max applies to all feeds, to a provider, or to one app")
  func configured() throws {
    try sell(1, on: [1, 2, 3, 4])
    try sell(2, on: [1, 2, 3, 4])
    func apps(_ setting: String) throws -> [String?] {
      try program.folder.write("freshness_max: \(setting)\n", to: "subledger.yaml")
      return try stale(on: 9).filter { $0["status"] != "resolved" }.map { $0["app_id"] }
    }
    #expect(try apps("5d") == [])
    #expect(try apps("{qonversion: {app1: 5d}}") == ["app2"])
    #expect(try apps("{qonversion: 10d, iaptic: 1d}") == [])
    #expect(try apps("{iaptic: 10d}") == [""])
  }
}
