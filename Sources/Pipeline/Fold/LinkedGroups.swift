import Domain
import EventStore
import Reconciliation
import Subscriptions

/// Fold groups of several providers that report the same store transactions.
struct LinkedGroups {
  /// A fold group by itself.
  struct Part {
    var rows: [LineageRow]
    var events: [Event]
    /// Empty if they are too many to keep.
    var histories: [SubscriptionHistory] = []
    /// The rows of all lineages in the histories, also of those that other providers report.
    var named: [LineageRow]
    /// The events of these rows.
    var namedEvents: [Event]

    init(_ rows: [LineageRow], _ events: [Event]) {
      (self.rows, self.events, named, namedEvents) = (rows, events, rows, events)
    }

    init(_ rows: [LineageRow], _ events: [Event], rules: FoldSettings) throws {
      self.init(rows, events)
      guard !events.areTooMany else { return }
      histories = try Subscriptions.histories(of: events, rules: rules)
    }

    func forEachHistory(
      by rules: FoldSettings, in ledger: Ledger, _ body: (SubscriptionHistory) throws -> Void
    ) throws {
      if !histories.isEmpty { return try histories.forEach(body) }
      try Subscriptions.forEachHistory(
        of: events, rules: rules, checkStop: ledger.checkStop, body)
    }

    /// Creates the group of `row` as of the rules, with what other providers report of it.
    init(of row: LineageRow, in ledger: Ledger, rules: FoldSettings) throws {
      let group = try ledger.linkedGroup(of: row)
      let events = try ledger.events(of: group)
      let linked = try LinkedGroups(group, events, rules: rules)
      let own = linked?.parts.first { $0.rows.contains { $0.key == row.key } }
      self = try own ?? Part(group, events, rules: rules)
    }
  }

  private(set) var parts: [Part] = []
  /// What reports count of all the groups.
  let counted: LinkedHistories

  /// Nil when the events, which are in the order of time, are those of one fold group.
  init?(_ rows: [LineageRow], _ events: [Event], rules: borrowing FoldSettings) throws {
    guard rows.count > 1, let first = rows.first,
      rows.contains(where: { FoldGroup(of: $0) != FoldGroup(of: first) })
    else { return nil }
    // Most groups need no copy of the rules.
    let rules = copy rules
    var users: [Int64: Int64] = [:]
    for event in events where event.user != 0 || users[event.lineage] == nil {
      users[event.lineage] = event.user
    }
    var places: [FoldGroup: Int] = [:]
    var homes: [Int64: Int] = [:]
    for row in rows {
      guard let user = users[row.key] else { continue }
      let group = FoldGroup(of: row, user: user)
      let place = places[group] ?? parts.count
      if place == parts.count { parts.append(Part([], [])) }
      (places[group], homes[row.key]) = (place, place)
      parts[place].rows.append(row)
    }
    for event in events { if let home = homes[event.lineage] { parts[home].events.append(event) } }
    for index in parts.indices {
      parts[index].histories = try histories(of: parts[index].events, rules: rules)
    }
    let originals = Dictionary(
      rows.compactMap { row in row.originalID.map { (row.key, $0) } },
      uniquingKeysWith: { first, _ in first })
    counted = try LinkedHistories(
      parts.flatMap(\.histories), originals: originals, rules: rules)
    var own = counted.own[...]
    for index in parts.indices {
      parts[index].histories = Array(own.prefix(parts[index].histories.count))
      own = own.dropFirst(parts[index].histories.count)
      (parts[index].named, parts[index].namedEvents) = (parts[index].rows + rows, events)
    }
  }
}

/// Returns what reports count of the subscriptions in `rows`, whose events are ordered by time.
func countedHistories(
  _ rows: [LineageRow], _ events: [Event], rules: FoldSettings
) throws -> [SubscriptionHistory] {
  try LinkedGroups(rows, events, rules: rules)?.counted.histories
    ?? histories(of: events, rules: rules)
}

extension ReconcilePass {
  /// Returns the ends in doubt that reports count, without those of another provider's report.
  ///
  /// Several lineages of linked groups can end in one churn.
  func counted(_ doubts: Set<ChurnInDoubt>) throws -> Set<ChurnInDoubt> {
    guard try ledger.isLinked() else { return doubts }
    return Set(
      try doubts.compactMap { end in
        guard let row = try ledger.lineage(end.lineage) else { return end }
        let group = try ledger.linkedGroup(of: row)
        let linked = try LinkedGroups(group, try ledger.events(of: group), rules: rules.fold)
        guard let histories = linked?.counted.histories else { return end }
        let churning = histories.filter { $0.churns(at: end.at, in: end.productKey) }
        let own = churning.first { $0.lineages.contains(end.lineage) } ?? churning.first
        return own?.lineages.min().map {
          ChurnInDoubt(lineage: $0, productKey: end.productKey, at: end.at)
        }
      })
  }
}

extension OverlapRow {
  /// Creates a row of the charge, with the text of its transaction from `texts`, or else its key.
  init(_ overlap: LinkedHistories.Overlap, _ texts: [Int64: String]) {
    let key = overlap.counted.transaction
    self.init(
      store: overlap.store, transaction: texts[key] ?? String(key),
      counted: overlap.counted.provider, other: overlap.other, lineage: overlap.counted.lineage,
      countedUSD: overlap.countedUSD, otherUSD: overlap.otherUSD)
  }
}
