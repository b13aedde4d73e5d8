import Foundation
import TestSupport
import Testing

/// `Story/` contains the input, the decisions, and the report columns that must follow.
@Suite("A lost renewal, from the run that finds it missing to the run that has it")
struct BreakStoryTests {
  let program: Program

  init() throws {
    program = try Program()
    try arrives("told.jsonl", in: "in")
    try arrives("listed.snapshot.jsonl", in: "snap")
  }

  @Test("A lost renewal is open and on the worklist, and qualifies the set above the gate")
  func open() throws {
    let first = try run("2026-03-01", "--verbose").ended(1)
    #expect(first.errors.contains("breaks: 1 new, 0 reopened, 0 resolved"))
    #expect(
      first.errors.contains(
        "published with reservations: open breaks of 2026-02 are worth 9.99 USD, more than 0.5 % "
          + "of its net revenue of 9.99 USD"))
    #expect(try manifest("qualified") as? Bool == true)
    try program.run(["close", "2026-02", "--who", "j.doe"]).ended(75)
    for report in ["breaks", "quality_monthly", "refetch_worklist"] {
      try expect(report, as: "open")
    }
    let status = try program.run(["status"]).output
    #expect(status.contains(/open +medium +MISSED_RENEWAL +1 .*2026-02-27/), "\(status)")
    try program.folder.write("materiality: 100%\n", to: "subledger.yaml")
    #expect(try run("2026-03-01").status == 0)
    #expect(try manifest("qualified") as? Bool == false)
    let gates = try ["none", "critical", "open", "pending"].map {
      try run("2026-03-01", "--fail-on", $0).status
    }
    #expect(gates == [0, 0, 1, 1])
    try program.folder.write(
      "materiality: 100%\nbreaks: {severity_usd: {high: 5, critical: 9.99}}\n",
      to: "subledger.yaml")
    #expect(try run("2026-03-01", "--fail-on", "critical").status == 1)
    #expect(try program.rows("breaks.csv").map { $0["severity"] } == ["critical"])
  }

  @Test("A break is pending while the provider can still deliver, and does not count for the gate")
  func pending() throws {
    let silent = "freshness_max: 60d\n"
    try program.folder.write(silent, to: "subledger.yaml")
    try run("2026-02-28T11:00:00Z", "--fail-on", "pending").ended(0)
    try program.folder.write(silent + "delivery_window: {qonversion: 36h}\n", to: "subledger.yaml")
    #expect(try run("2026-03-01", "--fail-on", "open").status == 0)
    #expect(try program.rows("breaks.csv").map { $0["status"] } == ["pending"])
    #expect(try program.rows("refetch_worklist.csv").isEmpty)
    #expect(try program.rows("quality_monthly.csv").isEmpty)
    #expect(try run("2026-03-01", "--fail-on", "pending").status == 1)
  }

  @Test("A decision removes a break from all gates, until it is removed from the file")
  func decided() throws {
    #expect(try run("2026-03-01").status == 1)
    let explained = try run("2026-03-01", "--decisions", Self.path("explained.yaml")).ended(0)
    #expect(explained.errors.contains("the decision about b-0000000000000000 is not used"))
    #expect(!explained.errors.contains("about b-58fc72aea9ed0aeb"))
    for report in ["breaks", "quality_monthly", "refetch_worklist"] {
      #expect(try program.rows("\(report).csv").isEmpty, "\(report)")
    }
    try expect("breaks_history", as: "explained")
    #expect(try program.run(["status"]).output.contains(#/explained +medium /#))
    let counts = try manifest("counts") as? [String: Int] ?? [:]
    #expect(counts["decisions"] == 2)
    #expect(counts["decisions_unused"] == 1)
    #expect(counts["breaks_explained"] == 1)
    let variable = ["SUBLEDGER_DECISIONS": Self.path("written_off.yaml")]
    try program.run(
      arguments("2026-03-01", "--fail-on", "pending"), environment: variable
    ).ended(0)
    #expect(try program.rows("breaks_history.csv").map { $0["status"] } == ["written_off"])
    #expect(try run("2026-03-01").status == 1)
    #expect(try program.rows("breaks_history.csv").map { $0["status"] } == ["open"])
  }

  @Test("Invalid decisions end the run with 78 before it reads anything")
  func wrongDecisions() throws {
    try program.folder.write("- {break_id: b-58fc72aea9ed0aeb, why: x}\n", to: "bad.yaml")
    let refused = try run("2026-03-01", "--decisions", "bad.yaml").ended(78)
    #expect(refused.errors.contains("bad.yaml, line 1: unknown key `why`"))
    #expect(try run("2026-03-01", "--decisions", "none.yaml").status == 66)
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("subledger.sqlite")))
  }

  @Test("A break is resolved by input, reopened by another loss, and kept in the history")
  func wholeStory() throws {
    #expect(try run("2026-03-01").status == 1)
    try arrives("unlisted.snapshot.jsonl", in: "snap")
    #expect(try run("2026-03-01T13:00:00Z").status == 0)
    #expect(try statuses() == ["MISSED_EXPIRATION open", "MISSED_RENEWAL resolved"])
    try arrives("again.snapshot.jsonl", in: "snap")
    #expect(try run("2026-03-01T21:00:00Z", "--fail-on", "open").status == 1)
    #expect(try statuses() == ["MISSED_EXPIRATION resolved", "MISSED_RENEWAL reopened"])
    let reopened = try program.rows("breaks.csv").first { $0["status"] == "reopened" }
    #expect(reopened?["first_seen_at"] == "2026-03-01T00:00:00Z")
    #expect(try program.rows("refetch_worklist.csv").count == 1)
    #expect(try program.run(["status"]).output.contains(#/reopened +medium /#))
    try arrives("late.jsonl", in: "in")
    #expect(try run("2026-03-02", "--fail-on", "pending").status == 0)
    #expect(try statuses() == ["MISSED_RENEWAL resolved"])
    try expect("breaks_history", as: "end")
    let before = try program.published()
    #expect(try run("2026-03-02", "--fail-on", "pending").status == 0)
    #expect(differences(before, try program.published()).isEmpty)
    // The next run no longer reports it; the history does.
    #expect(try run("2026-03-02T06:00:00Z").status == 0)
    #expect(try statuses().isEmpty)
    try expect("breaks_history", as: "end")
    // A run at an earlier as-of shows that time with current data, and changes no history.
    #expect(try run("2026-03-01").status == 0)
    #expect(try statuses().isEmpty)
    try expect("breaks_history", as: "end")
  }

  @Test("Input that becomes stale again reopens its break")
  func staleAgain() throws {
    try program.folder.write("freshness_max: 48h\nfail_on: open\n", to: "subledger.yaml")
    try arrives("late.jsonl", in: "in")
    #expect(try run("2026-03-01").status == 0)
    #expect(try run("2026-03-05").status == 1)
    #expect(try statuses() == ["STALE_INPUT open"])
    try arrives("awake.jsonl", in: "in")
    #expect(try run("2026-03-05").status == 0)
    #expect(try statuses() == ["STALE_INPUT resolved"])
    #expect(try run("2026-03-09").status == 1)
    #expect(try statuses() == ["STALE_INPUT reopened"])
  }

  private func arrives(_ name: String, in folder: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: Self.path(name)))
    try program.folder.write(Array(bytes), to: "\(folder)/\(name)")
  }

  private func arguments(_ asOf: String, _ more: String...) -> [String] {
    ["run", "--archives", "in", "--snapshots", "snap", "--as-of", asOf] + more
  }

  private func run(_ asOf: String, _ more: String...) throws -> ProgramResult {
    try program.run(arguments(asOf) + more)
  }

  private func statuses() throws -> [String] {
    try program.rows("breaks.csv").map { "\($0["code"] ?? "") \($0["status"] ?? "")" }.sorted()
  }

  private func manifest(_ member: String) throws -> Any? {
    let path = program.folder.path("reports/datapackage.json")
    let object = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(fileURLWithPath: path)))
    return ((object as? [String: Any])?["subledger"] as? [String: Any])?[member]
  }

  /// Expects the columns and rows of `Story/<moment>.<report>.csv` in a report.
  private func expect(_ report: String, as moment: String) throws {
    let path = Self.path("\(moment).\(report).csv")
    let expected = try String(contentsOfFile: path, encoding: .utf8)
    let columns = expected.prefix { $0 != "\n" }.split(separator: ",").map(String.init)
    let reported = try program.rows("\(report).csv").map { row in
      columns.map { row[$0] ?? "no column \($0)" }
    }
    #expect(reported == (try readCSV(path)).map { row in columns.map { row[$0] ?? "" } }, "\(path)")
  }

  private static func path(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Story/\(name)").path
  }
}
