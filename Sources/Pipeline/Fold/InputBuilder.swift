import EventStore
import Reconciliation
import Subscriptions
import Domain

/// Resolves the symbols of a subscription to texts, for the columns of `breaks.csv`.
struct InputBuilder {
  let ledger: Ledger
  let rules: FoldSettings

  /// The histories of a fold group as received before the earlier of as-of and `moment`; apart from
  /// them, as received before as-of, those without events until then.
  func lineages(
    _ group: [LineageRow], _ events: [Event], at moment: Instant
  ) throws -> (reported: [LineageInput], newer: [LineageInput]) {
    var then = rules
    then.asOf = min(rules.asOf, moment)
    // Also without later events, because their absence can be the break.
    let isOlder = then.asOf < rules.asOf
    let today = isOlder ? try histories(of: events, rules: rules).compactMap(\.state) : []
    let reported = try histories(of: events, rules: then).compactMap(\.state)
    let known = Set(reported.flatMap(\.lineages))
    let newer = today.filter { known.isDisjoint(with: $0.lineages) }
    return (
      reported: try reported.map { state in
        let own = Set(state.lineages)
        let current = today.first { !own.isDisjoint(with: $0.lineages) }
        var state = state
        // A churn of a subscription that no longer exists today is not in any report.
        if isOlder, current == nil { state.churned = [] }
        return try lineage(state, current: current, group, events)
      },
      newer: try newer.map { try lineage($0, current: nil, group, events) }
    )
  }

  /// One subscription of a fold group; nil without counted events.
  func lineage(
    _ history: SubscriptionHistory, _ group: [LineageRow], _ events: [Event]
  ) throws -> LineageInput? {
    try history.state.map { try lineage($0, current: nil, group, events) }
  }

  private func lineage(
    _ state: LineageState, current: LineageState?, _ group: [LineageRow], _ events: [Event]
  ) throws -> LineageInput {
    let row = group.first { $0.key == state.lineage } ?? group.first
    let words = ledger.symbols.words
    var products: [StringID: String] = [:]
    for event in events {
      products[event.product] = words[Int(event.product)]
      products[event.previousProduct] = words[Int(event.previousProduct)]
    }
    return LineageInput(
      state: state, current: current, original: row?.original ?? "",
      user: (row?.user ?? 0).userKeyText, app: words[Int(state.app)], products: products,
      transactions: try transactionTexts(group, events))
  }

  /// Ids that are plain numbers are their own keys; only the others need to be looked up.
  private func transactionTexts(
    _ group: [LineageRow], _ events: [Event]
  ) throws -> [Int64: String] {
    let worded = Set(
      group.filter { transactionKey($0.original) != Int64($0.original) }.map(\.key))
    guard !worded.isEmpty else { return [:] }
    var texts: [Int64: String] = [:]
    for event in events
    where worded.contains(event.lineage) && event.transaction != 0
      && texts[event.transaction] == nil
    {
      texts[event.transaction] = try ledger.transactionText(
        lineage: event.lineage, identity: event.identity)
    }
    return texts
  }
}
