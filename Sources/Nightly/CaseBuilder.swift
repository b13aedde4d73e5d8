import Ledger
import Reconcile
import Timeline
import Vocabulary

/// Puts the words beside the numbers of a lineage, for the columns of `breaks.csv`.
struct CaseBuilder {
  let ledger: Ledger
  let rules: Rules

  /// The lineage as told before the earlier of as-of and `moment`; nil when nothing was told yet.
  func lineage(
    _ row: LineageRow, _ events: [Event], at moment: Instant, isHeldByAnotherUser: Bool = false
  ) throws -> LineageCase? {
    var then = rules
    then.asOf = min(rules.asOf, moment)
    guard let state = try Life(events: events, rules: then).state else { return nil }
    let hasLater = events.contains { $0.time >= then.asOf && $0.time < rules.asOf }
    let words = ledger.symbols.words
    var products: [Symbol: String] = [:]
    for event in events {
      products[event.product] = words[Int(event.product)]
      products[event.previousProduct] = words[Int(event.previousProduct)]
    }
    return LineageCase(
      state: state, current: hasLater ? try Life(events: events, rules: rules).state : nil,
      original: row.original, user: row.userText, app: words[Int(row.app)], products: products,
      transactions: try transactionTexts(row, events), isHeldByAnotherUser: isHeldByAnotherUser)
  }

  /// Ids that are plain numbers are their own keys; only the others need to be looked up.
  private func transactionTexts(_ row: LineageRow, _ events: [Event]) throws -> [Int64: String] {
    guard transactionKey(row.original) != Int64(row.original) else { return [:] }
    var texts: [Int64: String] = [:]
    for event in events where event.transaction != 0 && texts[event.transaction] == nil {
      texts[event.transaction] = try ledger.transactionText(
        lineage: row.key, identity: event.identity)
    }
    return texts
  }
}
