import Foundation
import TestSupport

/// One event of a simulated world, from truth/events.jsonl.gz.
struct TruthEvent: Decodable {
  let id: String
  let kind: String
  let lineage: String
  let transaction: String
  let time: Int64
  let environment: String
  let app: String
  let store: String
  let product: String
  let country: String
  let currency: String
  let value: Decimal?
  let usd: Decimal?
  let isProceed: Int?
  let ordinal: Int?
  let outcome: String
  let evidence: [String]?

  static func all(of world: World) throws -> [TruthEvent] {
    let text = try gzip("-dc", world.program.folder.path("world/truth/events.jsonl.gz"))
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try text.split(separator: UInt8(ascii: "\n")).map {
      try decoder.decode(TruthEvent.self, from: Data($0))
    }
  }

  /// The month in UTC, such as `2026-02`.
  var month: String {
    let date = Date(timeIntervalSince1970: TimeInterval(time)).formatted(.iso8601)
    return String(date.prefix(7))
  }

  var isProduction: Bool { environment == "production" }

  /// Refunds, and the credit for the old product in a product change.
  var isRefund: Bool {
    kind == "refunded" || kind == "purchase_refunded" || isChange && (usd ?? 0) < 0
  }

  /// Kinds that book money if they have any.
  var isCharge: Bool {
    let always = ["started", "trial_converted", "renewed", "purchased"]
    return always.contains(kind) || isChange && (usd ?? -1) >= 0
  }

  private var isChange: Bool { ["upgraded", "downgraded", "product_changed"].contains(kind) }
}
