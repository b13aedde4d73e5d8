import Foundation
import EventStore
import TestSupport
import Testing

@Suite("An erased person who returns is erased again")
struct EraseAgainTests {
  private let program: Program
  private let person = "QON_7"

  init() throws {
    program = try Program()
    // The person's charge arrived with two prices, which is a break.
    var dearer = Body(7)
    dearer.members["revenue"] = Body.money("12.99", rate: 70)
    try program.folder.write(bodies(40) + dearer.line + "\n", to: "in/1.jsonl")
  }

  private func run(_ day: Int, _ more: String...) throws -> ProgramResult {
    let asOf = ["--as-of", "2026-05-0\(day)"]
    let result = try program.run(["run", "--archives", "in", "--verbose"] + asOf + more).ended(0, 1)
    return result
  }

  private func erase() throws -> String {
    let result = try program.run(["erase", person, "--reason", "request 7"]).ended(0)
    return result.output
  }

  /// Whether the ledger's file or a published one contains the id.
  private func isPresent() throws -> Bool {
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readOnly)
    var found = false
    for query in [
      "select count(*) from archive where name like '%QON\\_7.%' escape '\\'",
      "select count(*) from decision where reason like '%QON\\_7 %' escape '\\'",
      "select count(*) from user where id = 'QON_7'",
    ] {
      try ledger.rows(sql: query) { found = found || $0.number(0) > 0 }
    }
    return try found
      || program.published().values.contains { $0.range(of: Data("QON_7 ".utf8)) != nil }
  }

  @Test("A file with the person's name that every run reads is erased each time, and renamed")
  func fileName() throws {
    let line = #"{"provider":"qonversion","user_id":"QON_7","entitlements":[],"#
    try program.folder.write(
      line + #""captured_at":"2026-04-01T00:00:00Z"}"# + "\n", to: "seen/QON_7.jsonl")
    for day in 1...3 {
      _ = try run(day, "--snapshots", "seen")
      #expect(try isPresent())
      let reported = try erase()
      #expect(reported.contains("the names of 1 file held the id"), "\(reported)")
      #expect(try !isPresent())
    }
    try FileManager.default.moveItem(
      atPath: program.folder.path("seen/QON_7.jsonl"), toPath: program.folder.path("seen/7.jsonl"))
    _ = try run(4, "--snapshots", "seen")
    #expect(try erase().contains("nothing is left"))
    let verified = try program.run(["verify", "--replay"]).ended(0)
    #expect(verified.output.contains("holds    replay.reports"), "\(verified)")
  }

  /// Decides about break `id` in words that name the person.
  private func decide(_ id: String, _ words: String = "") throws {
    let reason = "QON_7 wrote to us\(words)"
    try program.folder.write(
      "- {break_id: \"\(id)\", decision: explained, reason: \"\(reason)\", who: w}\n",
      to: "decisions.yaml")
  }

  @Test("Decisions that named the person apply without the id, and verify succeeds")
  func decisions() throws {
    _ = try run(1)
    let own = try program.rows("breaks.csv").first { $0["user_id"] == person }
    let id = try #require(own?["break_id"])
    try decide(id)
    _ = try run(2, "--decisions", "decisions.yaml")
    #expect(try isPresent())
    #expect(try erase().contains("runs use them without the id"))
    for day in 3...4 {
      let reported = try run(day, "--decisions", "decisions.yaml")
      #expect(
        reported.errors.contains("decisions.yaml name a person who was erased"), "\(reported)")
      #expect(try !isPresent())
      #expect(try program.rows("breaks_history.csv").contains { $0["status"] == "explained" })
      try program.run(["verify", "--replay"]).ended(0)
    }
    #expect(try erase().contains("nothing is left"))
    try program.run(["pack", "2026-02", "--out", "p.tar.gz"]).ended(0)
    #expect(try program.run(["verify", "--pack", "p.tar.gz"]).status == 0)
    try program.run(["report", "--at-run", "3", "--out", "again"]).ended(0, 1)

    try decide(id, " twice")
    _ = try run(5, "--decisions", "decisions.yaml")
    #expect(try isPresent())
    #expect(try erase().contains("runs use them without the id"))
    #expect(try program.run(["verify"]).status == 0)
    _ = try run(6, "--decisions", "decisions.yaml")
    #expect(try !isPresent() && program.run(["verify"]).status == 0)
  }

  @Test("Decisions that alone contain the id are rewritten by an act")
  func table() throws {
    _ = try run(1)
    _ = try erase()
    let ledger = try Ledger.open(path: program.folder.path("subledger.sqlite"), mode: .readWrite)
    // A run that was interrupted before it published.
    let last = try #require(try ledger.lastPublished())
    _ = try ledger.beginRun(asOf: last.asOf, version: last.version, options: last.options)
    try ledger.replaceDecisions([
      Decision(
        breakID: "b-0123456789abcdef", verdict: .explained, reason: "QON_7 wrote", who: "w")
    ])
    try ledger.checkpoint()
    #expect(try !erase().contains("nothing is left"))
    #expect(try !isPresent())
    #expect(try ledger.acts().map(\.action) == [.erase, .erase])
  }

  @Test("The app's own id of the person stays erased when it arrives with another user id")
  func customerID() throws {
    let customer = "acct-00000007"
    func write(_ number: Int, to file: String) throws {
      var body = Body(number)
      body.members["identity_id"] = "\"\(customer)\""
      try program.folder.write(body.line + "\n", to: file)
    }
    func isPublished() throws -> Bool {
      try program.published().values.contains { $0.range(of: Data(customer.utf8)) != nil }
    }
    try program.folder.write("customer_id: identity_id\n", to: "subledger.yaml")
    try write(7, to: "in/1.jsonl")
    _ = try run(1)
    #expect(try isPublished())
    _ = try erase()
    try write(50, to: "in/2.jsonl")
    _ = try run(2)
    #expect(try !isPublished())
    let ledger = try Data(
      contentsOf: URL(fileURLWithPath: program.folder.path("subledger.sqlite")))
    #expect(ledger.range(of: Data(customer.utf8)) == nil)
    let again = try program.run(["erase", customer, "--reason", "request 7"])
    #expect(again.status == 0 && again.output.contains("before"), "\(again)")
  }

  @Test("Another provider's user whose id is the app's own id of the person is erased, too")
  func customerOfOtherProvider() throws {
    let customer = "acct-00000007"
    var body = Body(7)
    body.members["identity_id"] = "\"\(customer)\""
    let purchase =
      #"{"productId":"apple:coins","purchaseId":"apple:777001","#
      + #""platform":"apple","purchaseDate":"2026-02-05T00:00:00.000Z"}"#
    let other =
      #"{"type":"purchases.updated","applicationUsername":"\#(customer)","password":"x","#
      + #""purchases":{"apple:coins":\#(purchase)}}"#
    try program.folder.write("customer_id: identity_id\n", to: "subledger.yaml")
    try program.folder.write(body.line + "\n" + other + "\n", to: "in/1.jsonl")
    _ = try run(1)
    _ = try erase()
    _ = try run(2)
    for (path, file) in try filesAndBytes(under: program.folder.path(".")) {
      let isOwn = path.hasPrefix("in/") || path.hasSuffix("-wal")
      #expect(isOwn || file.range(of: Data(customer.utf8)) == nil, "\(path)")
    }
  }
}
