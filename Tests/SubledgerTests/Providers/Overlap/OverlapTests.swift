import Foundation
import TestSupport
import Testing

@Suite("One purchase reported by several providers")
struct OverlapTests {
  /// A month of a $9.99 subscription from the first of month `month` of 2026, as Qonversion reports
  /// it.
  private func qonversion(_ month: Int, kind: String? = nil, price: String = "9.99") -> String {
    let first = 1_767_225_600
    let starts = [0, 31, 59, 90, 120, 151].map { first + $0 * 86_400 }
    var body = Body(
      1, "subscription_\(kind ?? (month == 1 ? "started" : "renewed"))", at: starts[month - 1],
      count: month == 1 ? nil : month - 1)
    body.members["product_id"] = "\"pro\""
    body.members["revenue"] = Body.money(price, rate: 70)
    body.members["transaction"] = Body.transaction(
      100 + month, of: 101, from: starts[month - 1], until: starts[month])
    return body.line
  }

  /// The same month as iaptic reports it.
  private func iaptic(
    _ month: Int, original: String = "101", price: String = "9.49", refundedOn day: String? = nil,
    user: String = "u1"
  ) -> String {
    let (start, end) = ("2026-0\(month)-01T00:00:00.000Z", "2026-0\(month + 1)-01T00:00:00.000Z")
    let reason = day != nil ? "REFUNDED" : month == 1 ? "PURCHASED" : "RENEWED"
    return """
      {"type":"purchases.updated","applicationUsername":"\(user)","password":"p",\
      "notification":{"reason":"\(reason)","id":"n\(month)\(day ?? "")",\
      "date":"\(day.map { $0 + "T00:00:00Z" } ?? start)","productId":"apple:pro",\
      "purchaseId":"apple:\(original)",\
      "transactionId":"apple:\(original.dropLast())\(month)"},\
      "purchases":{"apple:pro":{"productId":"apple:pro","purchaseId":"apple:\(original)",\
      "transactionId":"apple:\(original.dropLast())\(month)","platform":"apple",\
      "purchaseDate":"2026-01-01T00:00:00Z",\
      "lastRenewalDate":"\(start)","expirationDate":"\(end)","isExpired":false,\
      "renewalIntent":"Renew","currency":"USD","amountUSD":\(price)}}}
      """
  }

  /// The published reports of `lines`, in one run and, in reverse order, by one run per line.
  private func reports(
    _ lines: [String], asOf: String = "2026-03-15", authority: String? = nil
  ) throws -> Program {
    let program = try Program()
    let setting = authority.map { "authority: [\($0)]\n" } ?? ""
    try program.folder.write(
      setting + "freshness_max: 60d\nsnapshots: {from_webhooks: false}\n", to: "subledger.yaml")
    try program.publishBothWays(lines, asOf: asOf)
    for ledger in ["one/l", "many/l"] {
      try program.run(["verify", "--ledger", ledger]).ended(0)
    }
    let files = try ["one/out", "many/out"].map { try timeless(program, $0, withResolved: false) }
    #expect(differences(files[0], files[1]).isEmpty, "order and nights change nothing")
    return program
  }

  /// The sum of a column over all rows, exact if it is a number of cents.
  private func sum(
    _ column: String, of report: String, _ program: Program, provider: String? = nil
  ) throws -> Decimal {
    try program.rows("\(report)_monthly.csv", in: "one/out")
      .filter { provider == nil || $0["provider"] == provider }
      .compactMap { Decimal(string: $0[column] ?? "") }.reduce(0, +)
  }

  @Test("Each sum counts a purchase once, and overlap.csv shows both reports")
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
    #expect(
      rows.first == [
        "store": "app_store", "transaction_id": "101", "counted_provider": "qonversion",
        "other_provider": "iaptic", "subscription_id": "101", "counted_usd": "9.99",
        "other_usd": "9.49", "difference": "0.50",
      ])
  }

  @Test("Two purchases of one product are two, without overlap")
  func apart() throws {
    let program = try reports([qonversion(1), iaptic(1, original: "201")])
    #expect(try sum("charges", of: "revenue", program) == 2)
    #expect(try sum("new", of: "churn", program) == 2)
    #expect(try program.rows("overlap.csv", in: "one/out").isEmpty)
    #expect(try program.rows("excluded_monthly.csv", in: "one/out").isEmpty)
  }

  @Test("The provider configured first counts")
  func authority() throws {
    let program = try reports(
      [qonversion(1), iaptic(1), qonversion(2), iaptic(2)], authority: "iaptic")
    #expect(try sum("net_usd", of: "revenue", program) == Decimal(string: "18.98"))
    #expect(try sum("charges", of: "revenue", program, provider: "qonversion") == 0)
    #expect(
      try program.rows("overlap.csv", in: "one/out").map { $0["difference"] } == ["-0.50", "-0.50"])
  }

  @Test("An event that only the other provider reported counts in the same subscription")
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

  @Test("A charge missing from the authority but reported by another is missing once")
  func missed() throws {
    let missing = [qonversion(1), iaptic(1), iaptic(2), qonversion(3), iaptic(3)]
    let breaks = try missed(in: missing)
    let found = try #require(breaks.first)
    #expect(breaks.count == 1 && found["code"] == "MISSED_RENEWAL")
    #expect(found["provider"] == "qonversion" && found["transaction_id"] == "102")
    #expect(found["estimated_usd"] == "0.00" && found["missing_events"] == "1")
    #expect(found["expected_at"] == "2026-02-01T00:00:00Z" && found["status"] == "open")
    #expect(found["evidence"]?.hasPrefix("reported by iaptic: renewed of 2026-02-01") == true)
    #expect(try missed(in: missing + [qonversion(2)]).isEmpty)
  }

  @Test("A refund missing from the authority is a break, but not after its feed ended")
  func missedRefund() throws {
    let lines = [qonversion(1), iaptic(1), iaptic(1, refundedOn: "2026-01-20")]
    #expect(try missed(in: lines).isEmpty)
    let breaks = try missed(in: lines + [Body(2).line])
    #expect(
      breaks.map { [$0["code"], $0["estimated_usd"], $0["transaction_id"]] }
        == [["MISSED_REFUND", "0.00", "101"]])
    let program = try reports(
      [qonversion(1)] + [nil, "2026-01-20"].map { iaptic(1, price: "10.49", refundedOn: $0) })
    #expect(try sum("net_usd", of: "revenue", program) == 0, "the whole charge is given back")
    #expect(try sum("events", of: "excluded", program) == 1, "and no more")
  }

  @Test(
    "A charge missing from the other provider is worth nothing, unless only that one reports it")
  func missedByOther() throws {
    func missing(_ lines: [String]) throws -> [String?] {
      let program = try reports(lines, asOf: "2026-03-20")
      let money = try sum("missing_usd", of: "quality", program)
      let breaks = try open(program).filter { $0["provider"] == "iaptic" }
      return breaks.map { $0["code"] } + breaks.map { $0["estimated_usd"] } + ["\(money)"]
    }
    let seen = [iaptic(1), iaptic(3), qonversion(1), qonversion(3)]
    #expect(try missing(seen + [qonversion(2)]) == ["MISSED_RENEWAL", "0.00", "0"])
    #expect(try missing(seen) == ["MISSED_RENEWAL", "0.00", "9.99"])
    #expect(try missing(Array(seen.prefix(2))) == ["MISSED_RENEWAL", "9.49", "9.49"])
  }

  @Test("Charges before the authority's first event of a subscription are not missing")
  func beforeMove() throws {
    let running = iaptic(1, original: "201", user: "u2")
    let previous = [qonversion(1), qonversion(2), qonversion(3)]
    func found(_ lines: [String]) throws -> [String?] {
      try missed(in: [running] + previous + lines, authority: "iaptic").flatMap {
        [$0["provider"], $0["code"], $0["transaction_id"], $0["estimated_usd"]]
      }
    }
    #expect(try found([iaptic(3)]).isEmpty)
    #expect(
      try found([iaptic(1), iaptic(3)]) == ["iaptic", "MISSED_RENEWAL", "102", "0.00"])
  }

  private func missed(in lines: [String], authority: String? = nil) throws -> [[String: String]] {
    try open(reports(lines, asOf: "2026-03-20", authority: authority))
  }

  /// Breaks of missing events that are not resolved.
  private func open(_ program: Program) throws -> [[String: String]] {
    try program.rows("breaks.csv", in: "one/out").filter {
      $0["code"]?.hasPrefix("MISSED_") == true && $0["status"] != "resolved"
    }
  }

  @Test(
    "A subscription continues from one provider to another, with and without overlap",
    arguments: [false, true], [false, true])
  func migration(isOverlapping: Bool, isToAuthority: Bool) throws {
    let (first, second) = isToAuthority ? ("iaptic", "qonversion") : ("qonversion", "iaptic")
    func line(_ provider: String, _ month: Int) -> String {
      provider == "iaptic" ? iaptic(month) : qonversion(month)
    }
    let lines =
      [line(first, 1), line(first, 2)] + (isOverlapping ? [line(second, 2)] : [])
      + [line(second, 3), line(second, 4)]
    let program = try reports(lines, asOf: "2026-04-20")
    #expect(try sum("charges", of: "revenue", program) == 4)
    #expect(try sum("renewals", of: "renewals", program) == 3)
    #expect(try sum("new", of: "churn", program) == 1)
    for column in ["churned", "first_seen", "reactivated", "recovered", "lost"] {
      #expect(try sum(column, of: "churn", program) == 0, "\(column)")
    }
    let revenue = try program.rows("revenue_monthly.csv", in: "one/out")
    #expect(revenue.filter { $0["period"] == "2026-02" }.count == 1)
    let churn = try program.rows("churn_monthly.csv", in: "one/out")
    #expect(churn.filter { $0["active_close"] != "0" }.count == 4)
    #expect(try sum("transfer_in", of: "churn", program) == 1)
    #expect(try open(program).filter { $0["provider"] == first }.isEmpty)
  }

  @Test("A cancel that only another provider reports is the reason for the end")
  func canceledElsewhere() throws {
    let canceled = iaptic(2).replacing("RENEWED", with: "WILL_LAPSE")
      .replacing(#""n2","date":"2026-02-01"#, with: #""n3","date":"2026-02-10"#)
    let program = try reports([qonversion(1), iaptic(1), qonversion(2), iaptic(2), canceled])
    #expect(try sum("churned_voluntary", of: "churn", program, provider: "qonversion") == 1)
  }

  @Test("A trial that only another provider reports converted is new, not a renewal")
  func conversionElsewhere() throws {
    let trial = qonversion(1).replacing("subscription_started", with: "trial_started")
    let program = try reports([trial, iaptic(2)])
    #expect(try sum("converted", of: "trials", program) == 1)
    #expect(try sum("new", of: "churn", program) == 1)
    #expect(try sum("first_seen", of: "churn", program) == 0)
    #expect(try sum("renewals", of: "renewals", program) == 0)
    let kinds = try program.rows("revenue_monthly.csv", in: "one/out").map { $0["charge_kind"] }
    #expect(kinds == ["conversion"])
    #expect(try sum("eligible", of: "retention", program) == 1)
  }

  private static let pairs = [
    ["qonversion", "iaptic"], ["qonversion", "flobuk"], ["qonversion", "purple"],
    ["iaptic", "flobuk"], ["iaptic", "purple"], ["flobuk", "purple"],
  ]

  @Test("A world that two providers report equals the world that one reports", arguments: pairs)
  func world(_ pair: [String]) throws {
    let world = try World(
      seed: 1, subscribers: 55, months: 8, archives: 4,
      more: ["--providers", pair.joined(separator: ",")])
    try write(pair, of: world)
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
    // FLOBUK's renewals without user rank last.
    let left = pair[0] == "flobuk" ? "app_store" : "paypal"
    for name in ["revenue", "churn", "renewals", "mrr", "trials", "retention"] {
      func rows(_ out: String) throws -> [[String: String]] {
        try world.program.rows("\(name)_monthly.csv", in: out).filter { $0["store"] != left }
      }
      let (both, alone) = (try rows("b"), try rows("a"))
      let others = [both.first { !alone.contains($0) }, alone.first { !both.contains($0) }]
      #expect(both == alone, "\(name): \(others)")
    }
    #expect(try world.program.rows("overlap.csv", in: "b").count > 100)
  }

  /// Writes the lines of both providers about the same transactions, and those of the first alone.
  ///
  /// The first provider's oldest bodies have no transactions, so they cannot be matched.
  private func write(_ pair: [String], of world: World) throws {
    let numbers = pair.map { ["qonversion", "flobuk", "iaptic", "purple"].firstIndex(of: $0) ?? 0 }
    let marks = [0: "event_name", 2: "applicationUsername", 3: "eventTimeMillis"]
    for archive in try world.archives() {
      let lines = String(decoding: try gzip("-dc", archive.path), as: UTF8.self)
      var same = lines.replacing(try Regex("\\b2\(numbers[1])([0-9]{14})\\b")) {
        "2\(numbers[0])\($0.output[1].substring ?? "")"
      }
      for prefix in ["GPA.330", "sub_1Q0", "in_1Q0"] {
        same = same.replacing("\(prefix)\(numbers[1])", with: "\(prefix)\(numbers[0])")
      }
      let both = same.split(separator: "\n").filter {
        pair[0] != "iaptic" || !$0.contains("com.example.reader")
      }
      let name = archive.deletingPathExtension().lastPathComponent
      try world.program.folder.write(both.joined(separator: "\n"), to: "both/\(name)")
      let alone = both.filter { line in
        (marks.first { line.contains($0.value) }?.key ?? 1) == numbers[0]
      }
      try world.program.folder.write(alone.joined(separator: "\n"), to: "alone/\(name)")
    }
  }
}
