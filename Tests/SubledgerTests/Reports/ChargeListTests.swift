import Foundation
import TestSupport
import Testing

@Suite("The list of charges has a row for each charge and refund that revenue counts")
struct ChargeListTests {
  private let program: Program

  init() throws { program = try Program() }

  private func run(_ asOf: String = "2026-05-01", _ more: [String] = []) throws {
    try program.run(["run", "--archives", "in", "--as-of", asOf] + more).ended(0, 1)
  }

  /// A renewal of `Body(1)` for three units, on 27 March.
  private var renewal: Body {
    var body = Body(1, "subscription_renewed", at: 1_774_612_800)
    body.members["quantity"] = "3"
    body.members["revenue"] = Body.money("29.97", rate: 70)
    body.members["transaction"] =
      #"{"transaction_id":"t,2","original_transaction_id":2000000900000001,"#
      + #""expires":1777291200,"transaction_date":1774612800}"#
    return body
  }

  /// A whole refund of it, on 10 April.
  private var refund: Body {
    var body = renewal
    body.members["event_name"] = "\"subscription_refunded\""
    body.members["time"] = "1775822400"
    body.members["created_at"] = "1775822460"
    return body
  }

  @Test("A row has the event's ids, units, period and provenance; a refund names its charge")
  func rows() throws {
    try program.folder.write(Body(1).line + "\n", to: "in/a.jsonl")
    try run("2026-03-01")
    try program.folder.write("\(renewal.line)\n\(refund.line)\n", to: "in/b.jsonl")
    try run()
    let start = try #require(try program.rows("charges/2026-02.csv").first)
    #expect(start["charge_kind"] == "first" && start["transaction_id"] == "2000000900000001")
    #expect(start["units"] == "1" && start["first_published_run"] == "1")
    let renewed = try #require(try program.rows("charges/2026-03.csv").first)
    #expect(renewed["transaction_id"] == "t,2" && renewed["user_id"] == "QON_1")
    #expect(renewed["renewal_ordinal"] == "1" && renewed["units"] == "3")
    #expect(renewed["period_start"] == "2026-03-27T12:00:00Z")
    #expect(renewed["period_end"] == "2026-04-27T12:00:00Z")
    #expect(renewed["gross_usd"] == "29.97" && renewed["proceeds_usd"] == "20.979")
    #expect(renewed["archive"] == "b.jsonl" && renewed["line"] == "1")
    #expect(renewed["customer_id"] == "" && renewed["refund_of"] == "")
    let refunded = try #require(try program.rows("charges/2026-04.csv").first)
    #expect(refunded["kind"] == "refund" && refunded["charge_kind"] == "renewal")
    #expect(refunded["gross_usd"] == "-29.97" && refunded["proceeds_local"] == "-20.979")
    #expect(refunded["refund_of"] == "t,2" && refunded["renewal_ordinal"] == "1")
    #expect(refunded["first_published_run"] == "2" && refunded["changed_in_run"] == "2")
  }

  @Test("A version that another original id has, and that does not count, is counted in a night")
  func rivalVersions() throws {
    try program.folder.write(
      "\(Body(1).line)\n\(renewal.line)\n\(refund.line)\n", to: "in/a.jsonl")
    try run()
    var other = refund
    other.members["created_at"] = "1775822430"
    other.members["transaction"] = refund.members["transaction"]?.replacing(
      "2000000900000001", with: "2000000900000009")
    try program.folder.write(other.line + "\n", to: "in/b.jsonl")
    try run()
    #expect(try program.rows("charges/2026-04.csv").map { $0["versions"] } == ["2"])
    try program.run(["verify"]).ended(0)
  }

  @Test("Two charges of one transaction in the same second have different keys")
  func twins() throws {
    var started = renewal
    started.members["event_name"] = "\"subscription_started\""
    let lines = [started, renewal].map { body in
      var body = body
      body.members["platform"] = "\"Stripe\""
      return body.line + "\n"
    }
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    try run()
    let manifest = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(fileURLWithPath: program.folder.path("reports/datapackage.json"))))
    let resources = (manifest as? [String: Any])?["resources"] as? [[String: Any]] ?? []
    let list = resources.first { $0["path"] as? String == "charges/2026-03.csv" }
    let schema = list?["schema"] as? [String: Any]
    let key = try #require(schema?["primaryKey"] as? [String])
    let rows = try program.rows("charges/2026-03.csv").map { row in key.map { row[$0] ?? "" } }
    #expect(rows.count == 2 && Set(rows).count == 2, "\(rows)")
  }

  @Test("A break names a transaction as the list does, even if the original id is a number")
  func breaks() throws {
    var again = refund
    again.members["time"] = "1775908800"
    again.members["created_at"] = "1775908860"
    let lines = [Body(1), renewal, refund, again].map { $0.line + "\n" }
    try program.folder.write(lines.joined(), to: "in/a.jsonl")
    try run()
    let found = try program.rows("breaks.csv").filter { $0["code"] == "OVER_REFUND" }
    #expect(found.map { $0["transaction_id"] } == ["t,2"])
  }

  @Test("A new version changes the row and its run; unchanged months keep their file")
  func versions() throws {
    try program.folder.write("\(Body(1).line)\n\(renewal.line)\n", to: "in/a.jsonl")
    try run()
    func number(_ month: String) throws -> Int? {
      let path = program.folder.path("reports/charges/\(month).csv")
      return try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }
    let february = try number("2026-02")
    var corrected = renewal
    corrected.members["revenue"] = Body.money("19.97", rate: 70)
    corrected.members["created_at"] = "1774700000"
    try program.folder.write(corrected.line + "\n", to: "in/b.jsonl")
    try run()
    let rows = try program.rows("charges/2026-03.csv")
    #expect(rows.map { $0["gross_usd"] } == ["19.97"] && rows[0]["versions"] == "2")
    #expect(rows[0]["first_published_run"] == "1" && rows[0]["changed_in_run"] == "2")
    #expect(rows[0]["archive"] == "b.jsonl")
    #expect(try number("2026-02") == february)
  }

  @Test("A report repairs a month that was damaged before the checksums were written")
  func repaired() throws {
    try program.folder.write("\(Body(1).line)\n\(renewal.line)\n", to: "in/a.jsonl")
    try run()
    let february = program.folder.path("reports/charges/2026-02.csv")
    let whole = try String(contentsOfFile: february, encoding: .utf8)
    try whole.replacing("USD", with: "EUR").write(
      toFile: february, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: february)
    #expect(try program.run(["verify"]).status == 65)
    try program.run(["report", "--as-of", "2026-05-01"]).ended(0, 1)
    #expect(try String(contentsOfFile: february, encoding: .utf8) == whole)
  }

  @Test("A charge after as-of is first published by the run that reports it")
  func asOf() throws {
    try program.folder.write("\(Body(1).line)\n\(renewal.line)\n", to: "in/a.jsonl")
    try run("2026-03-01")
    #expect(throws: (any Error).self) { try program.rows("charges/2026-03.csv") }
    try run()
    #expect(try program.rows("charges/2026-03.csv").map { $0["first_published_run"] } == ["2"])
  }

  @Test("Sandbox purchases and held charges have no row")
  func withoutMoney() throws {
    var sandbox = Body(2)
    sandbox.members["environment"] = "\"sandbox\""
    var again = Body(1)
    again.members["time"] = "1772197200"
    let lines = [Body(1), sandbox, again].map(\.line).joined(separator: "\n")
    try program.folder.write(lines, to: "in/a.jsonl")
    try run()
    #expect(try program.rows("charges/2026-02.csv").count == 1)
  }

  @Test("An erased person appears in no month, whether new input arrived or not")
  func erased() throws {
    try program.folder.write("\(bodies(3))\(renewal.line)\n", to: "in/a.jsonl")
    try run()
    try #require(try program.run(["erase", "QON_1", "--reason", "request 7"]).status == 0)
    try run("2026-05-02")
    for month in ["2026-02", "2026-03"] {
      let users = try program.rows("charges/\(month).csv").compactMap { $0["user_id"] }
      #expect(!users.contains("QON_1") && users.contains { $0.hasPrefix("erased-") })
    }
  }

  @Test("Charges add up to every row of revenue, for every provider", arguments: [3, 4])
  func sums(seed: Int) throws {
    let world = try World(
      seed: seed, subscribers: 200, lost: 10000,
      more: ["--providers", "qonversion,iaptic", "--fault", "over_refund=500000"],
      isPublished: true)
    let keys = [
      "provider", "app_id", "store", "product_id", "charge_kind", "country", "storefront",
      "currency", "proceeds_rate", "amount_basis",
    ]
    let measures = ["net_usd", "proceeds_usd", "net_local", "proceeds_local"]
    let columns = ["gross_usd", "proceeds_usd", "gross_local", "proceeds_local"]
    func amounts(_ row: [String: String], _ columns: [String]) -> [Decimal] {
      columns.map { Decimal(string: row[$0] ?? "") ?? 0 }
    }
    var booked: [[String?]: [Decimal]] = [:]
    for row in try world.program.rows("revenue_monthly.csv") {
      booked[[row["period"]] + keys.map { row[$0] }] = amounts(row, measures)
    }
    for file in try world.program.published().keys where file.hasPrefix("charges/") {
      let month = String(file.dropFirst("charges/".count).dropLast(4))
      for row in try world.program.rows(file) {
        let key = [month] + keys.map { row[$0] }
        let rest = try #require(booked[key], "\(row)")
        booked[key] = zip(rest, amounts(row, columns)).map { $0 - $1 }
      }
    }
    #expect(booked.count > 100 && booked.values.allSatisfy { $0.allSatisfy { $0 == 0 } })
  }
}
