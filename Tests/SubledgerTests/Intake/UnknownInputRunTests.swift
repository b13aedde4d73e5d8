import Foundation
import TestSupport
import Testing

@Suite("A run lists unknown names in its input")
struct UnknownInputRunTests {
  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  @Test("A renamed event is listed with its first line, and the warning explains how to map it")
  func renamed() throws {
    let program = try Program()
    let lines = bodies(3)
    let renamed = lines.replacing("subscription_started", with: "my_start")
      .replacing("subscription_renewed", with: "my_start")
    #expect(renamed != lines)
    try program.folder.write(lines, to: "in/a.jsonl")
    let known = try program.run(run)
    #expect(known.status == 0 && !known.errors.contains("Unknown"))
    #expect(try program.rows("unknown_input.csv").isEmpty)
    try program.folder.write("\n" + renamed, to: "in/b.jsonl")
    try program.folder.write(renamed, to: "in/c.jsonl")
    let warned = try program.run(run)
    #expect(warned.errors.contains("event_names: {\"my_start\": KIND}"), "\(warned)")
    let row = try #require(try program.rows("unknown_input.csv").first)
    #expect(row["provider"] == "qonversion" && row["what"] == "event_name")
    #expect(row["name"] == "my_start" && row["first_archive"] == "b.jsonl")
    #expect(row["first_line"] == "2" && row["lines"] == "6")
    let quiet = try program.run(run)
    #expect(!quiet.errors.contains("Unknown"), "only the run that reads them warns")
  }
}
