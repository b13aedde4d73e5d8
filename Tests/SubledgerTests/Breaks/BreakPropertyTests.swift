import Foundation
import TestSupport
import Testing

@Suite("Breaks over several runs of a whole world")
struct BreakPropertyTests {
  @Test("A missing archive opens breaks, its late arrival resolves them, and history keeps all")
  func heldBack() throws {
    let world = try World(seed: 9, subscribers: 200)
    try world.publish(world.run(out: "once"))
    for url in try world.archives().enumerated().filter({ $0.offset != 6 }).map(\.element) {
      try world.program.folder.write(
        Array(Data(contentsOf: url)), to: "arrived/\(url.lastPathComponent)")
    }
    try world.publish(world.run(archives: ["arrived"]))
    let open = try missing(world)
    #expect(open.count > 10)
    #expect(open.allSatisfy { $0["status"] == "open" })
    #expect(try world.program.rows("refetch_worklist.csv").count > 5)

    let late = try world.archives()[6]
    try world.program.folder.write(
      Array(Data(contentsOf: late)), to: "arrived/\(late.lastPathComponent)")
    try world.publish(world.run(archives: ["arrived"]))
    let resolved = try missing(world)
    #expect(resolved.map { $0["break_id"] } == open.map { $0["break_id"] })
    #expect(resolved.allSatisfy { $0["status"] == "resolved" })
    #expect(try world.program.rows("refetch_worklist.csv").isEmpty)
    let history = try world.program.rows("breaks_history.csv").filter(isMissing)
    #expect(history.map { $0["break_id"] } == open.map { $0["break_id"] })
    #expect(history.allSatisfy { $0["resolved_by_run"] == "2" && $0["episode"] == "1" })

    let before = try world.program.published()
    try world.publish(world.run(archives: ["arrived"]))
    #expect(differences(before, try world.program.published()).isEmpty)
    #expect(
      differences(try timeless(world.program, "once"), try timeless(world.program))
        == ["breaks.csv"])
  }

  @Test("After any decisions, undecided breaks are what quality sums and the worklist lists")
  func decided() throws {
    let world = try World(seed: 12, subscribers: 300, lost: 20_000, isPublished: true)
    let undecided = try world.program.published()
    let all = try world.program.rows("breaks.csv")
    let decisions = all.enumerated().filter { $0.offset % 3 != 0 }.map { index, row in
      "- {break_id: \"\(row["break_id"] ?? "")\", decision: "
        + "\(index % 2 == 0 ? "explained" : "written_off"), reason: r, who: w}\n"
    }
    #expect(decisions.count > 10)
    try world.program.folder.write(decisions.joined(), to: "decisions.yaml")
    try world.publish(world.run() + ["--decisions", "decisions.yaml"])
    let rest = all.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
    #expect(try world.program.rows("breaks.csv") == rest)
    let open = rest.filter { $0["status"] == "open" }
    let quality = try world.program.rows("quality_monthly.csv")
    #expect(sum(quality, "open_breaks") == open.count)
    #expect(sum(quality, "missing_events") == sum(open, "missing_events"))
    let asked = try world.program.rows("refetch_worklist.csv").flatMap {
      ($0["break_ids"] ?? "").split(separator: " ").map(String.init)
    }
    #expect(asked.count == Set(asked).count)
    #expect(Set(asked).isSubset(of: Set(open.compactMap { $0["break_id"] })))
    #expect(open.filter(isMissing).allSatisfy { asked.contains($0["break_id"] ?? "") })
    #expect(try world.program.rows("breaks_history.csv").count == all.count)
    try worth(world, of: open)
    // Without the file, all breaks return, to the last byte.
    try world.publish(world.run())
    #expect(differences(undecided, try world.program.published()).isEmpty)
  }

  /// Compares the worth by code in `status` with the sum of the open breaks of that code.
  private func worth(_ world: World, of open: [[String: String]]) throws {
    let status = try world.program.run(
      ["status", "--ledger", "reports.sqlite", "--format", "json"])
    let reported =
      try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
    let counts = try #require(reported?["breaks"] as? [[String: Any]])
      .filter { $0["status"] as? String == "open" }
    for (code, rows) in Dictionary(grouping: open, by: { $0["code"] ?? "" }) {
      let parts = counts.filter { $0["code"] as? String == code }
      let worth = parts.compactMap { Decimal(string: $0["estimated_usd"] as? String ?? "") }
      let lost = rows.filter {
        ($0["missing_events"] != "0" || code == "FEED_GAP") && $0["environment"] == "production"
      }
      let known = lost.compactMap { Decimal(string: $0["estimated_usd"] ?? "") }
      #expect(worth.reduce(0, +) == known.reduce(0, +), "\(code)")
      #expect(
        added(parts, "without_estimate") == lost.count - known.count, "\(code)")
      #expect(added(parts, "missing_events") == sum(rows, "missing_events"), "\(code)")
    }
    let text = try world.program.run(["status", "--ledger", "reports.sqlite"]).output
    #expect(text.contains(#/MISSED_RENEWAL +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]{2,6} /#))
  }

  private func missing(_ world: World) throws -> [[String: String]] {
    try world.program.rows("breaks.csv").filter(isMissing)
  }

  private func isMissing(_ row: [String: String]) -> Bool {
    row["code"]?.hasPrefix("MISSED_") == true
  }

  private func added(_ parts: [[String: Any]], _ name: String) -> Int {
    parts.compactMap { $0[name] as? Int }.reduce(0, +)
  }

  private func sum(_ rows: [[String: String]], _ column: String) -> Int {
    rows.compactMap { Int($0[column] ?? "") }.reduce(0, +)
  }
}
