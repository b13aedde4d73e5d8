import Foundation
import TestSupport
import Testing

@Suite("The sample and the documents match the program")
struct SampleTests {
  private let program: Program

  init() throws { program = try Program() }

  @Test("reports/ is the result of sample-data/, byte for byte")
  func reports() throws {
    try program.run(Program.sampleRun).ended(0)
    let different = differences(
      try filesAndBytes(under: Project.path("reports")), try program.published())
    #expect(different.isEmpty, "run `make run` and read what changed")
  }

  @Test("No two rows of a file have the same key")
  func keys() throws {
    let manifest = try Data(
      contentsOf: URL(fileURLWithPath: Project.path("reports/datapackage.json")))
    let package = try #require(try JSONSerialization.jsonObject(with: manifest) as? [String: Any])
    let resources = try #require(package["resources"] as? [[String: Any]])
    var compared = 0
    for resource in resources {
      let schema = resource["schema"] as? [String: Any]
      guard let path = resource["path"] as? String,
        let key = schema?["primaryKey"] as? [String], !key.isEmpty
      else { continue }
      let rows = try readCSV(Project.path("reports/\(path)"))
      let values = rows.map { row in key.map { row[$0] ?? "" } }
      #expect(Set(values).count == rows.count, "\(path)")
      compared += rows.count
    }
    #expect(compared > 1_000)
  }

  @Test("sample-data/ is the output of its script")
  func sample() throws {
    let copy = program.folder.path("sample-data")
    try FileManager.default.copyItem(atPath: Project.path("sample-data"), toPath: copy)
    try output(of: ["\(copy)/make.sh", Program.binary.path])
    #expect(
      differences(
        try filesAndBytes(under: Project.path("sample-data")), try filesAndBytes(under: copy)
      )
      .isEmpty)
  }

  @Test("Each unusual line has the result in sample-data/README.md")
  func oddLines() throws {
    let name = "sample-data/archives/odd-lines.jsonl"
    try program.run(["run", "--archives", Project.path(name), "--as-of", "2026-03-01"])
    let row = try #require(try program.rows("inputs.csv").first)
    let counts = ["lines", "accepted", "duplicates", "skipped", "rejected"].map { row[$0] }
    #expect(counts == ["14", "6", "2", "2", "4"])
    let rejects = try program.rows("rejects.csv").map {
      "\($0["line"] ?? "") \($0["reason"] ?? "")"
    }
    #expect(rejects == ["10 not_json", "11 not_json", "12 unknown_provider", "13 bad_time"])
  }

  @Test("Each line of the other providers has the result in sample-data/README.md")
  func otherProviders() throws {
    let name = "sample-data/archives/other-providers.jsonl"
    try program.run(["run", "--archives", Project.path(name), "--as-of", "2026-03-01"])
    let row = try #require(try program.rows("inputs.csv").first)
    let counts = ["lines", "accepted", "duplicates", "skipped", "rejected"].map { row[$0] }
    #expect(counts == ["10", "6", "1", "2", "1"])
    #expect(try program.rows("rejects.csv").map { $0["reason"] } == ["error_response"])
  }

  @Test("README.md prints what its commands print")
  func printed() throws {
    let readme = try Project.text(of: "README.md")
    var blocks = 0
    for block in readme.components(separatedBy: "```\n$ ").dropFirst() {
      let lines = block.prefix(while: { $0 != "`" }).split(separator: "\n")
      let (command, expected) = (String(lines[0]), lines.dropFirst().joined(separator: "\n"))
      let printed = try output(of: ["sh", "-c", command], in: Project.root.path)
      #expect(String(decoding: printed, as: UTF8.self) == expected + "\n", "\(command)")
      blocks += 1
    }
    #expect(blocks > 0)
  }

  @Test("Every command option in README.md and docs/ exists")
  func options() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Project.path("docs"))
    var known: [String: Set<Substring>] = [:]
    var checked = 0
    for file in names.filter({ $0.hasSuffix(".md") }).map({ "docs/\($0)" }) + ["README.md"] {
      let text = try Project.text(of: file)
        .replacing("\\\n", with: " ")
      let calls = /subledger ((?:config |fetch |stage )?[a-z]+)( [^`\n|;&#]*)/
      for call in text.matches(of: calls) {
        let command = String(call.1)
        let options = call.2.matches(of: /--[a-z][a-z-]*/).map(\.0)
        if options.isEmpty { continue }
        if known[command] == nil {
          let help = try program.run(command.split(separator: " ").map(String.init) + ["--help"])
          #expect(help.status == 0, "\(file): \(call.0)")
          known[command] = Set(help.output.matches(of: /--[a-z][a-z-]*/).map(\.0))
        }
        for option in options {
          #expect(known[command]?.contains(option) == true, "\(file): \(call.0)")
        }
        checked += 1
      }
    }
    #expect(checked > 20)
  }
}
