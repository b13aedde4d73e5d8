import Foundation
import TestSupport
import Testing

@Suite("A loss keeps its break id, whatever shows it")
struct BreakIDTests {
  private typealias Row = [String: String]

  @Test(
    "A snapshot of a loss that events prove gives it no second id",
    arguments: [("qonversion", 5), ("iaptic", 2), ("purple", 1), ("purple", 3)])
  func snapshot(of provider: String, seed: Int) throws {
    let world = try World(
      seed: seed, subscribers: 150, lost: 40_000, more: ["--providers", provider])
    let snapshots = "world/snapshots/\(provider == "qonversion" ? "sdk" : provider)"
    let all = world.run()
    let inputs = all.firstIndex(of: "--snapshots").map { $0..<$0 + 2 } ?? 0..<0
    let alone = Array(all[..<inputs.lowerBound] + all[inputs.upperBound...])
    try world.publish(alone)
    let before = try losses(of: world)
    try world.publish(alone + ["--snapshots", snapshots])
    let after = try losses(of: world)
    let known = Set(before.compactMap { $0["break_id"] })
    #expect(known.count > 5)
    let new = after.filter { $0["status"] != "resolved" && !known.contains($0["break_id"] ?? "") }
    for resolved in after where resolved["status"] == "resolved" {
      let again = new.filter { isSame($0, resolved) }
      #expect(again.isEmpty, "\(resolved) is now \(again)")
    }
  }

  private func losses(of world: World) throws -> [Row] {
    let codes = ["START", "CONVERSION", "RENEWAL", "EXPIRATION"].map { "MISSED_" + $0 }
    return try world.program.rows("breaks.csv").filter { codes.contains($0["code"] ?? "") }
  }

  /// Whether both breaks are of a user and a day.
  private func isSame(_ one: Row, _ other: Row) -> Bool {
    one["user_id"] == other["user_id"]
      && one["expected_at"]?.prefix(10) == other["expected_at"]?.prefix(10)
  }
}
