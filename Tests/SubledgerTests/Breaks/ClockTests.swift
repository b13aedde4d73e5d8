import Foundation
import TestSupport
import Testing

@Suite("Messages with a wrong clock")
struct ClockTests {
  private func codes(created: String, asOf: String) throws -> Set<String> {
    let program = try Program()
    var body = Body(2)
    body.members["created_at"] = created
    try program.folder.write("\(Body(1).line)\n\(body.line)\n", to: "archives/a.jsonl")
    try program.run(["run", "--archives", "archives", "--as-of", asOf]).ended(0, 1)
    return Set(try program.rows("breaks.csv").compactMap { $0["code"] })
  }

  @Test("A message with a wrong clock is a break, and does not refresh a stale feed")
  func century() throws {
    let found = try codes(created: "4102444800", asOf: "2026-03-12")
    #expect(found.isSuperset(of: ["CLOCK", "STALE_INPUT"]), "\(found)")
  }

  /// The breaks of a feed of twelve days in February 2026, with another line created at `created`
  /// and others at `times`.
  private func breaks(
    created: String, asOf: String, others times: [String] = []
  ) throws -> [[String: String]] {
    let program = try Program()
    let lines = (10..<22).map { day in
      var body = Body(day)
      for name in ["time", "created_at"] { body.members[name] = "\(1_770_897_600 + day * 86_400)" }
      return body.line
    }
    var body = Body(1)
    body.members["created_at"] = created
    let others = times.enumerated().map { number, time in
      var body = Body(30 + number)
      body.members["time"] = time
      body.members["created_at"] = time
      return body.line
    }
    let text = (lines + others + [body.line]).joined(separator: "\n") + "\n"
    try program.folder.write(text, to: "archives/a.jsonl")
    try program.run(["run", "--archives", "archives", "--as-of", asOf]).ended(0, 1)
    return try program.rows("breaks.csv")
  }

  @Test("A message after as-of, or far from the rest of its feed, is a break")
  func far() throws {
    for (created, asOf, reason, isStale) in [
      ("1782864000", "2026-04-01", "after as-of", true),
      ("1835395200", "2028-04-01", "far from all other messages of its feed", true),
      ("1709251200", "2026-03-07", "far from all other messages of its feed", false),
      ("1772539200", "2026-03-07", nil, false),
    ] {
      let found = try breaks(created: created, asOf: asOf)
      let clocks = found.filter { $0["code"] == "CLOCK" }
      #expect(clocks.count == (reason == nil ? 0 : 1), "\(created): \(found)")
      if let reason { #expect(clocks.first?["evidence"]?.hasSuffix(reason) == true, "\(clocks)") }
      #expect(found.contains { $0["code"] == "STALE_INPUT" } == isStale, "\(created): \(found)")
    }
  }

  @Test("As-of within an hour of messages makes none of them far away from the rest")
  func withinHour() throws {
    let found = try breaks(
      created: "1772323500", asOf: "2026-03-01T00:30:00Z",
      others: ["1772323500", "1772324400", "1772325600"])
    #expect(!found.contains { $0["code"] == "CLOCK" }, "\(found)")
  }

  @Test("Events years after as-of are not counted, and do not turn the run into a look")
  func ahead() throws {
    let times = ["1927238400", "1890000000", "2000000000"]
    let found = try breaks(created: "1893456000", asOf: "2026-04-01", others: times)
    let clocks = found.filter { $0["code"] == "CLOCK" }
    #expect(Set(clocks.compactMap { $0["transaction_id"]?.suffix(2) }) == ["01", "30", "31", "32"])
    let ahead = clocks.first { $0["transaction_id"] == "2000000900000030" }
    #expect(ahead?["evidence"] == "started of 2031-01-27T00:00:00Z is after as-of and not counted")
    #expect(ahead?["expected_at"]?.isEmpty == true, "no month ahead gets a row for it")
  }

  @Test("A look at an earlier as-of has no clock break", arguments: ["2026-02-28", "2020-01-01"])
  func lookBack(asOf: String) throws {
    let found = try breaks(created: "1782864000", asOf: asOf, others: ["1800000000"])
    #expect(!found.contains { $0["code"] == "CLOCK" }, "\(found)")
  }

  @Test("A message that was slow by days, or a look before the event, raises no clock break")
  func innocent() throws {
    #expect(!(try codes(created: "1772539200", asOf: "2026-03-12")).contains("CLOCK"))
    #expect(!(try codes(created: "4102444800", asOf: "2026-02-20")).contains("CLOCK"))
  }

  @Test(
    "A version created before or after as-of counts, unless its time is impossible",
    arguments: [true, false])
  func versions(comesFirst: Bool) throws {
    for (created, gross) in [("1782864000", "5.00"), ("4102444800", "9.99")] {
      let program = try Program()
      var body = Body(1)
      body.members["created_at"] = created
      body.members["revenue"] = Body.money("5.00", rate: 70)
      let lines = [body.line, Body(1).line]
      for (night, line) in (comesFirst ? lines : lines.reversed()).enumerated() {
        try program.folder.write(line + "\n", to: "archives/\(night).jsonl")
        try program.run(["run", "--archives", "archives", "--as-of", "2026-04-01"])
      }
      for asOf in ["2026-04-01", "2026-08-01"] {
        try program.run(["run", "--archives", "archives", "--as-of", asOf]).ended(0, 1)
        let rows = try program.rows("revenue_monthly.csv")
        #expect(rows.map { $0["gross_usd"] } == [gross], "\(created) \(asOf)")
      }
    }
  }
}
