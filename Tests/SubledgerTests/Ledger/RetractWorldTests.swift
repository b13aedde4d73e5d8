import EventStore
import Foundation
import TestSupport
import Testing
import Domain

@Suite("After any retraction at any time, the ledger is consistent")
struct RetractWorldTests {
  @Test(
    "After any retractions over several runs, the world is as without those lines",
    arguments: [1, 2])
  func world(seed: Int) throws {
    let world = try World(
      seed: seed, subscribers: 40, months: 8, lost: 20_000, archives: 6,
      more: [
        "--providers", "qonversion,flobuk,iaptic,purple", "--duplicated", "60000", "--delayed",
        "60000",
      ])
    let folder = world.program.folder
    var random = SeededNumbers(seed: UInt64(seed))
    let archives = try world.archives()
    for (index, url) in archives.enumerated() {
      try folder.write(
        Array(gzip("-dc", url.path)), to: "\(index < 3 ? "first" : "then")/\(index).jsonl")
    }
    try world.publish(world.run(archives: ["first"]))
    let nights = world.run(archives: ["first", "then"])
    try world.publish(nights)
    let whole = random.below(6)
    var lines: [Int: Set<Int>] = [:]
    for _ in 0..<6 {
      let index = random.below(6)
      if index != whole { lines[index, default: []].insert(random.below(40)) }
    }
    func retract(_ target: String) throws {
      try world.program.run([
        "retract", target, "--reason", "a test", "--ledger", "reports.sqlite", "--config",
        "world/subledger.yaml",
      ]).ended(0)
    }
    try retract("\(whole).jsonl")
    for (index, numbers) in lines {
      for line in numbers { try retract("\(index).jsonl:\(line + 1)") }
    }
    try world.publish(nights)
    for index in archives.indices where index != whole {
      let path = folder.path("\(index < 3 ? "first" : "then")/\(index).jsonl")
      var text = try String(contentsOfFile: path, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      for line in lines[index] ?? [] { text[line] = "" }
      try folder.write(text.joined(separator: "\n"), to: "rest/\(index).jsonl")
    }
    try world.publish(world.run(archives: ["rest"], out: "rest-set"))
    let rest = try RetractTests.set(of: world.program, "rest-set")
    #expect(differences(try RetractTests.set(of: world.program), rest) == [])
    let path = folder.path("reports.sqlite")
    #expect(try cells(path) == cells(folder.path("rest-set.sqlite")))
    try world.program.run([
      "verify", "--replay", "--ledger", "reports.sqlite", "--out", "reports",
    ]).ended(0)
  }

  @Test("A retraction killed at any moment has happened or not, and can be repeated")
  func killed() throws {
    let program = try Program()
    let names = (1...9).map { "\($0).jsonl" }
    for (index, name) in names.enumerated() {
      try program.folder.write(bodies(30, from: 100 * index), to: "in/\(name)")
    }
    let run = ["run", "--archives", "in", "--as-of", "2026-05-01"]
    try #require(try program.run(run).status <= 1)
    let path = program.folder.path("subledger.sqlite")
    var happened: [Bool] = []
    for number in 1...8 {
      let arguments = ["retract", names[number - 1], "--reason", "a test"]
      let process = try program.start(arguments)
      // Killed at once, then at moments over the whole duration; the last one completes.
      usleep(UInt32(number - 1) * 15_000)
      if number < 8 { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
      let acts = try Ledger.open(path: path, mode: .readOnly).acts().count
      #expect([number - 1, number].contains(acts))
      happened.append(acts == number)
      try program.run(["verify"]).ended(0)
      #expect(try [0, 64].contains(program.run(arguments).status))
      #expect(try Ledger.open(path: path, mode: .readOnly).acts().count == number)
    }
    #expect(happened.first == false && happened.last == true, "\(happened)")
    try #require(try program.run(run).status <= 1)
    #expect(try program.rows("inputs.csv").count { $0["retracted"] == "30" } == 8)
  }

  @Test("Beside a damaged archive, each archive is listed as before after lines are retracted")
  func besideDamaged() throws {
    let program = try Program()
    let folder = program.folder
    try folder.write(bodies(2000), to: "x")
    let whole = try gzip("-c", folder.path("x"))
    try folder.write(Array(whole.prefix(whole.count / 2)), to: "in/x.jsonl.gz")
    try folder.write(bodies(1, from: 5000), to: "in/y.jsonl")
    try folder.write(bodies(2, from: 5001), to: "in/z.jsonl")
    let run = ["run", "--archives", "in", "--as-of", "2026-05-01"]
    func inputs() throws -> [[String: String]] {
      try program.run(run).ended(0, 1)
      return try program.rows("inputs.csv")
    }
    let before = try inputs()
    #expect(before.map { $0["status"] } == ["damaged", "complete", "complete"], "\(before)")
    for target in ["x.jsonl.gz", "y.jsonl", "z.jsonl:1"] {
      try program.run(["retract", target, "--reason", "a test"]).ended(0)
      let after = try inputs()
      #expect(after.map { $0["sha256"] } == before.map { $0["sha256"] }, "\(target): \(after)")
      #expect(after.filter { $0["retracted"] != "0" }.count == 1, "\(target): \(after)")
      try program.run(["retract", target, "--readmit", "--reason", "a test"]).ended(0)
      #expect(try inputs() == before, "\(target)")
    }
    try program.run(["verify", "--replay"]).ended(0)
  }

  @Test("When the last line of a feed is retracted, its complete numbers are restated")
  func lastOfFeed() throws {
    let program = try Program()
    for (app, first) in [("111", 1), ("222", 5)] {
      let lines = (first..<first + 4).map { number in
        var body = Body(number)
        body.members["app_id"] = "\"\(app)\""
        // The last one is in April, so that the months before it are complete.
        if number == first + 3 {
          for name in ["time", "created_at"] { body.members[name] = "1777590000" }
        }
        return body.line + "\n"
      }
      try program.folder.write(lines.joined(), to: "in/\(app).jsonl")
    }
    let run = ["run", "--archives", "in", "--as-of", "2026-05-01"]
    try program.run(run).ended(0, 1)
    try program.run(["retract", "222.jsonl", "--reason", "a test"]).ended(0)
    try program.run(run).ended(0, 1)
    let restated = try program.rows("restatements.csv").filter {
      $0["report"] == "revenue_monthly" && $0["column"] == "charges"
    }
    #expect(restated.map { $0["delta"] } == ["-3"], "\(restated)")
    #expect(restated.allSatisfy { $0["cause"] == "retraction" })
  }

  @Test("A name that several archives have is not retracted; moved, they are found all the same")
  func sameName() throws {
    let program = try Program()
    let folder = program.folder
    try folder.write(bodies(2), to: "a/x.jsonl")
    try folder.write(bodies(2, from: 5), to: "b/x.jsonl")
    try program.run(["run", "--archives", "a", "b", "--as-of", "2026-05-01"]).ended(0, 1)
    let hashes = try program.rows("inputs.csv").compactMap { $0["sha256"] }
    for target in ["x.jsonl", "x.jsonl:1"] {
      let refused = try program.run(["retract", target, "--reason", "a test"]).ended(64)
      for hash in hashes { #expect(refused.errors.contains(hash.prefix(12)), "\(refused)") }
    }
    for name in ["a", "b"] {
      let (old, new) = (folder.path(name), folder.path("moved-\(name)"))
      try FileManager.default.moveItem(atPath: old, toPath: new)
    }
    let target = try #require(hashes.last) + ":1"
    try program.run(
      ["retract", target, "--reason", "a test", "--archives", "moved-a", "moved-b"]
    ).ended(0)
    try program.run(["retract", "x.jsonl:1", "--reason", "a test"]).ended(64)
    let whole = try #require(hashes.last)
    try program.run(
      ["retract", whole, "--reason", "a test", "--archives", "moved-a", "moved-b"]
    ).ended(0)
    let again = try program.run(["retract", "x.jsonl", "--reason", "a test"]).ended(64)
    #expect(again.errors.contains("names several archives"), "\(again)")
    try program.run(["verify", "--strict", "--archives", "moved-a", "moved-b"]).ended(0)
  }
}
