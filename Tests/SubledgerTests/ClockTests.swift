import Foundation
import TestSupport
import Testing

@Suite("A message with a clock that was wrong")
struct ClockTests {
  private func codes(created: String, asOf: String) throws -> Set<String> {
    let program = try Program()
    var body = Body(2)
    body.members["created_at"] = created
    try program.folder.write("\(Body(1).line)\n\(body.line)\n", to: "archives/a.jsonl")
    let result = try program.run(["run", "--archives", "archives", "--as-of", asOf])
    #expect(result.status <= 1, "\(result)")
    return Set(try program.rows("breaks.csv").compactMap { $0["code"] })
  }

  @Test("is a break, and keeps no feed from being stale")
  func century() throws {
    let found = try codes(created: "4102444800", asOf: "2026-03-12")
    #expect(found.isSuperset(of: ["CLOCK", "STALE_INPUT"]), "\(found)")
  }

  @Test("is none that was slow by days, nor in a look back at a time before the event")
  func innocent() throws {
    #expect(!(try codes(created: "1772539200", asOf: "2026-03-12")).contains("CLOCK"))
    #expect(!(try codes(created: "4102444800", asOf: "2026-02-20")).contains("CLOCK"))
  }
}
