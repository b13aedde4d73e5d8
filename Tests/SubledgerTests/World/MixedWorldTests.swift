import Foundation
import TestSupport
import Testing

@Suite("A world of four providers is reported exactly")
struct MixedWorldTests {
  private static let reports = ["churn", "mrr", "renewals", "revenue", "trials"]
  private static let keys: Set<String> = [
    "period", "provider", "app_id", "store", "product_id", "product_type", "charge_kind",
    "country", "storefront", "currency", "proceeds_rate", "amount_basis", "renewal_ordinal",
  ]

  /// A year of purchases that four providers report, all in the same archives.
  private func world(seed: Int, subscribers: Int = 300, isPublished: Bool = true) throws -> World {
    try World(
      seed: seed, subscribers: subscribers, months: 12, archives: 12,
      more: ["--providers", "qonversion,flobuk,iaptic,purple"], isPublished: isPublished)
  }

  @Test("Every row that a provider's data supports equals the truth", arguments: [3, 8])
  func exact(seed: Int) throws {
    let world = try world(seed: seed)
    let exact = try coverage(of: world)
    var compared: [String: Int] = [:]
    for report in Self.reports {
      let name = "\(report)_monthly.csv"
      func rows(_ folder: String) throws -> Set<[String: String]> {
        Set(
          try readCSV(world.program.folder.path("\(folder)/\(name)")).filter {
            isExact($0, "\(report)_monthly", exact)
          })
      }
      let (truth, reported) = (try rows("world/truth"), try rows("reports"))
      for row in truth.subtracting(reported).sorted(by: { "\($0)" < "\($1)" }).prefix(3) {
        let other = reported.first { key($0) == key(row) }
        Issue.record("\(name): \(key(row)) is \(difference(row, other))")
      }
      #expect(reported.subtracting(truth).isEmpty, "\(name) has rows of its own")
      for row in truth { compared[row["provider"] ?? "", default: 0] += 1 }
    }
    for provider in ["qonversion", "flobuk", "iaptic", "purple"] {
      #expect(compared[provider, default: 0] > 400, "\(provider)")
    }
  }

  @Test("Without losses no break is open, and no line is rejected", arguments: [3, 8])
  func nothingLost(seed: Int) throws {
    let world = try world(seed: seed)
    let open = try world.program.rows("breaks.csv").filter {
      $0["status"] == "open" && $0["code"] != "STALE_INPUT"
    }
    #expect(open.map { "\($0["code"] ?? "") \($0["provider"] ?? "")" } == [])
    #expect(try world.program.rows("rejects.csv").isEmpty)
    let deliveries = try world.program.published().keys.filter {
      $0.hasPrefix("deliveries_daily/")
    }
    let providers = try deliveries.flatMap { try world.program.rows($0) }.map { $0["provider"] }
    #expect(Set(providers) == ["qonversion", "flobuk", "iaptic", "purple"])
  }

  @Test("Coverage matches every feed's metrics")
  func coverage() throws {
    let world = try world(seed: 3)
    let rows = try world.program.rows("coverage.csv")
    func coverage(_ provider: String, _ metric: String) -> Set<String?> {
      Set(
        rows.filter { $0["provider"] == provider && $0["metric"] == metric }.map { $0["coverage"] })
    }
    #expect(coverage("qonversion", "revenue_usd") == ["measured"])
    #expect(coverage("purple", "refunds") == ["not_available"])
    #expect(coverage("purple", "churn").isSubset(of: ["estimated"]))
    #expect(coverage("flobuk", "trials") == ["not_available"])
    #expect(coverage("flobuk", "revenue_usd").contains("estimated"))
    #expect(coverage("iaptic", "proceeds") == ["estimated"])
    let unchained = rows.filter { $0["provider"] == "flobuk" && $0["metric"] == "renewals" }
    #expect(unchained.contains { Int($0["events"] ?? "") ?? 0 > 0 })
  }

  @Test("Lines mixed over files and runs give the reports of a single run")
  func mixedRuns() throws {
    let world = try world(seed: 4, subscribers: 100, isPublished: false)
    try world.publish(world.run(out: "once"))
    let lines = try world.archives().flatMap {
      try gzip("-dc", $0.path).split(separator: UInt8(ascii: "\n"))
    }
    // Any order works if it is always the same.
    let mixed = lines.indices.sorted { ($0 * 7919 % 10_007, $0) < ($1 * 7919 % 10_007, $1) }
    for (run, asOf) in ["2025-06-01", "2025-10-15", world.asOf].enumerated() {
      let hand = mixed.indices.filter { $0 % 3 == run }.map { lines[mixed[$0]] }
      try world.program.folder.write(
        Array(hand.joined(separator: [UInt8(ascii: "\n")])), to: "arrived/\(2 - run).jsonl")
      try world.publish(world.run(archives: ["arrived"], out: "nights", asOf: asOf))
    }
    #expect(lines.count > 1000)
    func lasting(_ out: String) throws -> [String: Data] {
      // Breaks resolved by a later run depend on arrival.
      try timeless(world.program, out).filter { !$0.key.hasPrefix("breaks") }
    }
    #expect(differences(try lasting("once"), try lasting("nights")).isEmpty)
    func open(_ out: String) throws -> [String?] {
      try world.program.rows("breaks.csv", in: out).filter { $0["status"] != "resolved" }
        .map { $0["break_id"] }
    }
    #expect(try open("once") == open("nights"))
  }

  private func coverage(of world: World) throws -> Set<[String]> {
    let path = world.program.folder.path("world/truth/coverage.csv")
    let rows = try readCSV(path).filter { $0["coverage"] == "exact" }
    return Set(
      rows.map { row in
        ["provider", "app_id", "store", "product_id", "report"].map { row[$0] ?? "" }
      })
  }

  /// An empty product in the truth's coverage means all products.
  private func isExact(
    _ row: [String: String], _ report: String, _ exact: Set<[String]>
  ) -> Bool {
    let shop = ["provider", "app_id", "store"].map { row[$0] ?? "" }
    return exact.contains(shop + ["", report])
      || exact.contains(shop + [row["product_id"] ?? "", report])
  }

  private func key(_ row: [String: String]) -> String {
    row.filter { Self.keys.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  private func difference(_ truth: [String: String], _ reported: [String: String]?) -> String {
    guard let reported else { return "missing" }
    return truth.filter { reported[$0.key] != $0.value }.sorted { $0.key < $1.key }
      .map { "\($0.key) \(reported[$0.key] ?? "") instead of \($0.value)" }
      .joined(separator: ", ")
  }
}
