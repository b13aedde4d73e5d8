import Foundation
import TestSupport
import Testing

@Suite("Renewals far off the usual price are found, and nothing else")
struct PriceOutlierTests {
  /// Transactions of the price outliers in a published set.
  private func found(_ world: World, in out: String = "reports") throws -> [String] {
    try world.program.rows("breaks.csv", in: out).filter { $0["code"] == "PRICE_OUTLIER" }
      .compactMap { $0["transaction_id"] }.sorted()
  }

  @Test(
    "Worlds without faults have no price outliers, whatever is lost",
    arguments: [(2, 0), (5, 10_000), (6, 0), (12, 20_000)])
  func clean(seed: Int, lost: Int) throws {
    #expect(try found(World(seed: seed, lost: lost, isPublished: true)) == [])
  }

  @Test("Several runs find the price outliers of one run, even among other faults")
  func faults() throws {
    let world = try FaultRecallTests.world(seed: 3)
    let whole = try found(world)
    #expect(whole.count > 5)
    let archives = try world.archives().map { "world/archives/\($0.lastPathComponent)" }
    for count in [archives.count / 2, archives.count - 1, archives.count] {
      try world.publish(world.run(archives: Array(archives.prefix(count)), out: "nightly"))
    }
    #expect(try found(world, in: "nightly") == whole)
  }
}
