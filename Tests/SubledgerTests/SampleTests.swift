import Foundation
import TestSupport
import Testing

@Suite("What a newcomer sees is what the program does")
struct SampleTests {
  private let program: Program
  private let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  init() throws { program = try Program() }

  private func path(_ name: String) -> String { root.appendingPathComponent(name).path }

  @Test("reports/ is what comes of sample-data/, byte for byte")
  func reports() throws {
    let result = try program.run([
      "run", "--archives", path("sample-data/archives"), "--snapshots",
      path("sample-data/snapshots"), "--config", path("sample-data/subledger.yaml"), "--prices",
      path("sample-data/prices.csv"), "--as-of", "2026-03-01",
    ])
    #expect(result.status == 0, "\(result)")
    let different = differences(
      try filesAndBytes(under: path("reports")), try program.published())
    #expect(different.isEmpty, "run `make run` and read what changed")
  }

  @Test("sample-data/ is what its script makes")
  func sample() throws {
    let copy = program.folder.path("sample-data")
    try FileManager.default.copyItem(atPath: path("sample-data"), toPath: copy)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "\(copy)/make.sh")
    process.arguments = [Program.binary.path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(
      differences(try filesAndBytes(under: path("sample-data")), try filesAndBytes(under: copy))
        .isEmpty)
  }

  @Test("Each odd line comes to what sample-data/README.md says")
  func oddLines() throws {
    let name = "sample-data/archives/odd-lines.jsonl"
    try program.run(["run", "--archives", path(name), "--as-of", "2026-03-01"])
    let row = try #require(try program.rows("inputs.csv").first)
    let counts = ["lines", "accepted", "duplicates", "skipped", "rejected"].map { row[$0] }
    #expect(counts == ["14", "6", "2", "2", "4"])
    let rejects = try program.rows("rejects.csv").map {
      "\($0["line"] ?? "") \($0["reason"] ?? "")"
    }
    #expect(rejects == ["10 not_json", "11 not_json", "12 unknown_provider", "13 bad_time"])
  }

  @Test("Each line of the other providers comes to what sample-data/README.md says")
  func otherProviders() throws {
    let name = "sample-data/archives/other-providers.jsonl"
    try program.run(["run", "--archives", path(name), "--as-of", "2026-03-01"])
    let row = try #require(try program.rows("inputs.csv").first)
    let counts = ["lines", "accepted", "duplicates", "skipped", "rejected"].map { row[$0] }
    #expect(counts == ["10", "6", "1", "2", "1"])
    #expect(try program.rows("rejects.csv").map { $0["reason"] } == ["error_response"])
  }

  @Test("What README.md prints is what its commands print")
  func printed() throws {
    let readme = try String(contentsOfFile: path("README.md"), encoding: .utf8)
    var blocks = 0
    for block in readme.components(separatedBy: "```\n$ ").dropFirst() {
      let lines = block.prefix(while: { $0 != "`" }).split(separator: "\n")
      let (command, expected) = (String(lines[0]), lines.dropFirst().joined(separator: "\n"))
      let process = Process()
      let pipe = Pipe()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", command]
      process.currentDirectoryURL = root
      process.standardOutput = pipe
      try process.run()
      let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(String(decoding: output, as: UTF8.self) == expected + "\n", "\(command)")
      blocks += 1
    }
    #expect(blocks > 0)
  }

  @Test("Every option that README.md and docs/ name is one", arguments: ["README.md", "docs"])
  func options(place: String) throws {
    let commands = [
      "run", "ingest", "report", "verify", "pack", "status", "simulate", "close",
      "reopen", "forget", "prune",
    ]
    let known = try commands.map { try program.run([$0, "--help"]).output }.joined()
    let files = place.hasSuffix(".md") ? [place] : ["docs/operations.md", "docs/verify.md"]
    for file in files {
      let text = try String(contentsOfFile: path(file), encoding: .utf8)
      for line in text.split(separator: "\n") where line.contains("subledger ") {
        for word in line.split(whereSeparator: { " `".contains($0) }) where word.hasPrefix("--") {
          #expect(known.contains(word), "\(file): \(line)")
        }
      }
    }
  }
}
