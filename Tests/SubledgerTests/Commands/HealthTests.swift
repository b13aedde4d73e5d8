import Foundation
import TestSupport
import Testing

@Suite("A health check answers monitors with an exit code and a line for each problem")
struct HealthTests {
  private let program: Program

  init() throws { program = try Program() }

  /// Runs the check at `time`, and expects the exit code and a part of the line.
  private func expect(
    _ status: Int32, _ part: String, at time: String = "2026-03-01", _ more: String...,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let result = try program.run(
      ["status", "--check"] + more, environment: ["SUBLEDGER_AS_OF": time])
    #expect(result.status == status, "\(result)", sourceLocation: location)
    let said = status > 1 ? result.errors : result.output
    #expect(said.contains(part), "\(result)", sourceLocation: location)
    if status == 0 { #expect(said.count { $0 == "\n" } == 1, "\(said)", sourceLocation: location) }
  }

  private func publish(_ more: String...) throws {
    let run = ["run", "--archives", "in", "--as-of", "2026-03-01"] + more
    #expect([0, 1].contains(try program.run(run).status))
  }

  @Test("Without a ledger status ends with 66; a run is healthy until it is too old")
  func age() throws {
    try expect(66, "does not exist")
    for format in ["text", "json"] {
      let none = try program.run(["status", "--format", format])
      #expect(none.status == 66 && none.errors.contains("does not exist"), "\(none)")
    }
    try program.folder.write(bodies(3), to: "in/a.jsonl")
    try program.run(["ingest", "--archives", "in"])
    try expect(1, "no run has published yet")
    try publish()
    try expect(0, "ok: run 1 as of 2026-03-01T00:00:00Z")
    try expect(0, "ok", at: "2026-03-02T02:00:00Z")
    let old = "the newest is run 1 as of 2026-03-01T00:00:00Z, older than 26h"
    try expect(1, old, at: "2026-03-02T02:00:01Z")
    try expect(0, "ok", at: "2026-03-02T02:00:01Z", "--max-age", "2d")
    try expect(64, "--max-age", "--max-age", "soon")
    let status = try program.run(["status"])
    #expect(status.status == 0 && status.output.hasPrefix("health"))
    #expect(status.output.contains(old))
    let late = try program.run(
      ["status", "--format", "json"], environment: ["SUBLEDGER_AS_OF": "2026-03-01"])
    #expect(late.output.contains("\"problems\": []"), "\(late)")
  }

  @Test("Breaks count according to --fail-on, except decided ones")
  func breaks() throws {
    let world = try World(seed: 36, subscribers: 200, lost: 20_000, isPublished: true)
    func check(_ more: String...) throws -> ProgramResult {
      try world.program.run(
        ["status", "--check", "--ledger", "reports.sqlite", "--max-age", "36500d"] + more)
    }
    let open = try world.program.rows("breaks.csv").filter {
      ["open", "reopened"].contains($0["status"])
    }
    let critical = open.filter { $0["severity"] == "critical" }
    let found = try check("--fail-on", "open")
    #expect(found.status == 1 && found.output.contains("\(open.count) breaks at or above"))
    #expect(
      try check("--fail-on", "critical").output.contains("--fail-on critical") != critical.isEmpty)
    let none = try check().output
    #expect(!none.contains("--fail-on"))
    let text = try world.program.text(of: "reports/datapackage.json")
    #expect(none.contains("with reservations") == text.contains("\"qualified\": true"), "\(none)")
  }

  @Test("A reservation that contains a semicolon stays one")
  func semicolon() throws {
    try program.folder.write(
      bodies(30) + String(repeating: "broken\n", count: 20), to: "in/a; b.jsonl")
    try publish()
    let check = try program.run(
      ["status", "--check"], environment: ["SUBLEDGER_AS_OF": "2026-03-01"])
    #expect(check.output.contains("20 of 50 lines of a; b.jsonl were rejected\n"), "\(check)")
    #expect(check.output.split(separator: "\n").count == 2, "\(check)")
  }

  @Test("Rejected lines that qualify the set, and stale input, are reported")
  func qualified() throws {
    try program.folder.write(
      bodies(30) + String(repeating: "broken\n", count: 20), to: "in/a.jsonl")
    try publish()
    let check = try program.run(
      ["status", "--check"], environment: ["SUBLEDGER_AS_OF": "2026-03-01"])
    let run = "run 1 as of 2026-03-01T00:00:00Z was published with reservations: 20 of 50 lines"
    #expect(check.status == 1, "\(check)")
    #expect(check.output == "\(run) were rejected\n\(run) of a.jsonl were rejected\n")
    let status = try program.run(["status"])
    #expect(status.output.matches(of: /(?m)^health .*reservations/).count == 2, "\(status)")
    try program.run(
      [
        "run", "--archives", "in", "--as-of", "2026-06-01", "--ledger", "stale.sqlite", "--out",
        "stale",
      ]).ended(0, 1)
    try expect(
      1, "input is stale: 1 STALE_INPUT break", at: "2026-06-01", "--ledger", "stale.sqlite")
  }
}
