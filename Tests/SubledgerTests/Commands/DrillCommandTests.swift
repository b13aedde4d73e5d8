import Foundation
import TestSupport
import Testing

@Suite("A drill measures how much is found, and changes nothing")
struct DrillCommandTests {
  private func world() throws -> World {
    try World(seed: 4, subscribers: 400, isPublished: true)
  }

  private func drill(
    _ world: World, seed: Int = 1, events: Int = 250, out: String
  ) throws -> String {
    let result = try world.program.run(
      [
        "drill", "--ledger", "reports.sqlite", "--config", "world/subledger.yaml", "--seed",
        "\(seed)", "--events", "\(events)", "--out", out,
      ]).ended(0)
    return result.output
  }

  @Test("Without earlier losses, everything that the data can show is found")
  func found() throws {
    let world = try world()
    let text = try drill(world, out: "drill")
    let rows = try world.program.rows("drill.csv", in: "drill")
    func sum(_ column: String) -> Int {
      rows.reduce(0) { $0 + (Int($1[column] ?? "") ?? 0) }
    }
    #expect(sum("injected") >= 250)
    #expect(sum("injected") == sum("found") + sum("missed") + sum("unrevealed"))
    #expect(sum("missed") == 0, "\(text)")
    #expect(sum("false") * 50 <= sum("found"), "\(text)")
    let found = Set(rows.filter { (Int($0["found"] ?? "") ?? 0) > 0 }.compactMap { $0["code"] })
    let expected: Set = [
      "MISSED_START", "MISSED_RENEWAL", "CONFLICT", "UNEXPECTED_REVENUE", "OUT_OF_ORDER", "LATE",
      "FX_OUTLIER", "ENV_LEAK", "duplicate",
    ]
    #expect(found.isSuperset(of: expected), "\(text)")
    let kinds = try world.program.rows("drill_kinds.csv", in: "drill")
    let lost = rows.filter { $0["code"]?.hasPrefix("MISSED_") == true }
    for column in ["injected", "found", "missed", "unrevealed"] {
      func sum(_ rows: [[String: String]]) -> Int {
        rows.reduce(0) { $0 + (Int($1[column] ?? "") ?? 0) }
      }
      #expect(sum(kinds) == sum(lost), "\(column)")
    }
    #expect(kinds.contains { $0["kind"] == "renewed" && $0["recall"] != "" }, "\(text)")
    for row in rows where row["unrevealed"] != "0" { #expect(row["unrevealed_reasons"] != "") }
    #expect(text.contains("250 events of as many users damaged"))
  }

  @Test("The next run publishes the result, and neither a copy nor anything else is kept")
  func untouched() throws {
    let world = try world()
    let folder = world.program.folder
    try FileManager.default.createDirectory(
      atPath: folder.path("tmp"), withIntermediateDirectories: true)
    let before = try world.program.published(in: "reports")
    try world.program.run(
      ["drill", "--ledger", "reports.sqlite", "--events", "20", "--out", "drill"],
      environment: ["TMPDIR": folder.path("tmp")]
    ).ended(0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")).isEmpty)
    #expect(try world.program.rows("drill.csv").isEmpty)
    try world.publish(world.run())
    let after = try world.program.published(in: "reports")
    #expect(
      Set(differences(before, after))
        == ["SHA256SUMS", "datapackage.json", "drill.csv", "index.html"])
    let kept = try world.program.rows("drill.csv").map { [$0["code"], $0["found"], $0["recall"]] }
    let printed = try world.program.rows("drill.csv", in: "drill")
      .map { [$0["code"], $0["found"], $0["recall"]] }
    #expect(!kept.isEmpty && Set(kept) == Set(printed))
    let page = try String(
      contentsOfFile: folder.path("reports/index.html"), encoding: .utf8)
    #expect(page.contains("Recall of the checks") && page.contains("data-file=\"drill\""))
    try world.program.run(["verify", "--replay", "--ledger", "reports.sqlite"]).ended(0)
    try world.program.run(
      ["report", "--ledger", "reports.sqlite", "--at-run", "1", "--out", "earlier"]).ended(0)
    #expect(differences(before, try world.program.published(in: "earlier")).isEmpty)
  }

  @Test("Equal seeds give equal bytes, other seeds other damage")
  func seeds() throws {
    let world = try world()
    let one = try drill(world, events: 20, out: "one")
    let again = try drill(world, events: 20, out: "again")
    #expect(one == again)
    #expect(
      differences(
        try world.program.published(in: "one"), try world.program.published(in: "again")
      ).isEmpty)
    #expect(one != (try drill(world, seed: 2, events: 20, out: "two")))
  }

  @Test("A drill needs a ledger and events to damage")
  func nothing() throws {
    let program = try Program()
    #expect(try program.run(["drill", "--ledger", "none.sqlite"]).status == 66)
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("none.sqlite")))
    let world = try world()
    try world.program.run(
      ["drill", "--ledger", "reports.sqlite", "--as-of", "2020-01-01"]).ended(66)
    #expect(try world.program.run(["drill", "--events", "0"]).status == 64)
  }

  @Test("A folder that cannot be created for the table is reported on its own line")
  func nowhere() throws {
    let world = try world()
    try world.program.folder.write("a file", to: "taken\n")
    let result = try world.program.run(
      ["drill", "--ledger", "reports.sqlite", "--events", "20", "--out", "taken\n/drill"]).ended(73)
    #expect(
      result.errors.contains(#"cannot make the folder taken\u{a}/drill: Not a directory"# + "\n"),
      "\(result)")
    let set = try world.program.run(
      ["drill", "--ledger", "reports.sqlite", "--out", "reports", "--events", "20"])
    #expect(set.status == 73 && set.errors.contains("a set is published there"), "\(set)")
  }
}
