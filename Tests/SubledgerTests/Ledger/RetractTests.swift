import EventStore
import Foundation
import TestSupport
import Testing
import Domain

@Suite("Retracted lines have no effect, as if they had never been read")
struct RetractTests {
  private let program: Program

  init() throws { program = try Program() }

  private static let lines = ["a.jsonl": bodies(3), "b.jsonl": bodies(1, from: 4)]

  /// A purchase in April, so that the months before it are complete.
  private static let later = {
    var body = Body(99)
    body.members["time"] = "1777590000"
    body.members["created_at"] = "1777590000"
    return body.line + "\n"
  }()

  private func write(_ files: [String: String], to folder: String = "in") throws {
    try program.folder.write(Self.later, to: "\(folder)/later.jsonl")
    for (name, text) in files { try program.folder.write(text, to: "\(folder)/\(name)") }
  }

  private func run(
    _ archives: String = "in", _ out: String = "reports", asOf: String = "2026-05-01",
    snapshots: String? = nil
  ) throws {
    let inputs = ["--archives", archives] + (snapshots.map { ["--snapshots", $0] } ?? [])
    let options = ["--as-of", asOf, "--ledger", "\(out).sqlite", "--out", out]
    try program.run(["run"] + inputs + options).ended(0, 1)
  }

  private func retract(_ target: String, _ more: [String] = []) throws -> ProgramResult {
    try program.run(
      ["retract", target, "--reason", "a test", "--ledger", "reports.sqlite"] + more)
  }

  private func prove() throws {
    try program.run(["verify", "--replay", "--ledger", "reports.sqlite", "--out", "reports"])
      .ended(0)
  }

  private func input(_ name: String) throws -> [String: String] {
    try program.rows("inputs.csv").first { $0["archive"] == name } ?? [:]
  }

  /// The files that differ from those of a ledger that read only `files`.
  private func changes(from files: [String: String]) throws -> [String] {
    let name = "other"
    try write(files, to: name)
    try run(name, "\(name)-set")
    return differences(try Self.set(of: program), try Self.set(of: program, "\(name)-set"))
  }

  /// A set without its history: of files that depend on arrival, only the counts of deliveries.
  static func set(
    of program: Program, _ out: String = "reports"
  ) throws -> [String: Data] {
    var files = try timeless(program, out, withResolved: false)
    files.merge(try program.published(in: out).filter { $0.key.hasPrefix("deliveries_daily") }) {
      $1
    }
    files["breaks.csv"] = files["breaks.csv"].map {
      Data(String(decoding: $0, as: UTF8.self).replacing("=reopened\n", with: "=open\n").utf8)
    }
    return files
  }

  /// A charge of 999.00 instead of the one of `number`.
  private func wrong(_ number: Int) -> String {
    var body = Body(number)
    body.members["revenue"] = Body.money("999.00", rate: 70)
    body.members["created_at"] = "1772280000"
    return body.line + "\n"
  }

  @Test("A retracted line vanishes, closes stay, the restatement has its cause, and verify passes")
  func line() throws {
    try write(["a.jsonl": bodies(3), "b.jsonl": wrong(4) + bodies(1, from: 5)])
    try run()
    try program.run(["close", "2026-02", "--ledger", "reports.sqlite"]).ended(0)
    let result = try retract("b.jsonl:1").ended(0)
    #expect(result.output.contains("b.jsonl:1 is retracted: it has events of 2026-02"))
    for _ in 0..<2 {
      try prove()
      try run()
    }
    #expect(try changes(from: ["a.jsonl": bodies(3), "b.jsonl": "\n" + bodies(1, from: 5)]) == [])
    let restated = try program.rows("restatements.csv").filter { $0["column"] == "gross_usd" }
    #expect(restated.map { $0["delta"] } == ["-999.00"], "\(restated)")
    #expect(restated.allSatisfy { $0["cause"] == "retraction" && $0["published_by_run"] == "1" })
    #expect(try input("b.jsonl")["skipped"] == "1" && input("b.jsonl")["retracted"] == "1")
    #expect(try input("a.jsonl")["retracted"] == "0")
    let explained = try program.run([
      "explain", "revenue_monthly", "period=2026-02", "gross_usd", "--ledger", "reports.sqlite",
    ])
    #expect(explained.output.contains("b.jsonl line 1 is retracted: a test"), "\(explained)")
    let status = try program.run(["status", "--ledger", "reports.sqlite"])
    #expect(status.output.contains("retract"))
    for _ in 0..<2 {
      let previous = try program.run([
        "report", "--at-run", "1", "--ledger", "reports.sqlite", "--out", "again",
      ])
      #expect(previous.errors.contains("lines were retracted since run 1"), "\(previous)")
      #expect([0, 1].contains(previous.status), "\(previous)")
    }
  }

  @Test(
    "Users that nothing else names are removed, unless a break names them",
    arguments: [("2026-03-15", false), ("2026-05-01", true)])
  func users(asOf: String, haveBreaks: Bool) throws {
    try write(Self.lines)
    try run(asOf: asOf)
    try #require(try retract("b.jsonl").status == 0)
    var users: [String] = []
    let path = program.folder.path("reports.sqlite")
    try Ledger.open(path: path, mode: .readOnly).rows(sql: "select id from user order by id") {
      users.append($0.text(0))
    }
    #expect(users == ["QON_1", "QON_2", "QON_3"] + (haveBreaks ? ["QON_4"] : []) + ["QON_99"])
  }

  @Test("A retraction is the cause only for its own rows; a late month has another cause")
  func ownRow() throws {
    try write(["a.jsonl": bodies(3), "b.jsonl": wrong(4)])
    try run()
    try #require(try retract("b.jsonl").status == 0)
    var late = Body(9)
    late.members["product_id"] = "\"com.example.pro.yearly\""
    try write(["c.jsonl": late.line])
    try run()
    let causes = Dictionary(
      grouping: try program.rows("restatements.csv").filter { $0["report"] == "revenue_monthly" },
      by: { $0["cause"] ?? "" })
    #expect(Set(causes.keys) == ["retraction", "late_event"], "\(causes)")
    #expect(causes["late_event"]?.allSatisfy { $0["key"]?.contains("yearly") == true } == true)
  }

  @Test("A retraction is the cause in every time zone of published sets")
  func zones() throws {
    // March in UTC, February in Los Angeles.
    try write(["a.jsonl": bodies(1), "b.jsonl": Body(2, at: 1_772_330_400).line])
    try run()
    let west = ["SUBLEDGER_TIMEZONE": "America/Los_Angeles", "SUBLEDGER_LEDGER": "reports.sqlite"]
    let again = ["run", "--archives", "in", "--as-of", "2026-05-01T00:00:00Z"]
    try program.run(again, environment: west).ended(0, 1)
    try #require(try retract("b.jsonl").status == 0)
    try run()
    let restated = try program.rows("restatements.csv").filter { $0["column"] == "gross_usd" }
    #expect(restated.map { $0["cause"] } == ["retraction"], "\(restated)")
  }

  @Test("The next run restates a retraction with its cause, also as of the same time")
  func sameTime() throws {
    try write(["a.jsonl": bodies(3), "b.jsonl": wrong(4)])
    try run()
    try #require(try retract("b.jsonl").status == 0)
    for _ in 0..<2 {
      try run()
      let restated = try program.rows("restatements.csv").filter { $0["column"] == "gross_usd" }
      #expect(restated.map { $0["delta"] } == ["-999.00"], "\(restated)")
      #expect(restated.allSatisfy { $0["cause"] == "retraction" && $0["published_by_run"] == "1" })
    }
  }

  @Test("Other archives' versions and duplicates of the same events count")
  func otherVersions() throws {
    try write(["a.jsonl": wrong(1) + bodies(1, from: 2), "b.jsonl": bodies(3)])
    try run()
    try #require(try retract("a.jsonl").status == 0)
    try run()
    #expect(try changes(from: ["b.jsonl": bodies(3)]) == [])
    #expect(try input("b.jsonl")["accepted"] == "3" && input("a.jsonl")["retracted"] == "2")
    let conflicts = try program.rows("breaks.csv").filter { $0["code"] == "CONFLICT" }
    #expect(conflicts.map { $0["status"] } == ["resolved"])
  }

  @Test("The same bytes are not read again under any name or time until they are readmitted")
  func readmitted() throws {
    try write(Self.lines)
    try run()
    let before = try Self.set(of: program)
    try #require(try retract("b.jsonl").status == 0)
    try write(["b.jsonl": Self.lines["b.jsonl"] ?? "", "copy.jsonl": Self.lines["b.jsonl"] ?? ""])
    try run()
    #expect(try input("copy.jsonl")["status"] == "repeated")
    #expect(try changes(from: ["a.jsonl": bodies(3)]) == [])
    let sum = try #require(try input("b.jsonl")["sha256"])
    try retract(String(sum.prefix(8)), ["--readmit"]).ended(0)
    try run()
    #expect(differences(try Self.set(of: program), before) == [])
    #expect(try input("b.jsonl")["accepted"] == "1" && input("b.jsonl")["retracted"] == "0")
    try prove()
  }

  @Test("The same lines packed differently are left out and reported; with more lines, they count")
  func repacked() throws {
    try write(Self.lines)
    try run()
    try #require(try retract("b.jsonl").status == 0)
    try program.folder.write(
      Array(gzip("-nc", program.folder.path("in/b.jsonl"))), to: "in/copy.jsonl.gz")
    let result = try program.run([
      "run", "--archives", "in", "--as-of", "2026-05-01", "--ledger", "reports.sqlite",
    ])
    #expect(result.errors.contains("holds the lines of b.jsonl, which is retracted"), "\(result)")
    let copy = try input("copy.jsonl.gz")
    #expect(copy["status"] == "repeated" && copy["lines"] == "0", "\(copy)")
    #expect(try changes(from: ["a.jsonl": bodies(3)]) == [])
    try prove()
    try write(["more.jsonl": bodies(2, from: 4)])
    try run()
    #expect(try input("more.jsonl")["accepted"] == "2")
  }

  @Test("An invalid target, a missing reason, a repeated or an early retraction changes nothing")
  func refused() throws {
    try write(["a.jsonl": bodies(2) + "\n", "b.jsonl": bodies(1, from: 3)])
    try run()
    let path = program.folder.path("reports.sqlite")
    func isRefused(_ target: String, _ status: Int32, _ words: String, _ more: [String] = [])
      throws -> Bool
    {
      let result = try retract(target, more)
      return result.status == status && result.errors.contains(words)
    }
    #expect(try isRefused("c.jsonl", 64, "no archive of the ledger"))
    #expect(try isRefused("c.jsonl:1", 64, "no archive of the ledger"))
    for line in [3, 4] {
      #expect(try isRefused("a.jsonl:\(line)", 64, "line \(line) of a.jsonl holds no value"))
    }
    #expect(try isRefused("a.jsonl:0", 64, "no archive of the ledger"))
    #expect(try isRefused("a.jsonl", 64, "is not retracted", ["--readmit"]))
    try program.run(["retract", "a.jsonl", "--reason", " ", "--ledger", "reports.sqlite"]).ended(64)
    do {
      let lock = try LedgerLock.acquire(ledgerPath: path, waitSeconds: 0)
      #expect(try isRefused("a.jsonl", 75, "another run holds it"))
      withExtendedLifetime(lock) {}
    }
    try FileManager.default.moveItem(
      atPath: program.folder.path("in/b.jsonl"), toPath: program.folder.path("b.jsonl"))
    #expect(try isRefused("a.jsonl", 66, "1 archive missing: b.jsonl"))
    #expect(try isRefused("a.jsonl:1", 66, "1 archive missing: b.jsonl"))
    let moved = ["--archives", "in", "b.jsonl"]
    #expect(try retract("a.jsonl", moved + ["--dry-run"]).status == 0)
    #expect(try Ledger.open(path: path, mode: .readOnly).acts().isEmpty)
    #expect(try retract("a.jsonl:2", moved).status == 0)
    #expect(try isRefused("a.jsonl:2", 64, "is retracted already", moved))
    // The archive itself may be missing.
    try FileManager.default.removeItem(atPath: program.folder.path("in/a.jsonl"))
    #expect(try retract("a.jsonl", moved).status == 0)
    #expect(try isRefused("a.jsonl:1", 64, "is retracted already", moved))
    #expect(
      try Ledger.open(path: path, mode: .readOnly).acts().map(\.action) == [.retract, .retract])
  }

  @Test("A file of snapshots and its lines are retracted like others")
  func snapshots() throws {
    func snapshot(_ user: Int, _ active: Bool) -> String {
      #"{"user_id":"QON_\#(user)","captured_at":1774000000,"entitlements":[{"id":"pro","#
        + #""product_id":"com.example.pro.monthly","active":\#(active),"expires_at":1774612800,"#
        + #""transactions":[{"transaction_id":"77\#(user)","original_transaction_id":"77\#(user)","#
        + #""type":"renewal","transaction_at":1772200000}]}]}"# + "\n"
    }
    try write(["a.jsonl": bodies(3)])
    try write(["s.jsonl": snapshot(1, true) + snapshot(2, true)], to: "snap")
    try run(snapshots: "snap")
    let users = { (out: String) in
      Set(
        try program.rows("breaks.csv", in: out)
          .filter { $0["status"] != "resolved" && $0["code"] == "MISSED_PURCHASE" }
          .map { $0["user_id"] ?? "" })
    }
    #expect(try users("reports") == ["QON_1", "QON_2"])
    try #require(try retract("s.jsonl:1").status == 0)
    try run(snapshots: "snap")
    try write(["s.jsonl": "\n" + snapshot(2, true)], to: "other-snap")
    try run("in", "other", snapshots: "other-snap")
    #expect(try users("reports") == ["QON_2"] && users("other") == ["QON_2"])
    try #require(try retract("s.jsonl").status == 0)
    try run(snapshots: "snap")
    #expect(try users("reports").isEmpty)
    try prove()
    try #require(try retract("s.jsonl", ["--readmit"]).status == 0)
    try write(["s.jsonl": bodies(1, from: 7)])
    try run(snapshots: "snap")
    try #require(try retract("s.jsonl").output.contains("events of"))
    try run(snapshots: "snap")
    #expect(try users("reports").contains("QON_2"), "a name means events first")
  }
}
