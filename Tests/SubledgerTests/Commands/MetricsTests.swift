import Foundation
import TestSupport
import Testing

@Suite("Metrics show monitors how a run ended")
struct MetricsTests {
  private let world: World
  private var program: Program { world.program }

  init() throws { world = try World(seed: 36, subscribers: 200, lost: 20_000) }

  private func text(_ name: String = "m.prom") throws -> String {
    try program.text(of: name)
  }

  /// The values of a metric by their labels.
  private func values(_ metric: String) throws -> [String: String] {
    let lines = try text().split(separator: "\n").filter {
      $0.hasPrefix("subledger_\(metric) ") || $0.hasPrefix("subledger_\(metric){")
    }
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let end = line.lastIndex(of: " ") ?? line.endIndex
        let labels = line[..<end].dropFirst("subledger_\(metric)".count)
        return (String(labels), String(line[end...].dropFirst()))
      })
  }

  @Test("The metrics of a run match its set, are readable by everyone, and name no person")
  func run() throws {
    let result = try program.run(world.run() + ["--metrics", "m.prom"], umask: 0o77)
    #expect([0, 1].contains(result.status) && result.output.isEmpty, "\(result)")
    let attributes = try FileManager.default.attributesOfItem(
      atPath: program.folder.path("m.prom"))
    #expect(attributes[.posixPermissions] as? Int == 0o644)

    let inputs = try program.rows("inputs.csv")
    let columns = [
      "accepted": "accepted", "duplicate": "duplicates", "skipped": "skipped",
      "rejected": "rejected",
    ]
    let lines = try values("lines")
    #expect(lines.count == 4)
    for (verdict, column) in columns {
      let sum = inputs.reduce(0) { $0 + (Int($1[column] ?? "") ?? 0) }
      #expect(lines["{verdict=\"\(verdict)\"}"] == "\(sum)", "\(verdict)")
    }

    let breaks = try program.rows("breaks.csv").filter { $0["status"] != "resolved" }
    let kinds = Dictionary(grouping: breaks) { row in
      let labels = ["code", "severity", "status"].map { "\($0)=\"\(row[$0] ?? "")\"" }
      return "{\(labels.joined(separator: ","))}"
    }
    #expect(kinds.count > 2)
    #expect(try values("breaks") == kinds.mapValues { "\($0.count)" })
    let worth = try values("breaks_estimated_usd").mapValues { Decimal(string: $0) }
    #expect(
      worth
        == kinds.mapValues { rows in
          rows.filter { $0["environment"] == "production" && $0["missing_events"] != "0" }
            .compactMap { Decimal(string: $0["estimated_usd"] ?? "") }.reduce(0, +)
        })

    #expect(try values("last_run_exit_code") == ["": "\(result.status)"])
    let ended = try #require(Int(try values("last_run_timestamp_seconds")[""] ?? ""))
    #expect(try values("last_success_timestamp_seconds")[""] == "\(ended)")
    let steps = try values("stage_duration_seconds")
    #expect(
      Set(steps.keys)
        == Set(
          ["archives", "snapshots", "fold", "reconcile", "reports"].map { "{stage=\"\($0)\"}" }))
    #expect(steps.values.allSatisfy { Decimal(string: $0) != nil } && !steps.values.contains("0"))
    let ages = try values("feed_age_seconds")
    #expect(!ages.isEmpty && ages.values.allSatisfy { (0..<ended).contains(Int($0) ?? -1) })
    #expect(Set(ages.keys) == Set(try values("feed_silence_max_seconds").keys))
    #expect(try Int(values("ledger_bytes")[""] ?? "") ?? 0 > 100_000)
    let persons = breaks.flatMap { [$0["user_id"], $0["transaction_id"]] }.compactMap(\.self)
    let written = try text()
    #expect(!persons.contains { !$0.isEmpty && written.contains($0) })
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("m.prom.part")))
  }

  @Test("A failed run reports its failure, and keeps the values of the last publication")
  func failure() throws {
    try program.run(world.run() + ["--metrics", "m.prom"])
    let success = try values("last_success_timestamp_seconds")
    let previous = try text().split(separator: "\n").filter { !$0.contains("last_run") }
    try program.folder.write("broken off", to: "m.prom.part")
    try program.run(world.run(archives: ["gone"]) + ["--metrics", "m.prom"]).ended(66)
    #expect(try values("last_run_exit_code") == ["": "66"])
    #expect(try values("last_success_timestamp_seconds") == success)
    #expect(try text().split(separator: "\n").filter { !$0.contains("last_run") } == previous)

    try program.folder.write("renewal_gapp: 24h\n", to: "wrong.yaml")
    try program.run(
      world.run() + ["--metrics", "m.prom", "--config", "wrong.yaml"]
    ).ended(78)
    #expect(try values("last_run_exit_code") == ["": "78"])

    try program.run([
      "run", "--archives", "gone", "--ledger", "none", "--out", "none", "--metrics", "first.prom",
    ]).ended(66)
    #expect(try text("first.prom").contains("subledger_last_run_exit_code 66\n"))
    #expect(try !text("first.prom").contains("last_success"))
  }

  @Test("Looks, reproductions, ingests and dry runs leave the metrics unchanged")
  func others() throws {
    try program.run(world.run() + ["--metrics", "m.prom"])
    let previous = try text()
    let ledger = ["--ledger", "reports.sqlite", "--config", "world/subledger.yaml"]
    let metrics = ["SUBLEDGER_METRICS": program.folder.path("m.prom")]
    for arguments in [
      ["report", "--as-of", "2025-06-01", "--out", "look"] + ledger,
      ["report", "--at-run", "1", "--out", "again"] + ledger,
      ["report", "--at-run", "7"] + ledger, ["ingest", "--archives", "gone"] + ledger,
      ["run", "--dry-run", "--archives", "world/archives", "--as-of", world.asOf] + ledger,
    ] {
      try program.run(arguments, environment: metrics)
      #expect(try text() == previous, "\(arguments)")
    }
    try program.run(["report", "--as-of", world.asOf] + ledger, environment: metrics)
    #expect(try values("lines")["{verdict=\"accepted\"}"] == "0")
  }

  @Test("Metrics that cannot be written end with 73, and the set is published")
  func unwritable() throws {
    let result = try program.run(world.run() + ["--metrics", "missing/m.prom"]).ended(73)
    #expect(
      result.errors.contains("cannot write the metrics missing/m.prom; the reports are published"))
    #expect(try !program.rows("inputs.csv").isEmpty)
  }

  @Test("Metrics and a summary never replace another file of the job, which stays as it is")
  func ownFile() throws {
    try program.run(world.run() + ["--metrics", "m.prom"])
    try FileManager.default.createSymbolicLink(
      atPath: program.folder.path("link"), withDestinationPath: "reports.sqlite")
    for file in ["reports.sqlite", "link", "world/subledger.yaml", "reports/breaks.csv"] {
      let before = try Data(contentsOf: URL(fileURLWithPath: program.folder.path(file)))
      for option in ["--metrics", "--summary"] {
        let refused = try program.run(world.run() + [option, file]).ended(64)
        #expect(refused.errors.contains("another setting names this file"), "\(refused)")
        let after = try Data(contentsOf: URL(fileURLWithPath: program.folder.path(file)))
        #expect(after == before, "\(option) \(file)")
      }
    }
    let checked = try program.run(
      ["config", "check", "--ledger", "reports.sqlite", "--metrics", "reports.sqlite"])
    #expect(checked.status != 0, "\(checked)")
    try program.run(world.run(out: "new") + ["--metrics", "new.sqlite"]).ended(64)
    try program.run(world.run() + ["--metrics", "m", "--summary", "m"]).ended(64)
  }
}
