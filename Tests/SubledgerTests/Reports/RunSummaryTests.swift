import Foundation
import TestSupport
import Testing

@Suite("The result of a run is written for people and programs")
struct RunSummaryTests {
  private let world: World

  init() throws { world = try World(seed: 36, subscribers: 200, lost: 20_000) }

  @Test("The numbers of the summary match the set")
  func json() throws {
    let result = try world.program.run(world.run() + ["--summary", "summary.json"])
    #expect([0, 1].contains(result.status) && result.output.isEmpty, "\(result)")
    let summary = try #require(
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(fileURLWithPath: world.program.folder.path("summary.json"))))
        as? [String: Any])
    #expect(summary["set"] as? String == "reports")
    #expect(summary["page"] as? String == "reports/index.html")
    let manifest = try #require(
      try JSONSerialization.jsonObject(
        with: Data(
          contentsOf: URL(fileURLWithPath: world.program.folder.path("reports/datapackage.json"))))
        as? [String: Any])
    let ours = try #require(manifest["subledger"] as? [String: Any])
    #expect(summary["as_of"] as? String == ours["as_of"] as? String)
    let reservations = try #require(summary["reservations"] as? [String])
    #expect(reservations.isEmpty == (result.status == 0))

    let input = try #require(summary["input"] as? [String: Any])
    let inputs = try world.program.rows("inputs.csv")
    for column in ["lines", "accepted", "duplicates", "skipped", "rejected"] {
      let sum = inputs.reduce(0) { $0 + (Int($1[column] ?? "") ?? 0) }
      #expect(input[column] as? Int == sum, "\(column)")
    }

    let months = try #require(summary["months"] as? [[String: Any]])
    let rows = try world.program.rows("summary_monthly.csv")
    let periods = Set(rows.compactMap { $0["period"] }).sorted().suffix(3)
    #expect(months.compactMap { $0["period"] as? String } == Array(periods))
    for month in months {
      let ofMonth = rows.filter { $0["period"] == month["period"] as? String }
      for column in ["net_usd", "proceeds_usd", "mrr_close", "missing_usd"] {
        let sum = ofMonth.compactMap { Decimal(string: $0[column] ?? "") }.reduce(0, +)
        #expect((month[column] as? String).flatMap { Decimal(string: $0) } == sum, "\(column)")
      }
      let churned = ofMonth.compactMap { Int($0["churned"] ?? "") }.reduce(0, +)
      #expect(month["churned"] as? Int == churned)
      #expect(
        month["is_complete"] as? Bool == ofMonth.allSatisfy { $0["is_complete"] == "true" })
    }

    let breaks = try #require(summary["open_breaks"] as? [[String: Any]])
    let open = try world.program.rows("breaks.csv").filter {
      ["open", "reopened"].contains($0["status"])
    }
    #expect(!open.isEmpty)
    #expect(breaks.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == open.count)
    let worklist = try #require(summary["worklist"] as? [[String: Any]])
    let first = try world.program.rows("refetch_worklist.csv").prefix(5)
    #expect(worklist.map { $0["break_ids"] as? String } == first.map { $0["break_ids"] })
    for column in ["priority", "hours_left"] {
      let numbers = first.map { Int($0[column] ?? "") }
      #expect(worklist.map { $0[column] as? Int } == numbers, "\(column)")
    }
  }

  @Test("No summary names a person, in any format")
  func persons() throws {
    for name in ["s.txt", "s.json", "s.md"] {
      let options = ["--summary", name, "--ledger", "\(name).sqlite", "--adopt"]
      try world.program.run(world.run() + options)
      let text = try world.program.text(of: name)
      let persons = try ["user_id", "subscription_id", "transaction_id"].flatMap { column in
        try world.program.rows("breaks.csv").compactMap { $0[column] }
      }.filter { !$0.isEmpty }
      #expect(!persons.isEmpty && !persons.contains { text.contains($0) }, "\(name)")
      #expect(text.contains("MISSED_") || text.contains("MISSED\\_"), "\(name)")
      #expect(text.hasSuffix("\n"))
    }
  }

  @Test("Standard output gets the text, and an existing file is replaced")
  func places() throws {
    let printed = try world.program.run(world.run() + ["--summary", "-"])
    try world.program.folder.write("former\n", to: "summary.txt")
    try world.program.folder.write("broken off", to: "summary.txt.part")
    let written = try world.program.run(
      world.run() + ["--summary", "summary.txt", "--ledger", "second.sqlite", "--adopt"])
    #expect(written.output.isEmpty)
    let text = try world.program.text(of: "summary.txt")
    #expect(text == printed.output && text.contains("net_usd"))
    #expect(
      !FileManager.default.fileExists(atPath: world.program.folder.path("summary.txt.part")))
  }

  @Test("A summary that cannot be written ends with 73, and the set is published")
  func unwritable() throws {
    let result = try world.program.run(world.run() + ["--summary", "missing/summary.txt"]).ended(73)
    #expect(result.errors.contains("cannot write the summary missing/summary.txt"), "\(result)")
    #expect(result.errors.contains("the reports are published"))
    #expect(try !world.program.rows("inputs.csv").isEmpty)
  }

  @Test("A terminal gets one line with set, input, revenue, breaks and page")
  func terminal() throws {
    for (options, isPrinted) in [("", true), ("--quiet", false)] {
      let arguments = (["'\(Program.binary.path)'"] + world.run()).joined(separator: " ")
      let more = "\(options) --progress never --ledger t\(isPrinted).sqlite --adopt"
      // Reservations end it with 1.
      let command = "\(arguments) \(more) || true"
      let seen = String(
        decoding: try output(
          of: ["script", "-qec", command, "/dev/null"], in: world.program.folder.path),
        as: UTF8.self)
      let lines = seen.split(separator: "\r\n").filter { $0.hasPrefix("reports as of ") }
      #expect(lines.count == (isPrinted ? 1 : 0), "\(seen)")
      guard let line = lines.first else { continue }
      #expect(line.contains("; net revenue of "), "\(line)")
      #expect(line.contains(#/; \d+ open breaks worth \d+\.\d+ USD; /#), "\(line)")
      #expect(line.contains(/; \d+\.\d s; reports\/index\.html$/), "\(line)")
    }
  }

  @Test("A dry run writes no summary")
  func dryRun() throws {
    try world.program.run(world.run() + ["--dry-run", "--summary", "s.txt"]).ended(0, 1)
    #expect(!FileManager.default.fileExists(atPath: world.program.folder.path("s.txt")))
  }
}
