import TestSupport
import Testing

@Suite("Nights that go on after a look back")
struct LookBackTests {
  @Test("A break that input explained in a look back does not come back with later nights")
  func explained() throws {
    let program = try Program()
    // Somebody whose events keep the input fresh.
    var other = Body(2)
    other.members["time"] = "1784548800"
    other.members["created_at"] = "1784548860"
    try program.folder.write(Body(1).line + "\n" + other.line + "\n", to: "in/told.jsonl")
    #expect(try codes(program, asOf: "2026-06-30") == ["MISSED_EXPIRATION"])

    var expired = Body(1)
    expired.members["event_name"] = "\"subscription_expired\""
    expired.members["time"] = "1774612800"
    expired.members["created_at"] = "1774612860"
    expired.members["revenue"] = "null"
    expired.members["price"] = "null"
    try program.folder.write(expired.line + "\n", to: "in/late.jsonl")
    #expect(try codes(program, asOf: "2026-06-29").isEmpty)
    #expect(try codes(program, asOf: "2026-07-01").isEmpty)
    #expect(try codes(program, asOf: "2026-07-02").isEmpty)
  }

  @Test("A break that a later night resolved stands again in every night of a look back")
  func notYetExplained() throws {
    let program = try Program()
    var other = Body(2)
    other.members["time"] = "1784548800"
    other.members["created_at"] = "1784548860"
    var late = Body(1)
    late.members["event_name"] = "\"subscription_expired\""
    late.members["time"] = "1783080000"
    late.members["created_at"] = "1783080060"
    late.members["revenue"] = "null"
    late.members["price"] = "null"
    let lines = [Body(1), other, late].map { $0.line + "\n" }.joined()
    try program.folder.write(lines, to: "in/told.jsonl")
    let told = try ["2026-06-20", "2026-06-21"].map { try codes(program, asOf: $0) }
    #expect(told == [["MISSED_EXPIRATION"], ["MISSED_EXPIRATION"]])
    #expect(try codes(program, asOf: "2026-07-10").isEmpty)
    for asOf in ["2026-06-20", "2026-06-21", "2026-06-22"] {
      #expect(try codes(program, asOf: asOf) == ["MISSED_EXPIRATION"], "\(asOf)")
    }
  }

  /// The breaks that a run at `asOf` publishes as standing.
  private func codes(_ program: Program, asOf: String) throws -> [String] {
    let night = try program.run(["run", "--archives", "in", "--as-of", asOf])
    #expect(night.status <= 1, "\(night)")
    return try program.rows("breaks.csv").filter { $0["status"] != "resolved" }
      .compactMap { $0["code"] }
  }
}
