import Foundation
import TestSupport
import Testing

@Suite("Damaged input is salvaged, counted and reported")
struct DamageTests {
  let program: Program

  init() throws { program = try Program() }

  private let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]

  private func inputs() throws -> [String: [String: String]] {
    Dictionary(
      uniqueKeysWithValues: try program.rows("inputs.csv").map { ($0["archive"] ?? "", $0) })
  }

  private func charges() throws -> Int {
    try program.rows("revenue_monthly.csv").reduce(0) { $0 + (Int($1["charges"] ?? "") ?? 0) }
  }

  private func packed(_ text: String) throws -> [UInt8] {
    let path = try program.folder.write(text, to: "unpacked")
    return try Array(gzip("-nc", path))
  }

  @Test("A truncated archive counts up to the cut; once complete, the rest is added")
  func cutOff() throws {
    let whole = try packed(bodies(200))
    try program.folder.write(Array(whole.prefix(whole.count * 2 / 3)), to: "in/a.gz")
    let first = try program.run(run).ended(0)
    #expect(first.errors.contains("in/a.gz is damaged at byte"))
    let row = try #require(try inputs()["a.gz"])
    let salvaged = try charges()
    #expect(row["status"] == "damaged")
    #expect((20..<200).contains(salvaged))
    #expect(row["accepted"] == "\(salvaged)")
    try program.folder.write(whole, to: "in/a.gz")
    try program.run(run).ended(0)
    #expect(try charges() == 200)
    #expect(try program.deliveries() == [200, 200, 0])
    let proof = try program.run(["verify", "--replay", "--strict"]).ended(0)
    #expect(proof.output.contains("holds    replay.reports"))
  }

  @Test("A growing file delivers only what is new, including the rest of a truncated line")
  func growing() throws {
    let text = bodies(30) + bodies(1)
    for end in [text.utf8.count / 3, text.utf8.count - 5, text.utf8.count] {
      try program.folder.write(Array(text.utf8.prefix(end)), to: "in/a.jsonl")
      #expect(try program.run(run).status <= 1)
    }
    #expect(try program.deliveries() == [31, 30, 1])
    try program.folder.write(text + bodies(1, from: 90), to: "in/a.jsonl")
    try program.run(["verify", "--strict"]).ended(0)
    // Different bytes under the same name are new deliveries.
    try program.folder.write(bodies(1) + text, to: "in/a.jsonl")
    #expect(try program.run(run).status <= 1)
    #expect(try program.deliveries() == [63, 30, 33])
  }

  @Test("A plain file read in the middle of a line is damaged, and rejects nothing")
  func caught() throws {
    let text = bodies(30)
    try program.folder.write(bodies(5, from: 100), to: "in/b.jsonl")
    for end in [text.utf8.count / 3, text.utf8.count / 2, text.utf8.count - 2] {
      try program.folder.write(Array(text.utf8.prefix(end)), to: "in/a.jsonl")
      let result = try program.run(run).ended(0)
      let damage = "in/a.jsonl is damaged at byte \(end): the file ends inside a JSON value"
      #expect(result.errors.contains(damage), "\(result)")
    }
    try program.folder.write(text, to: "in/a.jsonl")
    let whole = try program.run(run)
    #expect(whole.status == 0 && whole.errors.isEmpty, "\(whole)")
    #expect(try charges() == 35)
    let rows = try program.rows("inputs.csv").filter { $0["archive"] == "a.jsonl" }
    #expect(rows.map { $0["status"] } == ["complete"])
    #expect(rows.first?["lines"] == "30" && rows.first?["duplicates"] == "0")
    #expect(try program.rows("rejects.csv").isEmpty)
    #expect(try program.run(["verify", "--replay", "--strict"]).status == 0)
  }

  @Test("A torn archive is replayed with its own limits, and only as far as it was read")
  func tornByOtherLimits() throws {
    var long = Body(50)
    long.members["properties"] = "{\"a\":\"\(String(repeating: "x", count: 4000))\"}"
    let text = bodies(3) + long.line + "\n" + bodies(3, from: 60)
    for (share, limit) in [(text.utf8.count - 100, 3000), (text.utf8.count, 16_777_216)] {
      try program.folder.write("limits: {value_bytes: \(limit)}\n", to: "subledger.yaml")
      try program.folder.write(Array(text.utf8.prefix(share)), to: "in/a.jsonl")
      #expect(try program.run(run).status == 0)
    }
    #expect(try charges() == 6, "what was read is not read again")
    let proof = try program.run(["verify", "--replay", "--strict"]).ended(0)
    #expect(proof.output.contains("holds    replay.reports"))
  }

  @Test("Content found twice in a run counts once in the summary and in status")
  func twice() throws {
    try program.folder.write(bodies(3), to: "in/a.jsonl")
    try program.folder.write(bodies(3), to: "in/b.jsonl")
    let result = try program.run(run + ["--verbose"])
    #expect(
      result.errors.contains("1 archive read, 1 known, 0 damaged; 3 lines: 3 accepted"),
      "\(result)")
    let status = try program.run(["status"])
    #expect(status.output.contains(#/events +2 +1 +0 +3 +3 /#), "\(status)")
    #expect(status.output.contains(#/snapshots +0 +0 +0 /#), "\(status)")
  }

  @Test("Nothing in a member that zlib refuses counts, however far another library reads it")
  func refused() throws {
    try program.folder.write(bodies(5), to: "in/a.jsonl")
    try program.folder.write(refusedGzip(bodies(2500, from: 100)), to: "in/b.gz")
    try program.folder.write(bodies(7, from: 5000), to: "in/c.jsonl")
    let result = try program.run(run).ended(0, 1)
    let inputs = try inputs()
    #expect(inputs["b.gz"]?["status"] == "damaged")
    #expect(["a.jsonl", "b.gz", "c.jsonl"].map { inputs[$0]?["accepted"] } == ["5", "0", "7"])
    #expect(inputs["b.gz"]?["lines"] == "0")
    #expect(try charges() == 12)
    #expect(result.errors.contains("the whole lines before it count"))
  }

  @Test("An archive with a wrong byte in the middle counts up to it")
  func wrongByte() throws {
    var member = try packed(bodies(400))
    member[member.count / 2] ^= 0xFF
    member[member.count / 2 + 1] ^= 0xFF
    try program.folder.write(member, to: "in/a.gz")
    try program.folder.write(bodies(5, from: 1000), to: "in/b.jsonl")
    try program.run(run).ended(0, 1)
    let salvaged = try charges() - 5
    #expect(try inputs()["a.gz"]?["status"] == "damaged")
    #expect(try inputs()["b.jsonl"]?["accepted"] == "5")
    #expect((20..<400).contains(salvaged))
    #expect(try inputs()["a.gz"]?["accepted"] == "\(salvaged)")
  }

  @Test("Only garbage ends with 65, and nothing is published")
  func garbage() throws {
    let noise = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 >> 3) }
    try program.folder.write(noise, to: "in/noise.bin")
    let result = try program.run(run).ended(65)
    #expect(result.errors.contains("could be understood"))
    // Nothing is published by the next run, either.
    let again = try program.run(run)
    #expect(again.status == 66 && again.errors.contains("there is nothing to read"), "\(again)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports")))
  }

  @Test("A file of snapshots without a capture time is left out with a warning in every run")
  func undatedSnapshots() throws {
    let dated =
      #"{"provider":"qonversion","user_id":"QON_1","captured_at":1772308800,"entitlements":[]}"#
    let undated = #"{"provider":"qonversion","user_id":"QON_2","entitlements":[]}"#
    try program.folder.write(bodies(60), to: "in/a.jsonl")
    try program.folder.write(dated + "\n", to: "snap/a.jsonl")
    try program.folder.write("\(dated)\n\(undated)\n", to: "snap/b.jsonl")
    let both = run + ["--snapshots", "snap"]
    for read in ["1 snapshot, 0 rejected; 1 file", "0 snapshots, 0 rejected; 1 file"] {
      let result = try program.run(both + ["--verbose"]).ended(0)
      #expect(result.errors.contains("snap/b.jsonl is left out"))
      #expect(result.errors.contains("--captured-at"))
      #expect(result.errors.contains("\(read) of snapshots refused"))
    }
    #expect(try charges() == 60)
    let reported = try program.run(both + ["--captured-at", "2026-02-28", "--verbose"])
    #expect(
      reported.status == 0 && reported.errors.contains("2 snapshots, 0 rejected\n"), "\(reported)")
  }

  @Test("If a file of snapshots without a time is the only input, the run ends with 65")
  func onlyUndatedSnapshots() throws {
    let undated = #"{"provider":"qonversion","user_id":"QON_2","entitlements":[]}"#
    try program.folder.write(undated + "\n", to: "snap/a.jsonl")
    try FileManager.default.createDirectory(
      atPath: program.folder.path("in"), withIntermediateDirectories: true)
    try program.run(run + ["--snapshots", "snap"]).ended(65)
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("reports")))
  }

  @Test("Garbage next to good lines is listed by line, and qualifies the set if there is much")
  func garbageBesideGood() throws {
    try program.folder.write(bodies(3000), to: "in/good.jsonl")
    try program.folder.write("nonsense\n{\"half\":\n\u{1}\n", to: "in/odd.jsonl")
    try program.run(run).ended(0)
    let rejects = try program.rows("rejects.csv")
    #expect(!rejects.isEmpty)
    #expect(rejects.allSatisfy { $0["archive"] == "odd.jsonl" })
    #expect(try !program.text(of: "reports/rejects.csv").contains("nonsense"))
    let worse = bodies(1, from: 4000) + String(repeating: "nonsense\n", count: 40)
    try program.folder.write(worse, to: "in/worse.jsonl")
    let many = try program.run(run).ended(1)
    #expect(many.errors.contains("published with reservations"))
    #expect(try charges() == 3001)
  }

  @Test("Members of wrong types reject their whole line and no other")
  func wrongTypes() throws {
    let wrong = [
      "time": "\"soon\"", "transaction": "[1]", "revenue": "\"9.99\"", "user_id": "{}",
      "created_at": "true", "environment": "7",
    ]
    var text = bodies(2000)
    for (number, member) in wrong.sorted(by: { $0.key < $1.key }).enumerated() {
      var body = Body(5000 + number)
      body.members[member.key] = member.value
      text += body.line + "\n"
    }
    text += "[]\n12\n\"text\"\nnull\n{}\n"
    try program.folder.write(text, to: "in/a.jsonl")
    try program.run(run).ended(0)
    let row = try #require(try inputs()["a.jsonl"])
    #expect(row["lines"] == "2011")
    #expect(row["accepted"] == "2000")
    let (skipped, rejected) = (Int(row["skipped"] ?? "") ?? 0, Int(row["rejected"] ?? "") ?? 0)
    #expect(skipped + rejected == 11)
    #expect(rejected >= wrong.count)
    #expect(try charges() == 2000)
  }

  @Test("Of many rejected lines all are counted, and the first 1000 per reason are listed")
  func flood() throws {
    let flood = String(repeating: "[1]\n", count: 2500)
    try program.folder.write(bodies(2) + flood + "no\nno\n" + bodies(1, from: 3), to: "in/a")
    try program.folder.write(flood.prefix(4000) + "no\n", to: "in/b")
    #expect(try program.run(run).status == 1)
    #expect(try inputs()["a"]?["rejected"] == "2502")
    #expect(try inputs()["b"]?["rejected"] == "1001")
    let rows = try program.rows("rejects.csv")
    let lists = Dictionary(grouping: rows.filter { $0["reason"] == "not_an_object" }) {
      $0["archive"]
    }
    #expect(lists["a"]?.compactMap { $0["line"] } == (3...1002).map { "\($0)" })
    #expect(lists["b"]?.count == 1000)
    let reported = rows.filter { $0["detail"]?.contains("not listed") == true }
    #expect(reported.map { $0["line"] } == ["1002"])
    let end = "; 1500 more lines of this reason are not listed"
    #expect(reported.first?["detail"]?.hasSuffix(end) == true)
    #expect(rows.count { $0["reason"] == "not_json" } == 3)
    try program.run(["verify", "--replay"]).ended(0)
  }

  @Test("A value of 20 MB is rejected as too long, and adjacent values count")
  func tooLong() throws {
    var long = Body(7)
    long.members["properties"] = "{\"a\":\"\(String(repeating: "x", count: 20_000_000))\"}"
    try program.folder.write(
      bodies(3) + long.line + "\n" + bodies(3, from: 10), to: "in/a.jsonl")
    try program.run(run).ended(0)
    let rejects = try program.rows("rejects.csv")
    #expect(rejects.map { $0["reason"] } == ["value_too_long"])
    #expect(rejects.map { $0["line"] } == ["4"])
    #expect(try charges() == 6)
  }

  @Test("Byte order marks, CRLF, blank lines, glued objects and a missing newline are accepted")
  func quirks() throws {
    let lines = (1...6).map { Body($0).line }
    let text =
      "\u{FEFF}\(lines[0])\r\n\r\n\n\(lines[1])\(lines[2]) \(lines[3])\r\n\(lines[4])\n\(lines[5])"
    try program.folder.write(text, to: "in/a.jsonl")
    let members = try packed("\u{FEFF}" + Body(7).line + "\n") + packed("\u{FEFF}" + Body(8).line)
    try program.folder.write(members, to: "in/b")
    try program.run(run).ended(0)
    #expect(try inputs()["a.jsonl"]?["accepted"] == "6")
    #expect(try inputs()["b"]?["accepted"] == "2")
    #expect(try program.rows("rejects.csv").isEmpty)
    #expect(try charges() == 8)
  }
}
