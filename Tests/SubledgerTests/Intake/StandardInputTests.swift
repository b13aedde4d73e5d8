import Foundation
import TestSupport
import Testing

@Suite("Standard input as an archive")
struct StandardInputTests {
  private let program: Program

  init() throws { program = try Program() }

  /// Runs the program in a shell after `source`, such as a pipe.
  private func run(
    _ arguments: String, behind source: String, wrapped: [String] = ["sh", "-c"]
  ) throws -> (status: Int32, output: String) {
    let command = "\(source) SUBLEDGER_AS_OF=2026-03-01 '\(Program.binary.path)' \(arguments) 2>&1"
    let result = try execute(wrapped + [command], in: program.folder.path)
    return (result.status, String(decoding: result.output, as: UTF8.self))
  }

  @Test(
    "Input from a pipe, plain or packed, is read like a file, and recognized when repeated")
  func pipe() throws {
    let path = try program.folder.write(bodies(200), to: "a.jsonl")
    let counts = { try program.rows("inputs.csv").map { [$0["archive"], $0["accepted"]] } }
    #expect(try run("run --archives -", behind: "cat a.jsonl |") == (0, ""))
    #expect(try counts() == [["standard input", "200"]])
    let again = try run("run --archives - --verbose", behind: "cat a.jsonl |")
    #expect(again.status == 0 && again.output.contains("holds the same bytes"), "\(again)")
    try program.folder.write(Array(gzip("-nc", path)), to: "a.gz")
    #expect(try run("run --archives -", behind: "cat a.gz |") == (0, ""))
    #expect(try counts().compactMap { Int($0[1] ?? "") }.reduce(0, +) == 200)
    try program.folder.write(bodies(201), to: "a.jsonl")
    #expect(try run("run --archives - --min-age 60", behind: "<a.jsonl") == (0, ""))
    #expect(
      try program.rows("inputs.csv").reduce(0) { $0 + (Int($1["accepted"] ?? "") ?? 0) } == 201)
    let left = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
    #expect(
      Set(left).isSubset(of: [
        "a.jsonl", "a.gz", "subledger.sqlite", "subledger.sqlite.lock", "reports",
      ]), "\(left)")
  }

  @Test("Snapshots can be piped, too; repeating -, a terminal and a full disk are refused")
  func refused() throws {
    let snapshot = #"{"user_id":"u","captured_at":"2026-02-28T00:00:00Z","entitlements":[]}"#
    try program.folder.write(snapshot + "\n", to: "s.jsonl")
    try program.folder.write(bodies(2), to: "a.jsonl")
    #expect(try run("ingest --archives a.jsonl --snapshots -", behind: "cat s.jsonl |").status == 0)
    #expect(try program.run(["status"]).output.contains(#/snapshots +1 /#))
    let twice = try run("run --archives - --snapshots -", behind: "cat a.jsonl |")
    #expect(twice.status == 64 && twice.output.contains("- is given twice"), "\(twice)")
    let terminal = try run("run --archives - --ledger t", behind: "", wrapped: ["script", "-qec"])
    #expect(terminal.status == 64 && terminal.output.contains("terminal"), "\(terminal)")
    let full = try run("run --archives -", behind: "cat a.jsonl | TMPDIR=/nowhere")
    #expect(full.status == 74 && full.output.contains("TMPDIR"), "\(full)")
  }
}
