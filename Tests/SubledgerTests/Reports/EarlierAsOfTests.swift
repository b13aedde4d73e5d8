import EventStore
import Foundation
import TestSupport
import Testing

@Suite("Runs after a run at an earlier as-of")
struct EarlierAsOfTests {
  let program: Program

  init() throws {
    program = try Program()
    // The deliveries are months apart.
    try program.folder.write("freshness_max: 200d\n", to: "subledger.yaml")
  }

  @Test("A break explained at an earlier as-of does not come back in later runs")
  func explained() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    #expect(try codes(asOf: "2026-06-30") == ["MISSED_EXPIRATION"])
    try arrives([expired(at: 1_774_612_800)], as: "late.jsonl")
    #expect(try codes(asOf: "2026-06-29").isEmpty)
    #expect(try codes(asOf: "2026-07-01").isEmpty)
    #expect(try codes(asOf: "2026-07-02").isEmpty)
  }

  @Test(
    "A break resolved by a later run is shown at each earlier as-of, with its subscription")
  func notYetExplained() throws {
    try arrives([Body(1), fresh, expired(at: 1_783_080_000)], as: "told.jsonl")
    #expect(try codes(asOf: "2026-06-20") == ["MISSED_EXPIRATION"])
    #expect(try codes(asOf: "2026-06-21") == ["MISSED_EXPIRATION"])
    #expect(try codes(asOf: "2026-07-10").isEmpty)
    let before = try program.published()
    let history = try program.rows("breaks_history.csv")
    for asOf in ["2026-06-20", "2026-06-21", "2026-06-22"] {
      #expect(try codes(asOf: asOf) == ["MISSED_EXPIRATION"], "\(asOf)")
      #expect(try program.rows("breaks_history.csv") == history, "\(asOf)")
    }
    try program.run(["verify"]).ended(0)
    try program.run(["report", "--at-run", "3", "--out", "told"]).ended(0)
    #expect(differences(before, try program.published(in: "told")).isEmpty)
  }

  @Test("A run at an earlier as-of is reproduced with a warning if a later run changed its history")
  func reportedOtherwise() throws {
    try program.folder.write(
      """
      -- name: seen
      -- column: break_id string key A break.
      -- column: episode integer key An episode of it.
      -- column: code string What is wrong.
      select break_id, episode, code from v_break
      """, to: "sql/seen.sql")
    var settings = "freshness_max: 200d\nreports_dir: sql\n"
    var files: Set = ["SHA256SUMS", "breaks_history.csv", "datapackage.json", "own/seen.csv"]
    #if XLSX
      settings += "xlsx: true\n"
      files.insert("report.xlsx")
    #endif
    try program.folder.write(settings, to: "subledger.yaml")
    try arrives([Body(1), fresh], as: "told.jsonl")
    #expect(try codes(asOf: "2026-04-20") == ["MISSED_RENEWAL"])
    #expect(try codes(asOf: "2026-03-01").isEmpty)
    let before = try program.published()
    #expect(try codes(asOf: "2026-06-20") == ["MISSED_EXPIRATION"])
    let reported = try program.run(["report", "--at-run", "2", "--out", "told"]).ended(0)
    #expect(reported.errors.contains("run 2 was as of a time before an earlier run"), "\(reported)")
    #expect(Set(differences(before, try program.published(in: "told"))) == files)
  }

  @Test("A report at an earlier as-of or into another folder changes no other command's result")
  func looks() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    #expect(try codes(asOf: "2026-06-30") == ["MISSED_EXPIRATION"])
    func answers() throws -> [String] {
      try [
        ["status", "--format", "json"], ["explain", "churn_monthly", "provider=qonversion"],
        ["explain", "quality_monthly", "provider=qonversion"],
      ].map { try program.run($0).output }
    }
    let before = try answers()
    let published = try program.published()
    for look in [
      ["--as-of", "2026-04-20"], ["--as-of", "2026-05-01", "--out", "back"],
      ["--as-of", "2026-05-02", "--out", "back"], ["--as-of", "2026-07-10", "--out", "ahead"],
    ] {
      try program.run(["report"] + look).ended(0, 1)
      #expect(try answers() == before, "\(look)")
    }
    #expect(differences(published, try program.published()).contains("breaks.csv"))
    let proof = try program.run(["verify"])
    #expect(
      proof.status == 0 && proof.output.contains("published without being recorded"), "\(proof)")
    try program.run(["report", "--as-of", "2026-06-30"]).ended(0, 1)
    #expect(try program.rows("breaks.csv").map { $0["code"] } == ["MISSED_EXPIRATION"])
    try program.run(["report", "--as-of", "2026-07-10"]).ended(0, 1)
    #expect(try answers() != before)
  }

  @Test("A report into a folder of the same name elsewhere is not recorded")
  func sameName() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    _ = try codes(asOf: "2026-06-30")
    let look =
      "mkdir away && cd away && '\(Program.binary.path)' report --as-of 2026-07-10 "
      + "--ledger ../subledger.sqlite --timezone America/New_York"
    let result = try execute(["sh", "-c", look], in: program.folder.path)
    #expect(result.status <= 1, "\(result)")
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readOnly)
    #expect(try ledger.lastPublished()?.id == 1)
    try program.run(["report", "--as-of", "2026-07-10"]).ended(0, 1)
    #expect(try ledger.lastPublished()?.id == 2)
  }

  @Test("A set of another ledger stays until it is adopted")
  func otherLedger() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    _ = try codes(asOf: "2026-06-30")
    let published = try program.published()
    let other = ["run", "--archives", "in", "--as-of", "2026-07-01", "--ledger", "other.sqlite"]
    for arguments in [other, other + ["--dry-run"]] {
      let refused = try program.run(arguments)
      #expect(refused.status == 73 && refused.errors.contains("--adopt"), "\(refused)")
    }
    #expect(!FileManager.default.fileExists(atPath: program.folder.path("other.sqlite")))
    #expect(differences(published, try program.published()).isEmpty)
    try program.folder.write("mine\n", to: "notes/SHA256SUMS")
    #expect(try program.run(other + ["--out", "notes"]).status <= 1)
    #expect(try program.run(other).status == 73)
    #expect(try program.run(other + ["--adopt"]).status <= 1)
    #expect(try program.run(other).status <= 1)
  }

  @Test("A set published by a run that was killed before its ledger was finished is its own")
  func unfinished() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    _ = try codes(asOf: "2026-06-30")
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readWrite)
    try ledger.rewind(to: 1)
    try ledger.checkpoint()
    _ = try codes(asOf: "2026-07-01")
  }

  @Test("An as-of more than a day in the future gives a warning")
  func future() throws {
    try arrives([Body(1)], as: "told.jsonl")
    func later(_ time: String) throws -> String {
      let text = try output(of: ["date", "-u", "-d", time, "+%FT%TZ"], in: program.folder.path)
      return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let near = try program.run(["run", "--archives", "in", "--as-of", later("23 hours")])
    #expect(near.status <= 1 && !near.errors.contains("a day from now"), "\(near)")
    let far = try program.run(["run", "--archives", "in", "--as-of", later("25 hours")])
    #expect(far.status <= 1 && far.errors.contains("is more than a day from now"), "\(far)")
  }

  /// A charge of another user, in July.
  private let fresh = Body(2, at: 1_784_548_800)

  /// The end of the first subscription, reported at a time in epoch seconds.
  private func expired(at time: Int) -> Body {
    var body = Body(1, "subscription_expired", at: time)
    body.members["revenue"] = "null"
    body.members["price"] = "null"
    return body
  }

  private func arrives(_ bodies: [Body], as name: String) throws {
    try program.folder.write(bodies.map { $0.line + "\n" }.joined(), to: "in/\(name)")
  }

  /// The current breaks that a run at `asOf` publishes.
  private func codes(asOf: String) throws -> [String] {
    try program.run(["run", "--archives", "in", "--as-of", asOf]).ended(0, 1)
    return try program.rows("breaks.csv").filter { $0["status"] != "resolved" }
      .compactMap { $0["code"] }
  }
}
