import Foundation
import TestSupport
import Testing

@Suite("Results depend on what happened, not on how it arrived")
struct PropertyTests {
  @Test("Other names and another order of files give the same reports")
  func shuffledFiles() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    for (index, url) in try world.archives().enumerated() {
      // Reversed, with meaningless names, in separate folders.
      let name = "other/\(String(UnicodeScalar(UInt8(122 - index))))/\(index * 7 % 14).log"
      try world.program.folder.write(Array(Data(contentsOf: url)), to: name)
    }
    try world.publish(world.run(archives: ["other"], out: "shuffled"))
    let (left, right) = (try timeless(world.program), try timeless(world.program, "shuffled"))
    #expect(left.count > 20)
    #expect(differences(left, right).isEmpty)
  }

  @Test("Lines redistributed over plain and packed files give the same reports")
  func resplitLines() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    var hands = [[UInt8]](repeating: [], count: 5)
    var number = 0
    for url in try world.archives() {
      for line in try gzip("-dc", url.path).split(separator: UInt8(ascii: "\n")) {
        // Any distribution works if it is always the same.
        number = (number * 31 + line.count) % 9973
        hands[number % 5] += line + [UInt8(ascii: "\n")]
      }
    }
    for (index, hand) in hands.enumerated() {
      let path = try world.program.folder.write(hand, to: "dealt/\(index).jsonl")
      guard index % 2 == 1 else { continue }
      try world.program.folder.write(Array(gzip("-nc", path)), to: "dealt/\(index).gz")
      try FileManager.default.removeItem(atPath: path)
    }
    try world.publish(world.run(archives: ["dealt"], out: "dealt-reports"))
    #expect(
      differences(try timeless(world.program), try timeless(world.program, "dealt-reports"))
        .isEmpty)
  }

  @Test("Archives repeated as copies and line by line add nothing")
  func everythingTwice() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    for url in try world.archives() {
      let name = url.lastPathComponent
      try world.program.folder.write(Array(Data(contentsOf: url)), to: "again/copy-\(name)")
      let lines = try gzip("-dc", url.path)
      try world.program.folder.write(Array(lines), to: "again/\(name).jsonl")
    }
    try world.publish(world.run(archives: ["world/archives", "again"], out: "twice"))
    #expect(differences(try timeless(world.program), try timeless(world.program, "twice")).isEmpty)
    let inputs = try world.program.rows("inputs.csv", in: "twice")
    #expect(inputs.count == 14)
    #expect(inputs.allSatisfy { $0["archive"]?.split(separator: "; ").count == 3 })
    let before = try world.program.rows("inputs.csv")
    #expect(inputs.map { $0["accepted"] } == before.map { $0["accepted"] })
  }

  @Test("Several runs with advancing as-of end like one run over everything")
  func manyRuns() throws {
    let world = try World(seed: 6, subscribers: 150, lost: 5_000)
    try world.publish(world.run(out: "once"))
    let archives = try world.archives()
    let runs = [(4, "2025-06-01"), (9, "2025-10-15"), (14, world.asOf)]
    for (count, asOf) in runs {
      for url in archives.prefix(count) {
        try world.program.folder.write(
          Array(Data(contentsOf: url)), to: "arrived/\(url.lastPathComponent)")
      }
      try world.publish(world.run(archives: ["arrived"], out: "nightly", asOf: asOf))
    }
    let once = try timeless(world.program, "once", withResolved: false)
    let incremental = try timeless(world.program, "nightly", withResolved: false)
    #expect(differences(once, incremental).isEmpty)
  }

  @Test("One worker and four workers publish identical bytes")
  func jobs() throws {
    let world = try World(seed: 2, subscribers: 150)
    try world.publish(world.run(out: "one") + ["--jobs", "1"])
    try world.publish(world.run(out: "four") + ["--jobs", "4"])
    let (one, four) = (
      try world.program.published(in: "one"), try world.program.published(in: "four")
    )
    #expect(one.count > 20)
    #expect(differences(one, four).isEmpty)
  }

  @Test("Repeating a run or a report changes no byte and no file")
  func secondRun() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    let (before, files) = (try world.program.published(), try inodes(world, "reports"))
    try world.publish(world.run())
    #expect(differences(before, try world.program.published()).isEmpty)
    #expect(try inodes(world, "reports") == files)
    try world.publish([
      "report", "--config", "world/subledger.yaml", "--as-of", world.asOf, "--ledger",
      "reports.sqlite", "--out", "reports",
    ])
    #expect(
      differences(before, try world.program.published()).allSatisfy {
        ["datapackage.json", "SHA256SUMS"].contains($0)
      })
  }

  @Test("An earlier as-of after a later one gives the same as by itself")
  func backInTime() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    try world.publish(world.run(out: "fresh", asOf: "2025-09-01"))
    try world.publish([
      "report", "--config", "world/subledger.yaml", "--as-of", "2025-09-01", "--ledger",
      "reports.sqlite", "--out", "back",
    ])
    let different = differences(
      try timeless(world.program, "fresh"), try timeless(world.program, "back"))
    #expect(different.isEmpty)
  }

  @Test("The checksums are those of the published files")
  func checksums() throws {
    let world = try World(seed: 2, subscribers: 150, isPublished: true)
    try output(
      of: ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"],
      in: world.program.folder.path("reports"))
    let sums = try world.program.text(of: "reports/SHA256SUMS")
    #expect(sums.count { $0 == "\n" } == (try world.program.published().count) - 1)
  }

  /// The inode of each published file: a rewritten file has another one.
  private func inodes(_ world: World, _ out: String) throws -> [String: Int] {
    var numbers: [String: Int] = [:]
    for name in try world.program.published(in: out).keys {
      let path = world.program.folder.path("\(out)/\(name)")
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      numbers[name] = attributes[.systemFileNumber] as? Int
    }
    return numbers
  }
}
