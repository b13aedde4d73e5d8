import Foundation
import EventStore
import TestSupport
import Testing

@Suite("A backup is a complete ledger")
struct BackupTests {
  let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  @Test("A backup publishes what the ledger publishes, is private, and replaces no file")
  func whole() throws {
    #expect(try program.run(["backup", "b.sqlite"]).status == 66)
    try program.run(run)
    try program.run(["backup", "b.sqlite"]).ended(0)
    let files = try FileManager.default.contentsOfDirectory(atPath: program.folder.path(""))
    #expect(files.filter { $0.hasPrefix("b.sqlite") } == ["b.sqlite"])
    let path = program.folder.path("b.sqlite")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let again = try program.run(["backup", "b.sqlite"]).ended(73)
    #expect(again.errors.contains("it exists"))
    for (ledger, out) in [("subledger.sqlite", "one"), ("b.sqlite", "other")] {
      let arguments = ["report", "--as-of", "2026-03-01", "--ledger", ledger, "--out", out]
      #expect(try program.run(arguments).status == 0)
    }
    #expect(
      differences(try program.published(in: "one"), try program.published(in: "other")).isEmpty)
  }

  @Test("A part left by a killed backup is reported")
  func part() throws {
    try program.run(run)
    try program.folder.write("", to: "b.sqlite.part")
    let result = try program.run(["backup", "b.sqlite"]).ended(73)
    #expect(result.errors.contains("b.sqlite.part: File exists"), "\(result)")
    #expect(result.errors.contains("remove what a failed one left"), "\(result)")
  }

  @Test("A restored backup next to the log of a killed run is refused until the log is removed")
  func besideForeignLog() throws {
    try program.run(run)
    try program.run(["backup", "b.sqlite"])
    try program.folder.write(bodies(1500, from: 100), to: "in/b.jsonl")
    try program.run(run)
    let (path, log) = (program.folder.path("subledger.sqlite"), "subledger.sqlite-wal")
    try leaveLog(of: path, at: program.folder.path("log"))
    // The log of a killed run is continued with its own ledger.
    try copy("log", to: log)
    let carried = try program.run(run)
    #expect(carried.status == 0 && carried.errors.isEmpty, "\(carried)")
    try copy("b.sqlite", to: "subledger.sqlite")
    try copy("log", to: log)
    for arguments in [run, run + ["--dry-run"]] {
      let refused = try program.run(arguments).ended(65)
      #expect(refused.errors.contains("ledger.sqlite-wal, which an interrupted run left"))
      #expect(refused.errors.contains("remove that log"))
    }
    #expect(try bytes("subledger.sqlite") == bytes("b.sqlite"))
    #expect(try bytes(log) == bytes("log"))
    for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
    let later = try program.run(run)
    #expect(later.status == 73 && later.errors.contains("--adopt"), "\(later)")
    try program.run(run + ["--adopt"]).ended(0)
    #expect(try program.rows("inputs.csv").map { $0["accepted"] } == ["3", "1500"])
  }

  /// Copies the log that a run killed while writing the ledger at `path` would leave.
  private func leaveLog(of path: String, at target: String) throws {
    let ledger = try Ledger.open(path: path, mode: .readWrite)
    try ledger.rows(sql: "update archive set modified_ms = modified_ms + 1") { _ in }
    try FileManager.default.copyItem(atPath: path + "-wal", toPath: target)
  }

  private func copy(_ name: String, to other: String) throws {
    try? FileManager.default.removeItem(atPath: program.folder.path(other))
    try FileManager.default.copyItem(
      atPath: program.folder.path(name), toPath: program.folder.path(other))
  }

  private func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: program.folder.path(name)))
  }

  @Test("A backup needs no lock, and reports a missing folder")
  func unhindered() throws {
    try program.run(run)
    let lock = open(program.folder.path("subledger.sqlite.lock"), O_RDWR)
    try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
    defer { close(lock) }
    #expect(try program.run(["backup", "while.sqlite"]).status == 0)
    let missing = try program.run(["backup", "nowhere/b.sqlite"]).ended(73)
    #expect(missing.errors.contains("check the folder"))
    try FileManager.default.createSymbolicLink(
      atPath: program.folder.path("link"), withDestinationPath: "nowhere")
    try program.run(["backup", "link"]).ended(73)
  }
}
