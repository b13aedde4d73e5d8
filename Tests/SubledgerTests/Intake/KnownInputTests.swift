import Foundation
import TestSupport
import Testing

@Suite("Input is recognized by its bytes")
struct KnownInputTests {
  private let program: Program

  init() throws { program = try Program() }

  @Test("Known snapshots under another name are input that was already read")
  func snapshots() throws {
    func snapshot(_ captured: String) -> String {
      #"{"provider":"purple","user_id":"u","entitlements":[]\#(captured)}"# + "\n"
    }
    let known = snapshot(#","captured_at":"2026-02-01T00:00:00Z""#)
    try program.folder.write(known, to: "snap/a.jsonl")
    let run = ["run", "--snapshots", "snap", "--as-of", "2026-03-01"]
    #expect(try program.run(run).status == 0)
    try FileManager.default.removeItem(atPath: program.folder.path("snap/a.jsonl"))
    try program.folder.write(known, to: "snap/b.jsonl")
    try program.folder.write(snapshot(""), to: "snap/undated.jsonl")
    let result = try program.run(run).ended(0)
    #expect(result.errors.contains("undated.jsonl is left out"), "\(result)")
  }

  @Test("Progress reaches the end in a run with only known bytes")
  func progress() throws {
    let run = ["run", "--archives", "in", "--as-of", "2026-03-01", "--progress", "always"]
    try program.folder.write(bodies(3), to: "in/a.jsonl")
    for name in ["a", "b"] {
      let result = try program.run(run)
      #expect(result.status == 0, "\(name): \(result)")
      #expect(result.errors.hasSuffix("writing reports  7/7\n"), "\(name): \(result)")
      try program.folder.write(bodies(3), to: "in/b.jsonl")
    }
  }
}
