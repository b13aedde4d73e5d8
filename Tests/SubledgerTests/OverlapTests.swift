import Foundation
import TestSupport
import Testing

@Suite("One purchase reported by several providers")
struct OverlapTests {
  /// A month of a subscription for $9.99 from the first of month `month` of 2026, as Qonversion
  /// reports it.
  private func qonversion(_ month: Int, kind: String? = nil, price: String = "9.99") -> String {
    let first = 1_767_225_600
    let starts = [0, 31, 59, 90, 120, 151].map { first + $0 * 86_400 }
    var body = Body()
    body.members["event_name"] =
      "\"subscription_\(kind ?? (month == 1 ? "started" : "renewed"))\""
    body.members["time"] = "\(starts[month - 1])"
    body.members["created_at"] = "\(starts[month - 1] + 60)"
    body.members["product_id"] = "\"pro\""
    body.members["revenue"] = Body.money(price, rate: 70)
    body.members["transaction"] = """
      {"transaction_id":\(100 + month),"original_transaction_id":101,\
      "expires":\(starts[month]),"grace_period_expires":null,\
      "transaction_date":\(starts[month - 1])}
      """
    body.members["subscription_renew_count"] = month == 1 ? nil : "\(month - 1)"
    return body.line
  }

  /// The same as iaptic reports it.
  private func iaptic(_ month: Int, original: String = "101", price: String = "9.49") -> String {
    let (start, end) = ("2026-0\(month)-01T00:00:00.000Z", "2026-0\(month + 1)-01T00:00:00.000Z")
    return """
      {"type":"purchases.updated","applicationUsername":"u1","password":"p",\
      "notification":{"reason":"\(month == 1 ? "PURCHASED" : "RENEWED")","id":"n\(month)",\
      "date":"\(start)","productId":"apple:pro","purchaseId":"apple:\(original)",\
      "transactionId":"apple:\(original.dropLast())\(month)"},\
      "purchases":{"apple:pro":{"productId":"apple:pro","purchaseId":"apple:\(original)",\
      "transactionId":"apple:\(original.dropLast())\(month)","platform":"apple",\
      "purchaseDate":"2026-01-01T00:00:00Z",\
      "lastRenewalDate":"\(start)","expirationDate":"\(end)","isExpired":false,\
      "renewalIntent":"Renew","currency":"USD","amountUSD":\(price)}}}
      """
  }

  /// What is published of `lines`, in one run, and in the other order by a run for each line.
  private func reports(
    _ lines: [String], asOf: String = "2026-03-15", authority: String? = nil
  ) throws -> Program {
    let program = try Program()
    let setting = authority.map { "authority: [\($0)]\n" } ?? ""
    try program.folder.write(
      setting + "freshness_max: 60d\nsnapshots: {from_webhooks: false}\n", to: "c.yaml")
    let parts = [("one", [lines.joined(separator: "\n")]), ("many", lines.reversed())]
    for (folder, runs) in parts {
      for (run, part) in runs.enumerated() {
        try program.folder.write(part + "\n", to: "\(folder)/in/\(run).jsonl")
        let result = try program.run([
          "run", "--archives", "\(folder)/in", "--as-of", asOf, "--ledger", "\(folder)/l",
          "--out", "\(folder)/out", "--config", "c.yaml",
        ])
        try #require([0, 1].contains(result.status), "\(result)")
      }
      let verified = try program.run(["verify", "--ledger", "\(folder)/l", "--config", "c.yaml"])
      #expect(verified.status == 0, "\(verified)")
    }
    let (one, many) = (try timeless(program, "one/out"), try timeless(program, "many/out"))
    #expect(differences(one, many).isEmpty, "order and nights change nothing")
    return program
  }

  /// The sum of a column over all rows, exact where it is a number of cents.
  private func sum(
    _ column: String, of report: String, _ program: Program, provider: String? = nil
  ) throws -> Decimal {
    try program.rows("\(report)_monthly.csv", in: "one/out")
      .filter { provider == nil || $0["provider"] == provider }
      .compactMap { Decimal(string: $0[column] ?? "") }.reduce(0, +)
  }

  @Test("Each sum counts it once, and overlap.csv shows what both said")
  func once() throws {
    let program = try reports([qonversion(1), iaptic(1), qonversion(2), iaptic(2)])
    #expect(try sum("charges", of: "revenue", program) == 2)
    #expect(try sum("net_usd", of: "revenue", program) == Decimal(string: "19.98"))
    #expect(try sum("new", of: "churn", program) == 1)
    #expect(try sum("renewals", of: "renewals", program) == 1)
    let excluded = try program.rows("excluded_monthly.csv", in: "one/out")
    #expect(excluded.allSatisfy { $0["provider"] == "iaptic" && $0["reason"] == "overlap" })
    #expect(excluded.map { $0["charges"] } == ["1", "1"])
    let rows = try program.rows("overlap.csv", in: "one/out")
    #expect(rows.map { $0["transaction_id"] } == ["101", "102"])
    let row = try #require(rows.first)
    #expect(
      row == [
        "store": "app_store", "transaction_id": "101", "counted_provider": "qonversion",
        "other_provider": "iaptic", "subscription_id": "101", "counted_usd": "9.99",
        "other_usd": "9.49", "difference": "0.50",
      ])
  }

  @Test("Two purchases of one product are two, with no overlap")
  func apart() throws {
    let program = try reports([qonversion(1), iaptic(1, original: "201")])
    #expect(try sum("charges", of: "revenue", program) == 2)
    #expect(try sum("new", of: "churn", program) == 2)
    #expect(try program.rows("overlap.csv", in: "one/out").isEmpty)
    #expect(try program.rows("excluded_monthly.csv", in: "one/out").isEmpty)
  }

  @Test("The provider that the configuration names first counts")
  func authority() throws {
    let program = try reports(
      [qonversion(1), iaptic(1), qonversion(2), iaptic(2)], authority: "iaptic")
    #expect(try sum("net_usd", of: "revenue", program) == Decimal(string: "18.98"))
    #expect(try sum("charges", of: "revenue", program, provider: "qonversion") == 0)
    let rows = try program.rows("overlap.csv", in: "one/out")
    #expect(rows.map { $0["difference"] } == ["-0.50", "-0.50"])
  }

  @Test("What only the other provider saw is counted, in the same subscription")
  func seenByOther() throws {
    let program = try reports(
      [qonversion(1), iaptic(1), iaptic(2), qonversion(3), iaptic(3)], asOf: "2026-03-20")
    #expect(try sum("charges", of: "revenue", program) == 3)
    #expect(try sum("charges", of: "revenue", program, provider: "iaptic") == 1)
    #expect(try sum("new", of: "churn", program) == 1)
    #expect(try sum("churned", of: "churn", program) == 0)
    #expect(try sum("transfer_in", of: "churn", program) == 2)
    #expect(try program.rows("overlap.csv", in: "one/out").count == 2)
  }

  @Test("A subscription goes on from one provider to another, without churn and without a new one")
  func migration() throws {
    let lines = [qonversion(1), qonversion(2), iaptic(2), iaptic(3), iaptic(4)]
    let program = try reports(lines, asOf: "2026-04-20")
    #expect(try sum("charges", of: "revenue", program) == 4)
    #expect(try sum("new", of: "churn", program) == 1)
    #expect(try sum("churned", of: "churn", program) == 0)
    let churn = try program.rows("churn_monthly.csv", in: "one/out")
    let march = churn.filter { $0["period"] == "2026-03" }
    #expect(march.map { $0["provider"] } == ["iaptic", "qonversion"])
    #expect(march.map { $0["transfer_in"] } == ["1", "0"])
    #expect(march.map { $0["transfer_out"] } == ["0", "1"])
    #expect(march.map { $0["active_close"] } == ["1", "0"])
  }

  @Test("A world that two providers report is the world that one reports", arguments: [1, 2])
  func world(seed: Int) throws {
    let world = try World(
      seed: seed, subscribers: 80, months: 8, archives: 4,
      more: ["--providers", "qonversion,iaptic"])
    for archive in try world.archives() {
      let lines = String(decoding: try gzip("-dc", archive.path), as: UTF8.self)
      // iaptic's ids become those of Qonversion's transactions.
      let same = lines.replacing(/\b22([0-9]{14})\b/) { "20\($0.output.1)" }
        .replacing("GPA.3302-", with: "GPA.3300-")
        .replacing("sub_1Q02", with: "sub_1Q00").replacing("in_1Q02", with: "in_1Q00")
      let name = archive.deletingPathExtension().lastPathComponent
      try world.program.folder.write(same, to: "both/\(name)")
      let alone = same.split(separator: "\n").filter { $0.contains("event_name") }
      try world.program.folder.write(alone.joined(separator: "\n"), to: "alone/\(name)")
    }
    try world.publish(world.run(archives: ["both"], out: "b"))
    try world.publish(world.run(archives: ["alone"], out: "a"))
    for night in [["both/part-0003.jsonl", "both/part-0001.jsonl"], ["both"]] {
      try world.publish(world.run(archives: night, out: "nights"))
    }
    #expect(
      differences(
        try timeless(world.program, "b", withResolved: false),
        try timeless(world.program, "nights", withResolved: false)
      ).isEmpty)
    for name in ["revenue", "churn", "renewals", "mrr", "trials", "retention"] {
      func rows(_ out: String) throws -> [[String: String]] {
        try world.program.rows("\(name)_monthly.csv", in: out).filter {
          $0["provider"] == "qonversion"
        }
      }
      #expect(try rows("b") == rows("a"), "\(name)")
      #expect(
        try world.program.rows("\(name)_monthly.csv", in: "b").count == rows("b").count, "\(name)")
    }
    #expect(try world.program.rows("overlap.csv", in: "b").count > 100)
  }
}
