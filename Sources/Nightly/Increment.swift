import Ledger
import Reconcile
import Timeline
import Vocabulary

/// The fold of a night after others: only the groups of which something new is told, or of which a
/// deadline has passed, each as it was and as it is.
struct Increment {
  let ledger: Ledger
  let fold: GroupFold
  /// What the cells speak of.
  let basis: FoldBasis
  /// The rules by which they were folded.
  let former: Rules
  let dirty: DirtyLineages
  let jobs: Int
  let checkStop: () throws(NightError) -> Void

  /// What the dirty groups come to.
  struct Result {
    /// Their breaks as they are, and how much more is counted than was.
    var change = FoldResult()
    /// Keys of all lineages of the dirty groups, of then and of now.
    var members: Set<Int64> { Set(rows.keys) }
    /// Those lineages as they are now.
    var rows: [Int64: LineageRow] = [:]
  }

  func run() throws(NightError) -> Result {
    var result = Result()
    try attempt {
      let rows = try dirty.all.compactMap { try ledger.lineage($0) }
      // Qonversion's are alone: each share finds its own.
      let grouped = Set(rows.filter { $0.provider != .qonversion }.map(\.key))
      let known = try ledger.lineages(
        dirty.touched.intersection(grouped), knownBy: basis.archive)
      let past = FormerGroups(touched: dirty.touched, known: known)
      result.rows = try members(rows, past)
      let both = BothFolds(
        path: ledger.path, fold: fold, former: former, rows: result.rows, past: past,
        archive: basis.archive, shares: max(jobs, result.rows.count / 4096))
      try Workers(count: jobs, waitingMax: 2).run(Array(0..<both.shares), both.fold) { _, part in
        try checkStop()
        try result.change.add(part.get())
      }
      result.change.rates.removeNothings()
    }
    return result
  }

  /// The lineages of all groups that a dirty one is part of now or was part of: one that joins or
  /// leaves a user changes what the user's others come to.
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
