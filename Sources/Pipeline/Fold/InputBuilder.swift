import EventStore
import Reconciliation
import Subscriptions
import Domain

/// Resolves the symbols of a subscription to texts, for the columns of `breaks.csv`.
struct InputBuilder {
  let ledger: Ledger
  let rules: FoldSettings
  /// The last user, with the text of the key, which all subscriptions of the user share.
  var user: (key: Int64, text: String) = (0, "")

  /// Returns the histories of a fold group as received before the earlier of as-of and `moment`;
  /// separately, as received before as-of, those without events until then; and the first later
  /// time at which a fold of the same events can give another result.
  func lineages(
    _ group: LinkedGroups.Part, at moment: Instant
  ) throws -> (reported: [LineageInput], newer: [LineageInput], changesAt: Instant?) {
    var then = rules
    then.asOf = min(rules.asOf, moment)
    // Even without later events, because their absence can be the break.
    let isOlder = then.asOf < rules.asOf
    // A state without a date of its own can be as new as its receipt.
    let undated = isOlder ? group.events.filter { $0.isSeenLater(than: then.asOf) } : []
    let events =
      undated.isEmpty
      ? group.events : group.events.filter { !$0.isSeenLater(than: then.asOf) }
    var today: [LineageState] = []
    var reported: [LineageState] = []
    var deadlines = Deadlines(group.events, rules: then)
    func read(_ history: SubscriptionHistory) {
      deadlines.add(history)
      if let state = history.state { reported.append(state) }
    }
    if isOlder {
      try group.forEachHistory(by: rules, in: ledger) {
        if let state = $0.state(since: moment) { today.append(state) }
      }
      try forEachHistory(of: events, rules: then, checkStop: ledger.checkStop, read)
    } else {
      try group.forEachHistory(by: rules, in: ledger, read)
    }
    let texts = try texts(
      of: group.named, group.namedEvents,
      withTransactions: (reported + today).contains(where: \.namesLostCharges))
    var holders: [Int64: Int] = [:]
    for (index, state) in today.enumerated() {
      for lineage in state.lineages where holders[lineage] == nil { holders[lineage] = index }
    }
    let known = Set(today.isEmpty ? [] : reported.flatMap(\.lineages))
    return (
      reported: reported.map { state in
        // Later events can split it: its newest part is what the snapshot shows.
        let current = state.lineages.reversed().lazy.compactMap { holders[$0] }.first.map {
          today[$0]
        }
        // No report contains the churn of a subscription that no longer exists today.
        if isOlder, current == nil { state.churned = [] }
        return texts.input(state, current: current)
      },
      newer: today.filter { known.isDisjoint(with: $0.lineages) }.map { texts.input($0) },
      changesAt:
        (undated.map { $0.seenAt + Interval(milliseconds: 1) }
        + [deadlines.first].compactMap(\.self)).min()
    )
  }

  /// Returns the histories of a fold group by itself.
  func lineages(_ group: [LineageRow], _ events: [Event]) throws -> [LineageInput] {
    let texts = try texts(of: group, events)
    return try histories(of: events, rules: rules).compactMap(\.state).map { texts.input($0) }
  }

  /// Returns the texts of the symbols and keys of a fold group with these events.
  func texts(
    of group: [LineageRow], _ events: [Event], withTransactions: Bool = true
  ) throws -> GroupTexts {
    GroupTexts(
      rows: group, user: user, words: ledger.symbols.words,
      transactions: withTransactions ? try ledger.transactionTexts(of: events, in: group) : [:],
      places: group.count == 1
        ? [:] : Dictionary(zip(group.map(\.key), 0...), uniquingKeysWith: { first, _ in first }))
  }
}

private extension Event {
  /// Whether it was not seen yet when a snapshot was taken, though its time is before that.
  func isSeenLater(than moment: Instant) -> Bool { time < moment && seenAt >= moment }
}

/// The texts of a fold group, for the subscriptions in it.
struct GroupTexts {
  let rows: [LineageRow]
  let user: (key: Int64, text: String)
  let words: [String]
  let transactions: [Int64: String]
  /// Indexes of several rows, by key.
  let places: [Int64: Int]

  /// Returns the input for one subscription; `current` is its complete state at as-of.
  func input(_ state: LineageState, current: LineageState? = nil) -> LineageInput {
    let latest = current ?? state
    let row = places[latest.lineage].map { rows[$0] } ?? rows.first
    let owner = row?.user ?? 0
    let parts = latest.lineages.compactMap { places[$0].map { rows[$0].original } }
    return LineageInput(
      state: state, current: current, original: row?.original ?? "",
      parts: parts.count > 1 ? parts : [],
      user: owner == user.key ? user.text : owner.userKeyText, app: words[Int(state.app)],
      words: words, transactions: transactions)
  }
}
