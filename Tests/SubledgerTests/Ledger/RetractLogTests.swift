import Foundation
import TestSupport
import Testing

@Suite("Lines of a growing log are retracted from a ledger")
struct RetractLogTests {
  private let program: Program
  private let lines = bodies(160).split(separator: "\n").map { $0 + "\n" }

  /// A log of 40, 93 and 133 lines, the last compressed under another name, and later more.
  init() throws {
    program = try Program()
    for count in [40, 93] {
      try program.folder.write(lines.prefix(count).joined(), to: "in/app.log")
      try run()
    }
    try FileManager.default.removeItem(atPath: program.folder.path("in/app.log"))
    try pack([133])
  }

  /// Packs the lines up to each of `ends` as one member.
  private func pack(_ ends: [Int]) throws {
    let members = try zip([0] + ends, ends).flatMap { start, end in
      try gzip("-nc", program.folder.write(lines[start..<end].joined(), to: "unpacked"))
    }
    try program.folder.write(members, to: "in/app.log.1.gz")
    try run()
  }

  private func run() throws {
    try program.run(["run", "--archives", "in", "--as-of", "2026-03-01"]).ended(0, 1)
  }

  private func retract(_ target: String, _ more: [String] = []) throws -> ProgramResult {
    try program.run(["retract", target, "--reason", "a test"] + more)
  }

  /// Lines, accepted, duplicates, skipped and retracted of each input.
  private func inputs() throws -> [[String]] {
    let columns = ["lines", "accepted", "duplicates", "skipped", "retracted"]
    return try program.rows("inputs.csv").map { row in columns.map { row[$0] ?? "" } }
  }

  private func prove() throws {
    let proof = try program.run(["verify", "--replay", "--archives", "in"])
    #expect(proof.status == 0 && proof.output.contains("holds    replay.reports"), "\(proof)")
  }

  @Test("A line is retracted from the whole log under all its names, even when it grows")
  func line() throws {
    #expect(try inputs() == [["133", "133", "0", "0", "0"]])
    try retract("app.log.1.gz:50").ended(0)
    try run()
    #expect(try inputs() == [["133", "132", "0", "1", "1"]])
    try prove()
    for name in ["app.log", "app.log.1.gz", "app.log; app.log.1.gz"] {
      let again = try retract("\(name):50")
      #expect(again.status == 64 && again.errors.contains("is retracted already"), "\(again)")
    }
    let outside = try retract("app.log:134")
    #expect(outside.status == 64 && outside.errors.contains("holds no value"), "\(outside)")
    try pack([133, 160])
    #expect(try inputs() == [["160", "159", "0", "1", "1"]])
    try prove()
    try #require(try retract("app.log:50", ["--readmit"]).status == 0)
    try run()
    #expect(try inputs() == [["160", "160", "0", "0", "0"]])
    try prove()
  }

  @Test("A single part is refused with the names of the whole; a grown log is read again")
  func whole() throws {
    for name in ["app.log", "app.log.1.gz"] {
      let part = try retract(name)
      #expect(part.status == 64 && part.errors.contains("app.log; app.log.1.gz"), "\(part)")
    }
    try #require(try retract("app.log; app.log.1.gz").status == 0)
    try run()
    #expect(try inputs() == [["133", "0", "0", "133", "133"]])
    try pack([133, 160])
    #expect(
      try Set(inputs()) == [["133", "0", "0", "133", "133"], ["160", "160", "0", "0", "0"]])
    try prove()
  }

  @Test("The only line of an archive is retracted, although another file has the same content")
  func copy() throws {
    let line = bodies(1, from: 900)
    let packed = try gzip("-nc", program.folder.write(line, to: "unpacked"))
    try program.folder.write(Array(packed), to: "in/b.jsonl.gz")
    try run()
    try program.folder.write(line, to: "in/c.jsonl")
    try run()
    try retract("c.jsonl:1").ended(0)
    try run()
    #expect(try inputs().contains(["1", "0", "0", "1", "1"]))
    try prove()
  }
}
