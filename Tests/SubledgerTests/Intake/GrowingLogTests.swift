import Foundation
import TestSupport
import Testing

@Suite("A log that grows, is renamed and is compressed")
struct GrowingLogTests {
  private let program: Program
  private let lines = bodies(160).split(separator: "\n").map { $0 + "\n" }

  init() throws { program = try Program() }

  private func head(_ count: Int) -> String { lines.prefix(count).joined() }

  private func packed(_ text: String, _ level: Int = 6) throws -> [UInt8] {
    try Array(gzip("-nc\(level)", try program.folder.write(text, to: "unpacked")))
  }

  private func run() throws {
    let result = try program.run(["run", "--archives", "in", "--as-of", "2026-03-01"])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
  }

  private func rename(_ name: String, _ other: String) throws {
    try FileManager.default.moveItem(
      atPath: program.folder.path("in/\(name)"), toPath: program.folder.path("in/\(other)"))
  }

  /// Name, lines, accepted, duplicates, skipped, rejected and status of each input.
  private func inputs() throws -> [[String]] {
    let columns = [
      "archive", "lines", "accepted", "duplicates", "skipped", "rejected", "status",
    ]
    return try program.rows("inputs.csv").map { row in columns.map { row[$0] ?? "" } }
  }

  @Test("A log that is renamed and compressed is one input, and its lines are delivered once")
  func rotated() throws {
    for count in [40, 93, 133] {
      try program.folder.write(head(count), to: "in/app.log")
      try run()
    }
    try rename("app.log", "app.log.1")
    try run()
    try FileManager.default.removeItem(atPath: program.folder.path("in/app.log.1"))
    try program.folder.write(try packed(head(160)), to: "in/app.log.1.gz")
    try run()
    try rename("app.log.1.gz", "app.log.2.gz")
    try run()
    let names = "app.log; app.log.1; app.log.1.gz; app.log.2.gz"
    #expect(try inputs() == [[names, "160", "160", "0", "0", "0", "complete"]])
    #expect(try program.deliveries() == [160, 160, 0])
    let proof = try program.run(["verify", "--replay", "--strict", "--archives", "in"])
    #expect(proof.status == 0 && proof.output.contains("holds    replay.reports"), "\(proof)")
  }

  @Test("A log that one run finds in several sizes is one input")
  func copies() throws {
    try program.folder.write(head(40), to: "in/1.log")
    try program.folder.write(head(93), to: "in/2.log")
    try program.folder.write(try packed(head(93)), to: "in/3.log.gz")
    try program.folder.write(try packed(head(160)), to: "in/4.log.gz")
    try run()
    let names = "1.log; 2.log; 3.log.gz; 4.log.gz"
    #expect(try inputs() == [[names, "160", "160", "0", "0", "0", "complete"]])
    #expect(try program.deliveries() == [160, 160, 0])
  }

  @Test(
    "A packed log is the same input when it appears plain or packed differently, grown or not",
    arguments: [40, 53], [true, false])
  func packedFirst(count: Int, atOnce: Bool) throws {
    try program.folder.write(try packed(head(40)), to: "in/1.gz")
    if !atOnce { try run() }
    try program.folder.write(head(count), to: "in/2.log")
    try program.folder.write(try packed(head(count), 1), to: "in/3.gz")
    try run()
    let counts = ["\(count)", "\(count)", "0", "0", "0", "complete"]
    #expect(try inputs() == [["1.gz; 2.log; 3.gz"] + counts])
    #expect(try program.deliveries() == [count, count, 0])
    try FileManager.default.removeItem(atPath: program.folder.path("in/1.gz"))
    for arguments in [
      ["verify", "--replay", "--strict", "--archives", "in"],
      ["retract", "2.log:40", "--reason", "a test", "--archives", "in"],
    ] {
      try program.run(arguments).ended(0)
    }
    try run()
    let retracted = ["\(count)", "\(count - 1)", "0", "1", "0", "complete"]
    #expect(try inputs() == [["1.gz; 2.log; 3.gz"] + retracted])
  }

  @Test("The refused lines of a log are listed once, with the line that had no end yet")
  func refusedLines() throws {
    let other = #"{"a":1}"# + String(repeating: " ", count: 200) + "\n"
    try program.folder.write(head(40) + other + String(lines[40].dropLast()), to: "in/a.log")
    try run()
    try program.folder.write(
      head(40) + other + lines[40] + lines[41], to: "in/a.log")
    try run()
    #expect(try inputs() == [["a.log", "43", "42", "0", "0", "1", "complete"]])
    #expect(try program.rows("rejects.csv").map { $0["line"] } == ["41"])
    #expect(try program.deliveries() == [42, 42, 0])
  }

  @Test(
    "A log that grew by less than a line is published with a warning, and read on",
    arguments: [false, true])
  func brokenEnd(isPacked: Bool) throws {
    func write(_ count: Int, cut: Int = 0) throws {
      var bytes = isPacked ? try packed(head(40)) : Array(head(40).utf8)
      let rest = lines[40..<count].joined()
      bytes += (isPacked && !rest.isEmpty ? try packed(rest) : Array(rest.utf8)).dropLast(cut)
      try program.folder.write(bytes, to: "in/a.log")
    }
    try write(40)
    try run()
    try write(41, cut: 20)
    let warned = try program.run(["run", "--archives", "in", "--as-of", "2026-03-02"]).ended(0)
    #expect(warned.errors.contains("the whole lines before it count"), "\(warned)")
    #expect(try program.text(of: "reports/datapackage.json").contains("2026-03-02T00:00:00Z"))
    try write(42)
    try program.run(["run", "--archives", "in", "--as-of", "2026-03-03"]).ended(0)
    #expect(try program.deliveries() == [42, 42, 0])
  }

  @Test("A file with only the same first lines is another input, and they are delivered twice")
  func otherLog() throws {
    try program.folder.write(head(40), to: "in/a.log")
    try run()
    try program.folder.write(head(39) + lines[50] + lines[51], to: "in/b.log")
    try run()
    #expect(
      try inputs() == [
        ["a.log", "40", "40", "0", "0", "0", "complete"],
        ["b.log", "41", "2", "39", "0", "0", "complete"],
      ])
    #expect(try program.deliveries() == [81, 42, 39])
  }

  @Test("A file as long as a packed log is another input if its last line differs")
  func otherEnd() throws {
    let long = bodies(2000).split(separator: "\n").map { $0 + "\n" }
    try #require(long.joined().utf8.count > 1 << 20)
    try #require(long[1999].utf8.count == long[1998].utf8.count)
    try program.folder.write(try packed(long.dropLast().joined()), to: "in/a.gz")
    try run()
    try program.folder.write((long.dropLast(2) + long.suffix(1)).joined(), to: "in/b.log")
    try run()
    #expect(
      try inputs() == [
        ["a.gz", "1999", "1999", "0", "0", "0", "complete"],
        ["b.log", "1999", "1", "1998", "0", "0", "complete"],
      ])
  }
}
