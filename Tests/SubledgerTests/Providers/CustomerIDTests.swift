import Foundation
import EventStore
import TestSupport
import Testing

@Suite("The app's own user id is kept only where configured")
struct CustomerIDTests {
  private let program: Program

  init() throws {
    program = try Program()
    try configure("identity_id")
  }

  private func configure(_ member: String) throws {
    try program.folder.write("customer_id: \(member)\n", to: "subledger.yaml")
  }

  /// A body of user 1: a start, or a renewal after a lost one.
  private func body(
    _ number: Int = 1, isRenewal: Bool = false, user: Int = 1, _ members: [String: String] = [:]
  ) -> String {
    var body = Body(number)
    if isRenewal {
      body = Body(number, "subscription_renewed", at: 1_777_204_800, count: 2)
      body.members["transaction"] =
        #"{"transaction_id":"9\#(number)","original_transaction_id":"#
        + #"\#(2_000_000_900_000_000 + number),"expires":1779796800,"transaction_date":1777204800}"#
    }
    body.members["user_id"] = "\"QON_\(user)\""
    body.members.merge(members) { $1 }
    return body.line
  }

  private func identity(_ id: String) -> [String: String] { ["identity_id": "\"\(id)\""] }

  /// Runs with one more archive.
  @discardableResult
  private func run(_ name: String, _ lines: [String], asOf: String = "2026-05-10") throws
    -> ProgramResult
  {
    try program.folder.write(lines.joined(separator: "\n") + "\n", to: "in/\(name).jsonl")
    let result = try program.run(["run", "--archives", "in", "--as-of", asOf, "--verbose"])
    try #require([0, 1].contains(result.status), "\(result)")
    return result
  }

  /// The customer ids in files, of all users or one user.
  private func customers(
    _ files: [String], in out: String = "reports", of user: String? = nil
  ) throws -> [String] {
    let rows = try files.flatMap { try program.rows($0, in: out) }
    return rows.filter { user == nil || $0["user_id"] == user }.map { $0["customer_id"] ?? "none" }
  }

  private let lists = ["breaks.csv", "refetch_worklist.csv"]
  private let charges = ["charges/2026-02.csv", "charges/2026-04.csv"]

  @Test(
    "The id of the newest message with an id counts, whatever arrived first",
    arguments: ["identity_id", "custom_user_id"])
  func newest(member: String) throws {
    try configure(member)
    let lines = [
      body(1, [member: "\"old\""]), body(1, isRenewal: true, [member: "\"new\""]),
      body(2, ["created_at": "1777204870", "time": "1777204870", member: "\"\""]),
      body(3, user: 3, ["identity_id": "null", "custom_user_id": "{}"]),
      body(4, user: 4, [member: "4711"]),
    ]
    try program.publishBothWays(lines, asOf: "2026-05-10")
    for out in ["one/out", "many/out"] {
      for list in lists {
        #expect(try Set(customers([list], in: out, of: "QON_1")) == ["new"])
        #expect(try Set(customers([list], in: out)) == ["", "4711", "new"])
      }
      #expect(try customers(charges, in: out).sorted() == ["", "4711", "new", "new", "new"])
    }
  }

  @Test("Without the setting no id is kept, and every number is the same")
  func off() throws {
    let lines = [
      body(1, identity("acct-1")), body(1, isRenewal: true, identity("acct-1")),
      // The same event with another id is a duplicate, not a conflict.
      body(1, identity("acct-2")),
    ]
    try run("a", lines)
    let kept = try program.published()
    #expect(try Set(customers(lists + charges)) == ["acct-1"])
    #expect(try program.rows("inputs.csv").first?["duplicates"] == "1")
    for path in ["subledger.yaml", "reports", "subledger.sqlite"] {
      try FileManager.default.removeItem(atPath: program.folder.path(path))
    }
    try run("a", lines)
    #expect(try Set(customers(lists + charges)) == [""])
    let naming = lists + charges + ["datapackage.json", "SHA256SUMS"]
    #expect(differences(kept, try program.published()) == naming.sorted())
    for (name, bytes) in try filesAndBytes(under: program.folder.path)
    where !name.hasPrefix("in/") { #expect(bytes.range(of: Data("acct-".utf8)) == nil, "\(name)") }
  }

  @Test("A changed id changes all rows of the user, and earlier sets can be reproduced")
  func changed() throws {
    try run("a", [body(1, identity("acct-1")), body(2, identity("acct-1")), body(3, user: 3)])
    #expect(try customers(["charges/2026-02.csv"]).sorted() == ["", "acct-1", "acct-1"])
    let first = try program.published()
    try run("b", [body(2, isRenewal: true, identity("acct-2"))], asOf: "2026-05-11")
    #expect(try customers(["charges/2026-02.csv"]).sorted() == ["", "acct-2", "acct-2"])
    for (run, set) in [(1, first), (2, try program.published())] {
      let again = try program.run(["report", "--at-run", "\(run)", "--out", "again\(run)"])
      #expect([0, 1].contains(again.status), "\(again)")
      #expect(differences(set, try program.published(in: "again\(run)")) == [])
    }
    try program.run(["verify", "--replay"]).ended(0)
    try program.run(["retract", "b.jsonl", "--reason", "wrong"]).ended(0)
    try run("c", [body(4, user: 4)], asOf: "2026-05-12")
    #expect(try customers(["charges/2026-02.csv"]).sorted() == ["", "", "acct-1", "acct-1"])
  }

  @Test("Lines read before the setting have no id, even if they are read again")
  func laterSetting() throws {
    try FileManager.default.removeItem(atPath: program.folder.path("subledger.yaml"))
    try run("a", [body(1, identity("acct-1")), body(2, user: 2, identity("acct-3"))])
    try configure("identity_id")
    try run("b", [body(1, isRenewal: true, identity("acct-2"))], asOf: "2026-05-11")
    #expect(try customers(charges).sorted() == ["", "acct-2", "acct-2"])
    try program.run(["verify", "--replay"]).ended(0)
  }

  @Test(
    "Erasing a person by either id erases the customer id, which does not return",
    arguments: ["QON_1", "acct-0001"])
  func erased(id: String) throws {
    let lines = [
      body(1, identity("acct-0001")), body(2, user: 2, identity("acct-0002")),
      body(3, user: 3, identity("acct-00012")),
    ]
    try run("a", lines)
    let named = try program.run(["erase", id, "--reason", "\(id) wants it"])
    #expect(named.status == 64 && !named.errors.contains(id), "\(named)")
    let reason = "acct-0001 or QON_1 asked".replacing(id, with: "it")
    let result = try program.run(["erase", id, "--reason", reason])
    #expect(result.status == 0 && !(result.output + result.errors).contains(id), "\(result)")
    let path = program.folder.path("subledger.sqlite")
    let acts = try Ledger.open(path: path, mode: .readOnly).acts()
    #expect(acts.count == 1 && !acts[0].reason.contains("acct-0001"))
    try run("b", [body(1, isRenewal: true, identity("acct-0009"))], asOf: "2026-05-11")
    #expect(try customers(charges).sorted() == ["", "", "acct-0002", "acct-00012"].sorted())
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for word in ["acct-0001\u{0}", "acct-0009"] {
      #expect(bytes.range(of: Data(word.utf8)) == nil)
    }
    let again = try program.run(["erase", "acct-0001", "--reason", "r"])
    #expect(again.status == 0 && !again.errors.contains("acct-0001"), "\(again)")
    #expect(try program.run(["verify", "--replay"]).status == 0)
  }

  @Test("All users of one customer are erased together")
  func oneOfSeveral() throws {
    let users = [1, 2].map { body($0, user: $0, identity("acct-0001")) }
    try run("a", users + [body(3, user: 3, identity("acct-0003"))])
    let result = try program.run(["erase", "acct-0001", "--reason", "r"])
    #expect(result.output.split(separator: "\n").count == 3, "\(result)")
    try run("b", [body(4, user: 4)], asOf: "2026-05-11")
    let rows = try program.rows("charges/2026-02.csv")
    #expect(rows.filter { $0["user_id"]?.hasPrefix("erased-") ?? false }.count == 2)
    #expect(rows.compactMap { $0["customer_id"] }.sorted() == ["", "", "", "acct-0003"])
  }

  @Test("Erasing one of a customer's users leaves the customer id with none of them")
  func sharedID() throws {
    let users = [1, 2].map { body($0, user: $0, identity("acct-0001")) }
    try run("a", users + [body(3, user: 3, identity("acct-0003"))])
    try program.run(["erase", "QON_1", "--reason", "r"]).ended(0)
    try run("b", [body(2, isRenewal: true, user: 2, identity("acct-0001"))], asOf: "2026-05-11")
    #expect(try customers(charges).sorted() == ["", "", "", "acct-0003"])
    #expect(try customers(["charges/2026-02.csv"], of: "QON_2") == [""])
    let ledger = try Data(contentsOf: URL(fileURLWithPath: program.folder.path("subledger.sqlite")))
    #expect(ledger.range(of: Data("acct-0001".utf8)) == nil)
    #expect(try program.run(["verify", "--replay"]).status == 0)
  }

  @Test("No message and no list of rejects contains the id, and a formula in it is disarmed")
  func unsaid() throws {
    let long = String(repeating: "c4n4ry", count: 300)
    let broken = [#"{"identity_id":"c4n4ry","user_id":1,"time":2,"event_name":3}"#, "c4n4ry"]
    let lines = [body(1, identity("=c4n4ry")), body(2, user: 2, identity(long))] + broken
    let result = try run("a", lines)
    #expect(!(result.output + result.errors).contains("c4n4ry"))
    #expect(try program.rows("inputs.csv").first?["accepted"] == "2")
    for (name, bytes) in try program.published() where !name.hasPrefix("charges/") {
      #expect(bytes.range(of: Data("c4n4ry".utf8)) == nil, "\(name)")
    }
    #expect(try customers(["charges/2026-02.csv"]).sorted() == ["", "'=c4n4ry"])
  }

  @Test("An unknown member name is refused")
  func unknownMember() throws {
    try configure("email")
    let result = try program.run(["run", "--archives", "in", "--as-of", "2026-05-10"]).ended(78)
    #expect(result.errors.contains("one of identity_id, custom_user_id"), "\(result)")
  }
}
