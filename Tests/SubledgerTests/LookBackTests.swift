import TestSupport
import Testing

@Suite("Runs that go on after a look back")
struct LookBackTests {
  let program: Program

  init() throws { program = try Program() }

  @Test("A break that input explained in a look back does not come back with later runs")
  func explained() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    #expect(try codes(asOf: "2026-06-30") == ["MISSED_EXPIRATION"])
    try arrives([expired(at: 1_774_612_800)], as: "late.jsonl")
    #expect(try codes(asOf: "2026-06-29").isEmpty)
    #expect(try codes(asOf: "2026-07-01").isEmpty)
    #expect(try codes(asOf: "2026-07-02").isEmpty)
  }

  @Test(
    "A break that a later run resolved stands in every look back, and its subscription as it was")
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
    let verified = try program.run(["verify"])
    #expect(verified.status == 0, "\(verified)")
    let reported = try program.run(["report", "--at-run", "3", "--out", "told"])
    #expect(reported.status == 0, "\(reported)")
    #expect(differences(before, try program.published(in: "told")).isEmpty)
  }

  @Test("A look back whose history a later run wrote in another way comes back with a warning")
  func reportedOtherwise() throws {
    try arrives([Body(1), fresh], as: "told.jsonl")
    #expect(try codes(asOf: "2026-04-20") == ["MISSED_RENEWAL"])
    #expect(try codes(asOf: "2026-03-01").isEmpty)
    let before = try program.published()
    #expect(try codes(asOf: "2026-06-20") == ["MISSED_EXPIRATION"])
    let reported = try program.run(["report", "--at-run", "2", "--out", "told"])
    #expect(reported.status == 0, "\(reported)")
    #expect(reported.errors.contains("run 2 looked back behind an earlier run"), "\(reported)")
    #expect(
      Set(differences(before, try program.published(in: "told")))
        == ["SHA256SUMS", "breaks_history.csv", "datapackage.json"])
  }

  /// A charge of somebody else that keeps the input fresh.
  private var fresh: Body {
    var body = Body(2)
    body.members["time"] = "1784548800"
    body.members["created_at"] = "1784548860"
    return body
  }

  /// The end of the first subscription, reported at a time in epoch seconds.
  private func expired(at time: Int) -> Body {
    var body = Body(1)
    body.members["event_name"] = "\"subscription_expired\""
    body.members["time"] = "\(time)"
    body.members["created_at"] = "\(time + 60)"
    body.members["revenue"] = "null"
    body.members["price"] = "null"
    return body
  }

  private func arrives(_ bodies: [Body], as name: String) throws {
    try program.folder.write(bodies.map { $0.line + "\n" }.joined(), to: "in/\(name)")
  }

  /// The breaks that a run at `asOf` publishes as standing.
  private func codes(asOf: String) throws -> [String] {
    let run = try program.run(["run", "--archives", "in", "--as-of", asOf])
    #expect(run.status <= 1, "\(run)")
    return try program.rows("breaks.csv").filter { $0["status"] != "resolved" }
      .compactMap { $0["code"] }
  }
}
