import Foundation
import TestSupport
import Testing

@Suite("Outages of the endpoint are found from later deliveries")
struct OutageTests {
  private static let short = "2025-03-10T02:00:00Z/2025-03-10T14:00:00Z"
  private static let long = "2025-04-20T00:00:00Z/2025-04-22T00:00:00Z"

  private func world(_ outages: [String]) throws -> World {
    try World(
      seed: 8, subscribers: 700, months: 6,
      more: ["--enveloped", "1000000"] + outages.flatMap { ["--outage", $0] }, isPublished: true)
  }

  @Test("Each outage is a row with its delayed and lost deliveries")
  func found() throws {
    let world = try world([Self.short, Self.long])
    let rows = try world.program.rows("outages.csv")
    try #require(rows.count == 2)
    for (row, outage) in zip(rows, [Self.short, Self.long]) {
      let bounds = outage.split(separator: "/").map(String.init)
      let (from, to) = (row["from"] ?? "", row["to"] ?? "")
      let last = try #require(row["last_taken_at"])
      #expect(!last.isEmpty && last < bounds[0])
      // A message is created up to three seconds before its first attempt.
      #expect(try Date(from, strategy: .iso8601) > Date(bounds[0], strategy: .iso8601) - 3)
      #expect(from < to && to < bounds[1] && bounds[1] <= row["next_taken_at"] ?? "")
      #expect(row["provider"] == "qonversion")
      #expect(Int(row["deliveries_delayed"] ?? "") ?? 0 >= 3)
    }
    #expect(rows[0]["deliveries_lost"] == "0")
    // Deliveries created on the first of two days are given up before the end of the second.
    #expect(rows[1]["from"] ?? "" > "2025-04-20T23")
    let lost = try TruthEvent.all(of: world).filter { $0.outcome == "lost" && $0.isProduction }
    let shown = lost.filter { $0.isCharge && $0.evidence?.contains("sdk") == true }
    let counted = Int(rows[1]["deliveries_lost"] ?? "") ?? 0
    #expect(counted >= shown.count && !shown.isEmpty)
    #expect(counted <= lost.count)
  }

  @Test("Single late deliveries are not an outage")
  func none() throws {
    let world = try world([])
    #expect(try world.program.rows("outages.csv").isEmpty)
    let months = try FileManager.default.contentsOfDirectory(
      atPath: world.program.folder.path("reports/deliveries_daily"))
    let late = try months.flatMap { try world.program.rows("deliveries_daily/\($0)") }.filter {
      (Int($0["attempt_3"] ?? "") ?? 0) > 0 || (Int($0["attempt_6"] ?? "") ?? 0) > 0
    }
    #expect(late.count > 20)
  }

  @Test("Runs that cut through an outage end with the result of one run")
  func manyRuns() throws {
    let world = try world([Self.short, Self.long])
    for (count, asOf) in [(5, "2025-03-10T08:00:00Z"), (9, "2025-04-21"), (14, world.asOf)] {
      for url in try world.archives().prefix(count).reversed() {
        try world.program.folder.write(
          Array(Data(contentsOf: url)), to: "arrived/\(url.lastPathComponent)")
      }
      try world.publish(world.run(archives: ["arrived"], out: "nightly", asOf: asOf))
    }
    let (once, incremental) = (
      try world.program.published(), try world.program.published(in: "nightly")
    )
    #expect(try world.program.rows("outages.csv").count == 2)
    #expect(once["outages.csv"] == incremental["outages.csv"])
  }
}
