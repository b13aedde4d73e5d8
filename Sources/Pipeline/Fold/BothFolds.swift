import EventStore
import Reconciliation
import Subscriptions
import Domain

/// The invalidated groups of possibly several lineages, folded as they are, minus their former
/// facts.
///
/// Most facts of a group did not change, so that adding the new and subtracting the old at once
/// leaves few rows.
struct BothFolds: Sendable {
  let fold: GroupFold
  /// The rules by which the cells were folded.
  let former: FoldSettings
  /// The lineages of these groups, of then and of now, as they are now.
  let rows: [Int64: LineageRow]
  /// The former groups.
  let past: FormerGroups
  /// Into how many shares the groups are dealt out.
  let shares: Int

  /// Folds the groups of one share on the connection of a worker.
  func fold(_ ledger: Ledger, _ share: Int) throws -> FoldResult {
    var change = FoldResult()
    var (folded, withdrawn): (Set<Int64>, Set<Int64>) = ([], [])
    for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
      var known: [Event]?
      if isIn(share, row), !folded.contains(key) {
        let group = try ledger.group(of: row)
        folded.formUnion(group.map(\.key))
        known = try foldAgain(group, ledger, into: &change)
      }
      let then = past.touched.contains(key) ? past.known[key]?.row : row
      if let then, isIn(share, then), !withdrawn.contains(key) {
        withdrawn.formUnion(try withdraw(then, known, ledger, from: &change))
      }
    }
    change.facts.removeNothings()
    change.rates.removeNothings()
    return change
  }

  /// Whether the group of a lineage belongs to a share; all of a group's lineages do, or none.
  private func isIn(_ share: Int, _ row: LineageRow) -> Bool {
    UInt64(bitPattern: row.isAlone ? row.key : row.user) % UInt64(shares) == share
  }

  /// Folds a group; gives its events.
  private func foldAgain(
    _ group: [LineageRow], _ ledger: Ledger, into change: inout FoldResult
  ) throws -> [Event] {
    let events = try ledger.events(of: group)
    if !events.isEmpty {
      let cases = InputBuilder(ledger: ledger, rules: fold.rules.fold)
      try fold.fold(group, events, cases, into: &change)
    }
    return events
  }

  /// Subtracts the former facts of a lineage's group, by the events that were known then; returns
  /// the keys of the group.
  ///
  /// - Parameter now: the events of the lineage's group as it is, if they have been read.
  private func withdraw(
    _ row: LineageRow, _ now: [Event]?, _ ledger: Ledger, from change: inout FoldResult
  ) throws -> [Int64] {
    let group: [FormerLineage]
    if let now, row.isAlone, !past.touched.contains(row.key) {
      group = [FormerLineage(row: row, events: now)]
    } else {
      group = try past.group(of: row, in: ledger)
    }
    let events = group.count == 1 ? group[0].events : group.flatMap(\.events).inTimeOrder
    try change.withdraw(lives(of: events, rules: former))
    return group.map(\.row.key)
  }
}

/// The groups of lineages as they were folded last.
struct FormerGroups: Sendable {
  /// Lineages with new events since.
  let touched: Set<Int64>
  /// The ones of them that were known then, as they were.
  let known: [Int64: FormerLineage]

  /// The lineages that were folded together with `row`: a touched one may have changed its user.
  func group(of row: LineageRow, in ledger: Ledger) throws -> [FormerLineage] {
    func asNow(_ row: LineageRow) throws -> FormerLineage {
      FormerLineage(row: row, events: try ledger.events(of: row))
    }
    guard !row.isAlone else {
      return [try known[row.key] ?? asNow(row)]
    }
    let others = try ledger.lineages(ofUser: row.user, provider: row.provider)
      .filter { !touched.contains($0.key) && $0.isGrouped(with: row) }
    return try others.map(asNow) + known.values.filter { $0.row.isGrouped(with: row) }
  }
}
