import Foundation
import TestSupport
import Testing

@Suite("Programs can read the log")
struct LogLineTests {
  @Test("A JSON log line has the run, step, code and subject")
  func fields() throws {
    let program = try Program()
    let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]
    try program.folder.write("PK\u{3}\u{4}", to: "in/packed.zip")
    try program.folder.write(String(bodies(9).dropLast(40)), to: "in/torn.jsonl")
    let lines = try program.run(run + ["--verbose", "--log-format", "json"]).errors
      .split(separator: "\n").map { line in
        try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
      }
    let damage = try #require(lines.first { $0["code"] == "archive_damaged" })
    #expect(damage["archive"] == "in/torn.jsonl" && damage["level"] == "warning")
    #expect(damage["run"] == "1" && damage["stage"] == "archives")
    let foreign = try #require(lines.first { $0["code"] == "file_unreadable" })
    #expect(foreign["archive"] == "in/packed.zip" && foreign["level"] == "error")
    let read = try #require(lines.first { $0["code"] == "read" })
    #expect(read["archives_damaged"] == "1" && read["lines"] == "8", "\(read)")
    let published = try #require(lines.first { $0["code"] == "published" })
    #expect(published["stage"] == "reports" && published["breaks"] == "0")
    let failed = try program.run(["run", "--archives", "gone", "--log-format", "json"]).errors
    #expect(failed.contains("\"code\":\"66\""))
  }
}
