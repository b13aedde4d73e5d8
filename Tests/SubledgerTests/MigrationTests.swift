import Foundation
import TestSupport
import Testing

@Suite("An app whose users move to another provider")
struct MigrationTests {
  @Test(
    "Every sum over both counts each purchase once, with a time of both and without",
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
    // From the move on as the other provider alone would show it: it sends no end of grace.
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
    "Nothing of before is lost money where the new provider reports another app already",
    arguments: ["purple", "flobuk"])
  func running(former: String) throws {
    let world = try World(
      seed: 1, subscribers: 60, months: 6, archives: 4,
      more: [
        "--providers", "\(former),iaptic", "--migrate", "\(former)/iaptic/2025-04-01/2025-05-01",
      ], isPublished: true)
    let breaks = try world.program.rows("breaks.csv").filter {
      $0["status"] == "open" && $0["evidence"]?.contains("reported by \(former)") == true
    }
    #expect(!breaks.isEmpty && breaks.allSatisfy { $0["estimated_usd"] == "0.00" })
  }

  @Test(
    "It is between two who send",
    arguments: ["qonversion/purple/2025-05-01/2025-06-01", "iaptic/iaptic/2025-05-01/2025-06-01"])
  func refused(move: String) throws {
    let result = try Program().run([
      "simulate", "--out", "w", "--providers", "qonversion,iaptic", "--migrate", move,
    ])
    #expect(result.status == 64 && result.errors.contains("a migration is from"), "\(result)")
  }

  /// Sums of a column over the app that moves, by month.
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
