import Foundation
import EventStore
import TestSupport
import Testing

@Suite("Verify reports every change")
struct VerifyTests {
  private let program: Program

  /// Some runs of a small world, with conflicts, late copies, snapshots and decisions.
  init() throws { program = try RandomRuns.lived(seed: 11).world.program }

  @Test("Ledger, archives and set are intact, and nothing is written")
  func holds() throws {
    let before = try files()
    let result = try verify().ended(0)
    let lines = result.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(lines.count > 12)
    #expect(lines.allSatisfy { $0.hasPrefix("holds ") }, "\(result)")
    #expect(try files() == before)
  }

  @Test("With --quiet, only what does not hold is worth lines")
  func quiet() throws {
    let result = try verify("--quiet")
    #expect(result.status == 0 && result.output.isEmpty, "\(result)")
    try flip("reports/revenue_monthly.csv")
    let damaged = try verify("--quiet")
    #expect(damaged.status == 65 && damaged.output.contains("damaged  "), "\(damaged)")
  }

  @Test("The archives alone give the same events and reports, and a lost event is reported")
  func replay() throws {
    let whole = try verify("--replay").ended(0)
    #expect(whole.output.contains("holds    replay.events"))
    #expect(whole.output.contains("holds    replay.reports"))
    try alter("delete from lineage where key = (select min(key) from lineage where counted > 0)")
    let lost = try verify("--replay").ended(70)
    #expect(lost.output.contains("differs  replay.events"))
    #expect(lost.output.contains(": 0 events, but the archives contain "))
    try FileManager.default.removeItem(atPath: program.folder.path("arrived"))
    #expect(try verify("--replay").output.contains("missing: "))
  }

  @Test("The replay uses the capture times that a file name or an option gave")
  func captureTimes() throws {
    let one = try Program(reading: bodies(3))
    let line = #"{"provider":"qonversion","user_id":"u-1","entitlements":[]}"# + "\n"
    try one.folder.write(line, to: "seen/2026-01-31/users-2026-02-20.jsonl")
    try one.folder.write(line.replacing("u-1", with: "u-2"), to: "seen/2026-01-31/users.jsonl")
    // A name that is not UTF-8 is found again by its printed form.
    let move = "mv in/a.jsonl \"in/$(printf 'a\\377b\\nc').jsonl\""
    try output(of: ["sh", "-c", move], in: one.folder.path)
    let run = [
      "run", "--archives", "in", "--snapshots", "seen", "--captured-at", "2026-02-25T06:00:00Z",
    ]
    #expect([0, 1].contains(try one.run(run + ["--as-of", "2026-03-01"]).status))
    let proof = try one.run(["verify", "--replay", "--strict"]).ended(0)
    #expect(proof.output.contains("holds    replay.reports"))
  }

  @Test("An archive whose bytes exist under another name is not missing")
  func copied() throws {
    let one = try Program()
    for name in ["in/a.jsonl", "in/b.jsonl"] {
      try one.folder.write(bodies(3), to: name)
      try one.run(["run", "--archives", "in", "--as-of", "2026-03-01"]).ended(0, 1)
    }
    try FileManager.default.removeItem(atPath: one.folder.path("in/a.jsonl"))
    let whole = try one.run(["verify", "--strict", "--replay"])
    #expect(whole.status == 0 && whole.output.contains("holds    replay.reports"), "\(whole)")
    try one.folder.write(bodies(4), to: "in/b.jsonl")
    let grown = try one.run(["verify", "--strict"])
    #expect(grown.status == 0, "what it began with is in it: \(grown)")
    try one.folder.write(bodies(4, from: 50), to: "in/b.jsonl")
    let other = try one.run(["verify", "--strict"])
    #expect(other.status == 65 && other.output.contains("a.jsonl"), "\(other)")
  }

  @Test("A flipped byte in a report, checksums or an archive is reported, as is a missing archive")
  func damagedFiles() throws {
    try flip("reports/churn_monthly.csv")
    let report = try verify().ended(65)
    #expect(report.output.contains("churn_monthly.csv was changed after publication"))
    try flip("reports/churn_monthly.csv")
    try flip("reports/SHA256SUMS")
    #expect(try verify().status == 65)
    try flip("reports/SHA256SUMS")
    try flip("arrived/night-1.jsonl")
    let archive = try verify().ended(65)
    #expect(archive.output.contains("night-1.jsonl"))
    try FileManager.default.removeItem(atPath: program.folder.path("arrived/night-1.jsonl"))
    let gone = try verify().ended(0)
    #expect(gone.output.contains("1 missing: night-1.jsonl"))
    #expect(try verify("--strict").status == 65)
  }

  @Test(
    "A changed cell, break or run is reported by table",
    arguments: [
      ("update movement_cell set subscriptions = subscriptions + 1", "movement_cell: month "),
      ("update break_episode set evidence = evidence || '.'", "break_episode: some of the"),
      ("update run set as_of_ms = as_of_ms - 1 where id = 1", "run 1: the record"),
      ("delete from run_part where run = 1 and part = 'archive'", "run 1: the record"),
      ("update archive set accepted = accepted + 1, lines = lines + 1", "archive: some of the"),
      ("update failed_attempt set at_ms = at_ms + 1", "failed_attempt: some of the"),
      ("update string set value = 'XXX' where value = 'USD'", "string: some of the"),
      ("update snapshot set line = line + 1", "snapshots of archive"),
      ("update user set id = id || 'x'", "does not have the key of its id"),
      (
        "update lineage set counted = counted - 1 where counted > 1",
        "was changed since it was written"
      ),
      (
        "delete from identity where first = (select max(first) from identity)",
        "identities of stored events are in no row"
      ),
      ("create table more (a)", "more is not part of a ledger"),
    ])
  func changed(sql: String, reported: String) throws {
    try alter(sql)
    let result = try verify().ended(65, 70)
    #expect(result.output.contains(reported), "\(result)")
  }

  @Test("A set that a run publishes during verify is compared with that run")
  func meanwhile() throws {
    let folder = program.folder
    for round in 1...3 {
      let verifying = try program.start(["verify", "--ledger", "l.sqlite"])
      while verifying.isRunning {
        try folder.write(bodies(round, from: 10 * round), to: "more/\(UUID()).jsonl")
        let run = ["run", "--archives", "more", "--ledger", "l.sqlite", "--as-of", "2026-03-01"]
        try program.run(run).ended(0, 1)
      }
      #expect(verifying.terminationStatus == 0)
    }
    try FileManager.default.removeItem(atPath: folder.path("reports/breaks.csv"))
    #expect(try verify().status == 65)
  }

  @Test("With any byte of the ledger flipped, its content is unchanged or the damage is reported")
  func everyByte() throws {
    let path = program.folder.path("l.sqlite")
    let whole = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let said = try dump(path)
    var numbers = SeededNumbers(seed: 1)
    var changes = 0
    for _ in 0..<Self.flips {
      var position = numbers.below(whole.count)
      while whole[position] == 0 { position = (position + 1) % whole.count }
      var bytes = whole
      bytes[position] ^= 1 << UInt8(numbers.below(8))
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let isSame = (try? dump(path)) == said
      changes += isSame ? 0 : 1
      let result = try verify()
      if isSame, result.status == 0 { continue }
      #expect([65, 70, 78].contains(result.status), "byte \(position): \(result)")
      let isNamed =
        result.output.contains("\ndamaged") || result.output.contains("differs")
        || result.output.hasPrefix("damaged")
      #expect(isNamed, "byte \(position): \(result)")
    }
    #expect(changes > Self.flips / 3)
  }

  private static let flips = Int(ProcessInfo.processInfo.environment["FLIPS"] ?? "") ?? 24

  /// Every file except those that SQLite creates next to the ledger for any reader.
  private func files() throws -> [String: Data] {
    try filesAndBytes(under: program.folder.url.path).filter { !$0.key.hasPrefix("l.sqlite-") }
  }

  private func verify(_ more: String...) throws -> ProgramResult {
    try program.run(["verify", "--ledger", "l.sqlite"] + more)
  }

  /// Flips the lowest bit of the byte in the middle of a file.
  private func flip(_ file: String) throws {
    let url = URL(fileURLWithPath: program.folder.path(file))
    var bytes = try [UInt8](Data(contentsOf: url))
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: url)
  }

  private func alter(_ sql: String) throws {
    let ledger = try Ledger.open(path: program.folder.path("l.sqlite"), mode: .readWrite)
    try ledger.rows(sql: sql) { _ in }
    try ledger.checkpoint()
  }

  /// The whole content of the tables.
  private func dump(_ path: String) throws -> [String] {
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let ledger = try Ledger.open(path: path, mode: .readOnly)
    var tables: [String] = []
    try ledger.rows(sql: "select name, sql from sqlite_schema order by name, sql") { row in
      if row.text(1).hasPrefix("CREATE TABLE") || row.text(1).hasPrefix("create table") {
        tables.append(row.text(0))
      }
    }
    var said: [String] = tables
    for table in tables {
      var columns: [String] = []
      try ledger.rows(sql: "select name from pragma_table_info(?)", arguments: [.text(table)]) {
        columns.append("quote(\"\($0.text(0))\")")
      }
      try ledger.rows(
        sql: "select \(columns.joined(separator: " || ',' || ")) from \"\(table)\""
      ) { said.append("\(table) \($0.text(0))") }
    }
    return said
  }

  @Test("A decision about several charges applies to those left, also in a replay")
  func decidedCharges() throws {
    /// The renewal with this number, one each month from 27 November.
    func charge(_ number: Int) -> String {
      let days = [0, 30, 61, 92, 120]
      let time = 1_764_244_800 + days[number] * 86_400
      var body = Body(1, number > 0 ? "subscription_renewed" : "subscription_started", at: time)
      body.members["subscription_renew_count"] = number > 0 ? "\(number)" : nil
      body.members["transaction"] = Body.transaction(
        100 + number, of: 100, from: time, until: 1_764_244_800 + days[number + 1] * 86_400)
      return body.line + "\n"
    }
    let program = try Program()
    try program.folder.write(charge(0) + charge(3), to: "in/a.jsonl")
    let run = ["run", "--archives", "in", "--as-of", "2026-03-01"]
    #expect(try program.run(run).status == 1)
    let found = try program.rows("breaks.csv").filter { $0["code"] == "MISSED_RENEWAL" }
    #expect(found.map { $0["missing_events"] } == ["2"])
    let id = found.first?["break_id"] ?? ""
    try program.folder.write(
      "- {break_id: \(id), decision: written_off, reason: lost, who: j.doe}\n", to: "decisions.yaml"
    )
    try program.folder.write(charge(1), to: "in/b.jsonl")
    _ = try program.run(run + ["--decisions", "decisions.yaml"])
    let history = try program.rows("breaks_history.csv").filter { $0["break_id"] != id }
    #expect(history.map { $0["status"] } == ["written_off"])
    try program.run(["verify", "--replay"]).ended(0)
  }
}
