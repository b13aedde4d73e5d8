import EventStore
import Reconciliation
import Subscriptions
import Domain

/// Resolves the symbols of a subscription to texts, for the columns of `breaks.csv`.
struct InputBuilder {
  let ledger: Ledger
  let rules: FoldSettings

  /// The histories of a fold group as received before the earlier of as-of and `moment`; apart from
  /// them, as received before as-of, those without events until then; and the first later moment
  /// at which a fold of the same events can give something else.
  func lineages(
    _ group: LinkedGroups.Part, at moment: Instant
  ) throws -> (reported: [LineageInput], newer: [LineageInput], changesAt: Instant?) {
    var then = rules
    then.asOf = min(rules.asOf, moment)
    // Also without later events, because their absence can be the break.
    let isOlder = then.asOf < rules.asOf
    let latest = group.histories.compactMap(\.state)
    let today = isOlder ? latest : []
    let histories = isOlder ? try histories(of: group.events, rules: then) : group.histories
    let reported = isOlder ? histories.compactMap(\.state) : latest
    let changesAt = deadline(of: histories, events: group.events, rules: then)
    let known = Set(reported.flatMap(\.lineages))
    let newer = today.filter { known.isDisjoint(with: $0.lineages) }
    guard !reported.isEmpty || !newer.isEmpty else { return ([], [], changesAt) }
    let texts = try texts(of: group.named.rows, group.named.events)
    var holders: [Int64: Int] = [:]
    for (index, state) in today.enumerated() {
      for lineage in state.lineages where holders[lineage] == nil { holders[lineage] = index }
    }
    return (
      reported: reported.map { state in
        let current = state.lineages.compactMap { holders[$0] }.min().map { today[$0] }
        var state = state
        // A churn of a subscription that no longer exists today is not in any report.
        if isOlder, current == nil { state.churned = [] }
        return texts.input(state, current: current)
      },
      newer: newer.map { texts.input($0) }, changesAt: changesAt
    )
  }

  /// The histories of a fold group by itself.
  func lineages(_ group: [LineageRow], _ events: [Event]) throws -> [LineageInput] {
    let own = LinkedGroups.Part(group, events, try histories(of: events, rules: rules))
    return try lineages(own, at: rules.asOf).reported
  }

  /// The texts behind the symbols and keys of a fold group.
  func texts(of group: [LineageRow], _ events: [Event]) throws -> GroupTexts {
    let words = ledger.symbols.words
    var products: [StringID: String] = [:]
    for event in events {
      products[event.product] = words[Int(event.product)]
      products[event.previousProduct] = words[Int(event.previousProduct)]
    }
    // Ids that are plain numbers are their own keys.
    let worded = group.filter { transactionKey($0.original) != Int64($0.original) }.map(\.key)
    return GroupTexts(
      rows: Dictionary(group.map { ($0.key, $0) }) { first, _ in first }, first: group.first,
      words: words, products: products, transactions: try ledger.transactionTexts(in: worded))
  }
}

/// The texts of a fold group, for the subscriptions in it.
struct GroupTexts {
  let rows: [Int64: LineageRow]
  let first: LineageRow?
  let words: [String]
  let products: [StringID: String]
  let transactions: [Int64: String]

  /// One subscription; `current` is all that is known of it at as-of.
  func input(_ state: LineageState, current: LineageState? = nil) -> LineageInput {
    let row = rows[state.lineage] ?? first
    return LineageInput(
      state: state, current: current, original: row?.original ?? "",
      user: (row?.user ?? 0).userKeyText, app: words[Int(state.app)], products: products,
      transactions: transactions)
  }
}
