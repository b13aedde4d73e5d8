import EventStore
import Reconciliation
import Subscriptions
import Domain

/// The fold of a run after others: only the groups with new events or a passed deadline, each as it
/// was and as it is.
struct Increment {
  let ledger: Ledger
  let fold: GroupFold
  /// The checkpoint of the cells.
  let basis: FactCheckpoint
  /// The rules by which they were folded.
  let former: FoldSettings
  let dirty: DirtyLineages
  /// Lineages with a known counterpart in the other environment.
  let leaked: Set<Int64>
  let jobs: Int
  let checkStop: () throws -> Void

  /// The results of the invalidated groups.
  struct Result {
    /// Their breaks as they are, and how much more is counted than was.
    var change = FoldResult()
    /// Keys of all lineages of the dirty groups, of then and of now.
    var members: Set<Int64> = []
    /// Lineages to check for a counterpart in the other environment.
    var mayLeak: [LineageRow] = []
  }

  func run() throws -> Result {
    var result = Result()
    let grouped = try foldAlone(into: &result)
    if !grouped.isEmpty { try fold(grouped, into: &result) }
    result.change.rates.removeNothings()
    return result
  }

  /// Folds the lineages that are always alone; gives the other ones.
  private func foldAlone(into result: inout Result) throws -> [LineageRow] {
    let lone = LoneFolds(
      fold: fold, former: former, touched: dirty.touched,
      archive: basis.archive, leaked: leaked)
    var grouped: [LineageRow] = []
    let keys = dirty.all
    try Workers(count: jobs, waitingMax: 2).read(
      ledger.path, keys.parts(of: Self.partSize(of: keys.count, jobs: jobs)), lone.fold
    ) { part in
      try checkStop()
      try result.change.add(part.change)
      result.members.formUnion(part.members)
      result.mayLeak += part.mayLeak
      grouped += part.grouped
    }
    return grouped
  }

  /// How many lineages a worker folds at a time.
  ///
  /// Parts end soon enough that a signal is heeded and little waits in memory, and each worker has
  /// one.
  private static func partSize(of count: Int, jobs: Int) -> Int {
    max(256, min(4_096, count / jobs + 1))
  }

  /// Folds the groups that these lineages are part of, or were.
  private func fold(_ grouped: [LineageRow], into result: inout Result) throws {
    let known = try ledger.lineages(
      dirty.touched.intersection(grouped.map(\.key)), knownBy: basis.archive)
    let past = FormerGroups(touched: dirty.touched, known: known)
    let rows = try members(grouped, past)
    result.members.formUnion(rows.keys)
    result.mayLeak += rows.values
    let both = BothFolds(
      fold: fold, former: former, rows: rows, past: past,
      shares: max(jobs, rows.count / 4096))
    try Workers(count: jobs, waitingMax: 2).read(
      ledger.path, Array(0..<both.shares), both.fold
    ) { part in
      try checkStop()
      try result.change.add(part)
    }
  }

  /// The lineages of all groups that a dirty one is part of now or was part of: a lineage that
  /// joins or leaves a user changes the results of the user's others.
  private func members(
    _ rows: [LineageRow], _ past: FormerGroups
  ) throws -> [Int64: LineageRow] {
    var members: [Int64: LineageRow] = [:]
    for row in rows {
      for other in try ledger.group(of: row) { members[other.key] = other }
      guard let former = past.known[row.key]?.row, former.user != row.user else { continue }
      for other in try past.group(of: former, in: ledger) where members[other.row.key] == nil {
        members[other.row.key] = try ledger.lineage(other.row.key)
      }
    }
    return members
  }
}

extension [Int64] {
  /// The elements in their order, `count` at a time.
  func parts(of count: Int) -> [ArraySlice<Int64>] {
    stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
  }
}
