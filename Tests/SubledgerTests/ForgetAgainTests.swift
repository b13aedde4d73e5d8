import Foundation
import Ledger
import TestSupport
import Testing

@Suite("Who comes back after having been forgotten is forgotten again")
struct ForgetAgainTests {
  private let program: Program
  private let person = "QON_7"

  init() throws {
    program = try Program()
    // The person's charge came with two prices, which is a break.
    var dearer = Body(7)
    dearer.members["revenue"] = Body.money("12.99", rate: 70)
    try program.folder.write(bodies(40) + dearer.line + "\n", to: "in/1.jsonl")
  }

  private func night(_ day: Int, _ more: String...) throws -> ProgramResult {
    let asOf = ["--as-of", "2026-05-0\(day)"]
    let result = try program.run(["run", "--archives", "in", "--verbose"] + asOf + more)
    try #require([0, 1].contains(result.status), "\(result)")
    return result
  }

  private func forget() throws -> String {
    let result = try program.run(["forget", person, "--reason", "request 7"])
    try #require(result.status == 0, "\(result)")
    return result.output
  }

  /// Whether the ledger's file, or a published one, holds the id.
  private func isThere() throws -> Bool {
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readOnly)
    var found = false
    for query in [
      "select count(*) from archive where name like '%QON\\_7.%' escape '\\'",
      "select count(*) from decision where reason like '%QON\\_7 %' escape '\\'",
      "select count(*) from user where id = 'QON_7'",
    ] {
      try ledger.rows(sql: query) { found = found || $0.int64(0) > 0 }
    }
    return try found
      || program.published().values.contains { $0.range(of: Data("QON_7 ".utf8)) != nil }
  }

  @Test("A file of the person's name that is read each night is forgotten each time, and renamed")
  func fileName() throws {
    let line = #"{"provider":"qonversion","user_id":"QON_7","entitlements":[],"#
    try program.folder.write(
      line + #""captured_at":"2026-04-01T00:00:00Z"}"# + "\n", to: "seen/QON_7.jsonl")
    for day in 1...3 {
      _ = try night(day, "--snapshots", "seen")
      #expect(try isThere())
      let told = try forget()
      #expect(told.contains("the names of 1 files held the id"), "\(told)")
      #expect(try !isThere())
    }
    try FileManager.default.moveItem(
      atPath: program.folder.path("seen/QON_7.jsonl"), toPath: program.folder.path("seen/7.jsonl"))
    _ = try night(4, "--snapshots", "seen")
    #expect(try forget().contains("nothing is left"))
    let verified = try program.run(["verify", "--replay"])
    #expect(verified.status == 0, "\(verified)")
    #expect(verified.output.contains("holds    replay.reports"), "\(verified)")
  }
}
