import Foundation
import TestSupport
import Testing

@Suite("Renewals far off what their product costs are found, and nothing else")
struct PriceOutlierTests {
  /// Transactions of the breaks of a published set.
  private func found(_ world: World, in out: String = "reports") throws -> [String] {
    try world.program.rows("breaks.csv", in: out).filter { $0["code"] == "PRICE_OUTLIER" }
      .compactMap { $0["transaction_id"] }.sorted()
  }

  @Test("A world without faults has none", arguments: [1, 2, 5, 7])
  func clean(seed: Int) throws {
    let world = try World(seed: seed, subscribers: 400, lost: 10000, isPublished: true)
    #expect(try found(world) == [])
  }

  @Test("Free and hundredfold renewals are found, run by run as in one run", arguments: [3, 9])
  func faults(seed: Int) throws {
    let world = try World(
      seed: seed, subscribers: 400,
      more: ["--fault", "free_charge=5000", "--fault", "hundredfold_charge=5000"],
      isPublished: true)
    let truth = try gzip("-dc", world.program.folder.path("world/truth/events.jsonl.gz"))
    let faulty = String(decoding: truth, as: UTF8.self).split(separator: "\n").filter {
      ($0.contains("free_charge") || $0.contains("hundredfold_charge"))
        && $0.contains("\"production\"")
    }
    let whole = try found(world)
    #expect(whole.count * 10 >= faulty.count * 7 && whole.count <= faulty.count)
    #expect(faulty.count > 5)
    let archives = try world.archives().map { "world/archives/\($0.lastPathComponent)" }
    for count in [archives.count / 2, archives.count - 1, archives.count] {
      try world.publish(world.run(archives: Array(archives.prefix(count)), out: "nightly"))
    }
    #expect(try found(world, in: "nightly") == whole)
  }
}
