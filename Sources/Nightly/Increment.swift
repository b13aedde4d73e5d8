import Ledger
import Reconcile
import Timeline
import Vocabulary

/// The fold of a night after others: only the groups of which something new is told, or of which a
/// deadline has passed, each as it was and as it is.
struct Increment {
  let ledger: Ledger
  let cases: CaseBuilder
  let fold: GroupFold
  /// What the cells speak of.
  let basis: FoldBasis
  /// The rules by which they were folded.
  let former: Rules
  let dirty: DirtyLineages
  let checkStop: () throws(NightError) -> Void

  /// What the dirty groups come to, and what they had come to.
  struct Result {
    var now = FoldResult()
    var before = FoldResult()
    /// Keys of all lineages of the dirty groups, of then and of now.
    var members: Set<Int64> { Set(rows.keys) }
    /// Those lineages as they are now.
    var rows: [Int64: LineageRow] = [:]
  }

  func run() throws(NightError) -> Result {
    var result = Result()
    try attempt {
      let touched = try formerLineages()
      result.rows = try members(touched)
      try foldAgain(into: &result)
      try foldFormer(touched, into: &result)
    }
    return result
  }

  /// The lineages of all groups that a dirty one is part of now or was part of: one that joins or
  /// leaves a user changes what the user's others come to.
  private func members(_ touched: [Int64: FormerLineage]) throws -> [Int64: LineageRow] {
    var members: [Int64: LineageRow] = [:]
    for key in dirty.all {
      guard let row = try members[key] ?? ledger.lineage(key) else { continue }
      for other in try ledger.group(of: row) { members[other.key] = other }
      guard let former = touched[key]?.row, former.user != row.user else { continue }
      for other in try formerGroup(of: former, touched) where members[other.row.key] == nil {
        members[other.row.key] = try ledger.lineage(other.row.key)
      }
    }
    return members
  }

  private func foldAgain(into result: inout Result) throws {
    var folded: Set<Int64> = []
    for (key, row) in result.rows.sorted(by: { $0.key < $1.key }) where !folded.contains(key) {
      try checkStop()
      let group = try ledger.group(of: row)
      folded.formUnion(group.map(\.key))
      let events = try ledger.events(of: group)
      guard !events.isEmpty else { continue }
      try fold.fold(group, events, cases, into: &result.now)
    }
  }

  /// Folds the groups that the lineages were part of, by the events that were known then.
  private func foldFormer(
    _ touched: [Int64: FormerLineage], into result: inout Result
  ) throws {
    var folded: Set<Int64> = []
    for (key, now) in result.rows.sorted(by: { $0.key < $1.key }) where !folded.contains(key) {
      try checkStop()
      guard let row = dirty.touched.contains(key) ? touched[key]?.row : now else { continue }
      let group = try formerGroup(of: row, touched)
      folded.formUnion(group.map(\.row.key))
      let events = group.flatMap(\.events).sorted {
        ($0.time, $0.identity) < ($1.time, $1.identity)
      }
      for life in try lives(of: events, rules: former) {
        try life.book(into: &result.before.facts)
        life.book(into: &result.before.rates)
        life.book(into: &result.before.prices)
      }
    }
  }

  /// The touched lineages that were known then, as they were.
  private func formerLineages() throws -> [Int64: FormerLineage] {
    var lineages: [Int64: FormerLineage] = [:]
    for key in dirty.touched { lineages[key] = try ledger.lineage(key, knownBy: basis.archive) }
    return lineages
  }

  /// The lineages that were folded together with `row`: a touched one may have changed its user.
  private func formerGroup(
    of row: LineageRow, _ touched: [Int64: FormerLineage]
  ) throws -> [FormerLineage] {
    guard row.provider != .qonversion, row.user != 0 else {
      return [try touched[row.key] ?? asNow(row)]
    }
    let others = try ledger.lineages(ofUser: row.user, provider: row.provider)
      .filter { !dirty.touched.contains($0.key) && $0.isGrouped(with: row) }
    return try others.map(asNow) + touched.values.filter { $0.row.isGrouped(with: row) }
  }

  private func asNow(_ row: LineageRow) throws -> FormerLineage {
    FormerLineage(row: row, events: try ledger.events(of: row))
  }
}
