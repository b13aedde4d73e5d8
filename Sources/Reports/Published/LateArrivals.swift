internal import EventStore
internal import Domain

/// The conflicts and refunds that came after a run published, by where they can move a number.
final class LateArrivals {
  private let history: PublishedHistory
  private let lastKnown: Int32
  private let conflicts: [(productKey: PrintedProduct, month: Month, fields: Set<String>)]
  /// The earliest month of a refund that came, by product; nil until somebody asks.
  private var refunds: [PrintedProduct: Month]?

  init(_ history: PublishedHistory, since run: Int64) throws {
    self.history = history
    let lastKnown = try history.ledger.lastArchive(knownTo: run)
    self.lastKnown = lastKnown
    let plan = history.plan
    let words = history.ledger.symbols.words
    conflicts = try history.ledger.conflicts().filter { conflict in
      conflict.event.time < plan.rules.asOf
        && conflict.places.contains { $0.archive > lastKnown }
    }.map { conflict in
      (
        productKey: conflict.event.productKey(words),
        month: plan.rules.calendar.month(of: conflict.event.time),
        fields: Set(conflict.fields)
      )
    }
  }

  /// The fields in which events differ that came in another version and move a row of `month`.
  ///
  /// Nil when there is none. `isBooking` says that an event moves only the row of its own month.
  func conflict(at productKey: PrintedProduct, _ month: Month, _ isBooking: Bool) -> Set<String>? {
    let found = conflicts.filter { conflict in
      let isThere =
        conflict.productKey == productKey
        || (conflict.fields.contains("product") && conflict.productKey.feed == productKey.feed)
      return isThere && (isBooking ? conflict.month == month : conflict.month <= month)
    }
    return found.isEmpty ? nil : found.reduce(into: []) { $0.formUnion($1.fields) }
  }

  /// Whether a refund came of what was sold there, in or before `month`.
  func hasRefund(at productKey: PrintedProduct, _ month: Month) throws -> Bool {
    let refunds = try refunds ?? read()
    self.refunds = refunds
    return refunds[productKey].map { $0 <= month } ?? false
  }

  private func read() throws -> [PrintedProduct: Month] {
    var refunds: [PrintedProduct: Month] = [:]
    let rules = history.plan.rules
    let words = history.ledger.symbols.words
    try history.ledger.forEachLineage { _, events in
      for event in events where event.place.archive > lastKnown && event.time < rules.asOf {
        guard event.kind == .refunded || event.kind == .purchaseRefunded else { continue }
        let month = rules.calendar.month(of: event.time)
        let productKey = event.productKey(words)
        refunds[productKey] = min(month, refunds[productKey] ?? month)
      }
    }
    return refunds
  }
}

extension Event {
  /// What it is about, as a report prints it.
  func productKey(_ words: [String]) -> PrintedProduct {
    func cell(_ symbol: StringID) -> String { quoted(CellText.of(words[Int(symbol)])) }
    return PrintedProduct(
      feed: ExactText("\(provider.name),\(cell(app))"), product: ExactText(cell(product)))
  }
}
