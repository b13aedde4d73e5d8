import Foundation
import TestSupport
import Testing

@Suite("An app whose users move to another provider")
struct MigrationTests {
  @Test(
    "Sums over both providers count each purchase once, with and without an overlap",
    arguments: ["05-01", "06-01"])
  func migratedWorld(begin: String) throws {
    func world(_ more: [String], isPublished: Bool) throws -> World {
      try World(
        seed: 1, subscribers: 120, months: 12, archives: 4, more: more, isPublished: isPublished)
    }
    let move = "qonversion/iaptic/2025-\(begin)/2025-06-01"
    let moved = try world(
      ["--providers", "qonversion,iaptic", "--migrate", move], isPublished: true)
    let alone = try world(["--providers", "iaptic"], isPublished: false)
    let truth = ["charges", "renewals", "started", "converted", "new", "first_seen"]
    for column in truth {
      let reported = try sums(column, moved, "reports")
      #expect(try sums(column, moved, "world/truth") == reported, "\(column)")
    }
    // After the migration, as the new provider alone shows it: it sends no end of grace.
    for column in ["churned", "active_close"] {
      let before = try sums(column, moved, "world/truth").filter { $0.key < "2025-06" }
      let after = try sums(column, alone, "world/truth").filter { $0.key >= "2025-06" }
      let reported = try sums(column, moved, "reports")
      #expect(reported == before.merging(after) { before, _ in before }, "\(column)")
    }
    let churn = try moved.program.rows("churn_monthly.csv")
    let arrived = churn.filter { $0["provider"] == "iaptic" && $0["period"] == "2025-06" }
    #expect(arrived.compactMap { Int($0["transfer_in"] ?? "") }.reduce(0, +) > 9)
    let breaks = try moved.program.rows("breaks.csv").filter { $0["status"] == "open" }
    #expect(breaks.allSatisfy { $0["code"] == "STALE_INPUT" || $0["estimated_usd"] == "0.00" })
    #expect(breaks.contains { $0["evidence"]?.contains("reported by qonversion") == true })
    #expect(try !moved.program.rows("overlap.csv").isEmpty)
  }

  @Test(
    "Earlier losses cost nothing if the new provider already reports another app",
    arguments: ["purple", "flobuk"])
  func running(previous: String) throws {
    let world = try World(
      seed: 1, subscribers: 60, months: 6, archives: 4,
      more: [
        "--providers", "\(previous),iaptic", "--migrate",
        "\(previous)/iaptic/2025-04-01/2025-05-01",
      ], isPublished: true)
    let breaks = try world.program.rows("breaks.csv").filter {
      $0["status"] == "open" && $0["evidence"]?.contains("reported by \(previous)") == true
    }
    #expect(!breaks.isEmpty && breaks.allSatisfy { $0["estimated_usd"] == "0.00" })
  }

  @Test("Doubtful churn is explained even if both providers reported the subscription")
  func inDoubt() throws {
    let world = try World(
      seed: 3, subscribers: 150, months: 12, archives: 4,
      more: [
        "--providers", "qonversion,iaptic", "--lost", "50000",
        "--migrate", "qonversion/iaptic/2025-05-01/2025-06-01",
      ], isPublished: true)
    let rows = try world.program.rows("churn_monthly.csv").filter {
      $0["churned_in_doubt"] != "0"
    }
    #expect(rows.count > 9)
    for row in rows {
      let keys = ["period", "provider", "app_id", "store", "product_id"]
      let asked = keys.map { "\($0)=\(row[$0] ?? "")" }
      let answer = try world.program.run(
        ["explain", "churn_monthly"] + asked + ["churned_in_doubt", "--ledger", "reports.sqlite"])
      #expect(answer.status == 0, "\(asked) \(answer)")
    }
  }

  @Test("An event of the previous provider is not missing where the new one's snapshot lists it")
  func listed() throws {
    let program = try Program()
    try program.folder.write("freshness_max: 90d\n", to: "subledger.yaml")
    func second(_ day: Int) -> Int { 1_767_225_600 + day * 86_400 }
    func told(_ name: String, _ id: Int, _ day: Int, until end: Int) -> String {
      var body = Body(name, of: "QON_1", day, id: id, original: 101, until: end)
      body.members["product_id"] = "\"pro\""
      return body.line + "\n"
    }
    func renewed(_ user: String, _ id: Int, of first: Int, _ day: Int) -> String {
      let date = Date(timeIntervalSince1970: Double(second(day))).ISO8601Format()
      let end = Date(timeIntervalSince1970: Double(second(day + 30))).ISO8601Format()
      return """
        {"type":"purchases.updated","applicationUsername":"\(user)","password":"p",\
        "notification":{"reason":"RENEWED","id":"n\(id)","date":"\(date)",\
        "productId":"apple:pro","purchaseId":"apple:\(first)","transactionId":"apple:\(id)"},\
        "purchases":{"apple:pro":{"productId":"apple:pro","purchaseId":"apple:\(first)",\
        "transactionId":"apple:\(id)","platform":"apple","purchaseDate":"\(date)",\
        "lastRenewalDate":"\(date)","expirationDate":"\(end)","isExpired":false,\
        "renewalIntent":"Renew"}}}

        """
    }
    try program.folder.write(
      told("trial_started", 101, 2, until: 9) + told("trial_converted", 102, 9, until: 39)
        + renewed("other", 202, of: 201, 1) + renewed("u1", 103, of: 101, 39), to: "in/a.jsonl")
    let types = ["trial_started", "subscription_started", "subscription_renewed"]
    for (ids, codes) in [([101, 102, 103], []), ([101, 105, 103], ["MISSED_CONVERSION"])] {
      let listed = zip(zip(ids, types), [(2, 9), (9, 39), (39, 69)]).map { named, days in
        #"{"transaction_id":"\#(named.0)","original_transaction_id":"101","type":"\#(named.1)","#
          + #""transaction_at":\#(second(days.0)),"expires_at":\#(second(days.1))}"#
      }
      try program.folder.write(
        #"{"provider":"iaptic","user_id":"u1","captured_at":\#(second(45)),"entitlements":[{"#
          + #""id":"pro","product_id":"pro","active":true,"expires_at":\#(second(69)),"#
          + #""source":"app_store","transactions":[\#(listed.joined(separator: ","))]}]}"# + "\n",
        to: "snap/s.jsonl")
      try program.run([
        "run", "--archives", "in", "--snapshots", "snap", "--as-of", "2026-02-18", "--ledger",
        "\(ids[1]).sqlite", "--out", "\(ids[1])",
      ]).ended(0, 1)
      let missed = try program.rows("breaks.csv", in: "\(ids[1])").filter {
        $0["user_id"] == "u1" && $0["code"]?.hasPrefix("MISSED") == true
      }
      #expect(missed.map { $0["code"] ?? "" } == codes, "\(missed)")
    }
  }

  @Test(
    "A migration needs two different sending providers",
    arguments: ["qonversion/purple/2025-05-01/2025-06-01", "iaptic/iaptic/2025-05-01/2025-06-01"])
  func refused(move: String) throws {
    let result = try Program().run([
      "simulate", "--out", "w", "--providers", "qonversion,iaptic", "--migrate", move,
    ])
    #expect(result.status == 64 && result.errors.contains("a migration is from"), "\(result)")
  }

  /// Sums of a column over the migrated app, by month.
  private func sums(_ column: String, _ world: World, _ folder: String) throws -> [String: Int] {
    let reports = [
      "charges": "revenue", "renewals": "renewals", "started": "trials", "converted": "trials",
    ]
    let report = reports[column] ?? "churn"
    var sums: [String: Int] = [:]
    for row in try readCSV(world.program.folder.path("\(folder)/\(report)_monthly.csv"))
    where row["product_id"]?.hasPrefix("com.example.pro.") == true && row["store"] != "stripe" {
      sums[row["period"] ?? "", default: 0] += Int(row[column] ?? "") ?? 0
    }
    return sums.filter { $0.value > 0 }
  }
}
