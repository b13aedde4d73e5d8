import Foundation
import TestSupport
import Testing

@Suite("A link to a ledger works as the ledger itself")
struct LinkedLedgerTests {
  let program: Program

  init() throws {
    program = try Program()
    let folder = program.folder
    try folder.write(bodies(3), to: "in/a.jsonl")
    try folder.write("", to: "volume/place")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("ledger"), withDestinationPath: "volume/real.sqlite")
    for count in [3, 5] {
      try folder.write(bodies(count), to: "in/a.jsonl")
      try program.run(run).ended(0)
    }
  }

  private let run = [
    "run", "--archives", "in", "--ledger", "ledger", "--as-of", "2026-03-01",
  ]

  private func real() throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: program.folder.path("volume/real.sqlite")))
  }

  @Test(
    "Commands that work on a copy leave the ledger unchanged",
    arguments: [
      ["report", "--at-run", "1", "--out", "again"],
      ["run", "--archives", "more", "--dry-run", "--as-of", "2026-03-01"],
      ["pack", "2026-02", "--out", "p.tar.gz"], ["verify"],
    ])
  func copies(arguments: [String]) throws {
    try program.folder.write(bodies(9), to: "more/b.jsonl")
    let before = try real()
    try program.run(arguments + ["--ledger", "ledger"]).ended(0)
    #expect(try real() == before)
  }

  @Test("A linked ledger has one lock, and reports the size of its file")
  func lockAndSize() throws {
    let folder = program.folder
    #expect(FileManager.default.fileExists(atPath: folder.path("volume/real.sqlite.lock")))
    #expect(!FileManager.default.fileExists(atPath: folder.path("ledger.lock")))
    let status = try program.run(["status", "--ledger", "ledger"])
    #expect(status.output.contains("\nbytes                   \(try real().count)\n"), "\(status)")
    let lock = open(folder.path("volume/real.sqlite.lock"), O_RDWR)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(try program.run(run).status == 75)
  }
}
