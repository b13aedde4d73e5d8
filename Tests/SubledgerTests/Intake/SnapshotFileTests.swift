import Foundation
import TestSupport
import Testing

@Suite("Which snapshots a file contains, and when they were captured")
struct SnapshotFileTests {
  let program: Program

  init() throws { program = try Program(reading: bodies(3)) }

  private let person = #"{"provider":"purple","user_id":"u","entitlements":[]}"# + "\n"

  private func run(_ options: [String] = [], asOf: String = "2026-03-01") throws -> ProgramResult {
    try program.run(
      ["run", "--archives", "in", "--snapshots", "snap", "--as-of", asOf] + options)
  }

  /// Kind, status and accepted lines of each input, by name.
  private func inputs() throws -> [String] {
    let manifest = try JSONDecoder().decode(
      Package.self,
      from: Data(contentsOf: URL(fileURLWithPath: program.folder.path("reports/datapackage.json"))))
    return manifest.subledger.inputs.map { "\($0.archive) \($0.kind) \($0.status) \($0.accepted)" }
  }

  /// How many users are absent from snapshots.
  private func absent() throws -> Int {
    try program.rows("breaks.csv").count {
      $0["code"] == "SNAPSHOT_ABSENT" && $0["status"] != "resolved"
    }
  }

  private struct Package: Decodable {
    struct Input: Decodable { let archive, kind, status: String, accepted: Int }
    struct Facts: Decodable { let inputs: [Input] }
    let subledger: Facts
  }

  @Test("Unchanged bytes under the name of a later day are a newer snapshot")
  func laterName() throws {
    for day in ["2026-02-01", "2026-02-02"] {
      try program.folder.write(person, to: "snap/\(day).jsonl")
      #expect(try run().status == 0)
    }
    #expect(
      try inputs().filter { $0.contains("complete 1") && $0.contains("snapshots") }.count == 2)
    // A snapshot with its own capture time is the same under any name.
    let dated = person.replacingOccurrences(
      of: "}\n", with: #","captured_at":1769904000}"# + "\n")
    for day in ["2026-02-03", "2026-02-04"] {
      try program.folder.write(dated, to: "snap/\(day).jsonl")
      #expect(try run().status == 0)
    }
    #expect(try inputs().contains("2026-02-04.jsonl snapshots repeated 0"))
    try program.run(["verify", "--replay", "--archives", "in", "--snapshots", "snap"]).ended(0)
  }

  @Test(
    "The same bytes count again at a later --captured-at only if they were rewritten")
  func laterOption() throws {
    for (day, isAnew) in [("2026-02-01", true), ("2026-02-02", false), ("2026-02-03", true)] {
      if isAnew { try program.folder.write(person, to: "snap/people.jsonl") }
      #expect(try run(["--captured-at", day]).status == 0)
    }
    #expect(
      try inputs().filter { $0.contains("snapshots") }
        == Array(repeating: "people.jsonl snapshots complete 1", count: 2))
    try program.run(["verify", "--replay", "--archives", "in"]).ended(0)
  }

  @Test("Bytes first read as the wrong sort are read again as the right one")
  func otherSort() throws {
    try program.folder.write(person, to: "all/2026-02-01.jsonl")
    try program.folder.write(bodies(2, from: 4), to: "late/b.jsonl")
    try program.run([
      "run", "--archives", "in", "all", "--snapshots", "late", "--captured-at", "2026-02-01",
      "--as-of", "2026-03-01",
    ]).ended(0, 1)
    try program.run([
      "run", "--archives", "in", "late", "--snapshots", "all", "--as-of", "2026-03-01",
    ]).ended(0, 1)
    #expect(try inputs().contains("b.jsonl events complete 2"))
    #expect(try inputs().contains("2026-02-01.jsonl snapshots complete 1"))
  }

  @Test("A date is a day in --timezone, and a snapshot after as-of is reported")
  func zone() throws {
    try program.folder.write(person, to: "snap/people.jsonl")
    let zone = ["--timezone", "Asia/Tokyo", "--captured-at"]
    let same = try run(zone + ["2026-03-01"])
    #expect(same.status == 0 && same.errors.isEmpty, "\(same)")
    try program.folder.write(person, to: "snap/2026-03-02.jsonl")
    let later = try run(zone + ["2026-03-01"])
    #expect(later.errors.contains("2026-03-01T15:00:00Z"), "\(later)")
    #expect(later.errors.contains("after as-of"), "\(later)")
  }

  @Test(
    "Rejected snapshot lines are reported in every run, and their users are not absent")
  func rejected() throws {
    try program.folder.write("snapshots: {complete: true}\n", to: "subledger.yaml")
    func snapshots(_ users: ClosedRange<Int>, bad: ClosedRange<Int>? = nil) -> String {
      users.map { user in
        let line = #"{"provider":"purple","user_id":"x\#(user)","captured_at":1772236800"#
        let isBad = bad?.contains(user) == true
        return line + (isBad ? ",\"entitlements\":7}\n" : ",\"entitlements\":[]}\n")
      }.joined()
    }
    let qonversion = #"{"user_id":"x","captured_at":1772236800,"entitlements":{}}"# + "\n"
    try program.folder.write(qonversion + snapshots(1...9, bad: 5...5), to: "snap/a.jsonl")
    for _ in 1...2 {
      let run = try run()
      #expect(run.status == 0 && run.errors.contains("1 of 10 lines of "), "\(run)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
      #expect(try absent() == 0)
    }
    try program.folder.write(snapshots(1...60, bad: 21...60), to: "snap/b.jsonl")
    for _ in 1...2 {
      let run = try run()
      #expect(run.status == 1 && run.errors.contains("41 of 70 lines of 2 files"), "\(run)")
      #expect(run.errors.contains(", at line 21)"))
    }
    #expect(try program.rows("rejects.csv").isEmpty)
    try program.folder.write(qonversion + snapshots(1...60), to: "snap/c.jsonl")
    let whole = try run()
    #expect(whole.errors.isEmpty, "\(whole)")
    #expect(try absent() > 0)
    try program.run(["verify", "--replay", "--archives", "in", "--snapshots", "snap"]).ended(0)
  }

  @Test("A damaged file of snapshots is reported, and users are not absent because of it")
  func damaged() throws {
    try program.folder.write("snapshots: {complete: true}\n", to: "subledger.yaml")
    let whole = (1...2000).map {
      #"{"user_id":"x\#($0 &* 2_654_435_761)","captured_at":1772236800,"entitlements":{}}"# + "\n"
    }.joined()
    try program.folder.write(whole, to: "snap/people.jsonl")
    try output(of: ["gzip", "people.jsonl"], in: program.folder.path("snap"))
    let file = URL(fileURLWithPath: program.folder.path("snap/people.jsonl.gz"))
    let bytes = try Data(contentsOf: file)
    try bytes.prefix(bytes.count / 2).write(to: file)
    let torn = try run()
    #expect(torn.errors.contains("people.jsonl.gz is damaged at byte"), "\(torn)")
    #expect(try absent() == 0)
    try bytes.write(to: file)
    let again = try run()
    #expect(!again.errors.contains("damaged"), "\(again)")
    #expect(try absent() > 0)
  }
}
