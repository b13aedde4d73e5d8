import Foundation
import TestSupport
import Testing

@Suite("A backup is a ledger of its own")
struct BackupTests {
  let program: Program

  init() throws {
    program = try Program()
    try program.folder.write(bodies(3), to: "in/a.jsonl")
  }

  private let night = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  @Test("It publishes what the ledger publishes, is for its owner alone, and replaces nothing")
  func whole() throws {
    #expect(try program.run(["backup", "b.sqlite"]).status == 66)
    try program.run(night)
    let made = try program.run(["backup", "b.sqlite"])
    #expect(made.status == 0, "\(made)")
    let files = try FileManager.default.contentsOfDirectory(atPath: program.folder.path(""))
    #expect(files.filter { $0.hasPrefix("b.sqlite") } == ["b.sqlite"])
    let path = program.folder.path("b.sqlite")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let again = try program.run(["backup", "b.sqlite"])
    #expect(again.status == 73)
    #expect(again.errors.contains("it exists"))
    for (ledger, out) in [("subledger.sqlite", "one"), ("b.sqlite", "other")] {
      let arguments = ["report", "--as-of", "2026-03-01", "--ledger", ledger, "--out", out]
      #expect(try program.run(arguments).status == 0)
    }
    #expect(
      differences(try program.published(in: "one"), try program.published(in: "other")).isEmpty)
  }

  @Test("A part that a dead one has left is named")
  func part() throws {
    try program.run(night)
    try program.folder.write("", to: "b.sqlite.part")
    let result = try program.run(["backup", "b.sqlite"])
    #expect(result.status == 74)
    #expect(result.errors.contains("b.sqlite.part: File exists"), "\(result)")
    #expect(result.errors.contains("one that died has left it"), "\(result)")
  }

  @Test("It needs no lock, and a folder that is not there leaves nothing behind")
  func unhindered() throws {
    try program.run(night)
    let lock = open(program.folder.path("subledger.sqlite.lock"), O_RDWR)
    try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
    defer { close(lock) }
    #expect(try program.run(["backup", "while.sqlite"]).status == 0)
    let missing = try program.run(["backup", "nowhere/b.sqlite"])
    #expect(missing.status == 74)
    #expect(missing.errors.contains("check the folder"))
  }
}
