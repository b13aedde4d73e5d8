import Foundation
import TestSupport
import Testing

@Suite("Faults of a feed are found by their code, with few false positives")
struct FaultRecallTests {
  /// A break, or an event that must raise one.
  private struct Finding: Hashable {
    let code: String
    let transaction: String
  }

  private static let faults = [
    "double_charge", "double_kind", "over_refund", "free_charge", "hundredfold_charge",
    "impossible_rate", "fractional_rate",
  ]

  /// A published world with every fault that has a code.
  static func world(seed: Int) throws -> World {
    try World(
      seed: seed, subscribers: 400,
      more: faults.flatMap { ["--fault", "\($0)=\($0 == "over_refund" ? 300_000 : 5000)"] }
        + ["--fault", "several_units=200000", "--fault", "last_attempt=5000"],
      isPublished: true)
  }

  @Test("Recall and precision of four codes over two worlds")
  func measured() throws {
    var wanted: Set<Finding> = []
    var found: Set<Finding> = []
    for seed in [3, 4] {
      let world = try Self.world(seed: seed)
      let truth = try gzip("-dc", world.program.folder.path("world/truth/events.jsonl.gz"))
      for line in truth.split(separator: UInt8(ascii: "\n")) {
        let event = try JSONSerialization.jsonObject(with: line) as? [String: Any]
        guard let code = event?["code"] as? String, event?["environment"] as? String == "production"
        else { continue }
        let transaction = event?["transaction"] as? String ?? ""
        wanted.insert(Finding(code: code, transaction: "\(seed) \(transaction)"))
      }
      for row in try world.program.rows("breaks.csv") where row["environment"] == "production" {
        found.insert(
          Finding(
            code: row["code"] ?? "", transaction: "\(seed) \(row["transaction_id"] ?? "")"))
      }
    }
    for (code, recall, precision) in [
      ("DOUBLE_CHARGE", 100, 100), ("RATE_MISMATCH", 100, 100),
      // A second refund of a hundredfold charge is still below the charge.
      ("OVER_REFUND", 90, 100),
      // No data shows what a product's first renewals should cost.
      ("PRICE_OUTLIER", 90, 100),
    ] {
      let (sent, raised) = (wanted.filter { $0.code == code }, found.filter { $0.code == code })
      let hits = sent.intersection(raised).count
      let about = "\(code): \(sent.count) sent, \(raised.count) raised, \(hits) of them right"
      print(about)
      #expect(sent.count > 5 && hits * 100 >= sent.count * recall, "\(about)")
      #expect(hits * 100 >= raised.count * precision, "\(about)")
    }
  }
}
