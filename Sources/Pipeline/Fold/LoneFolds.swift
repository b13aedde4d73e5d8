import EventStore
import Reconciliation
import Subscriptions
import Domain

/// The dirty lineages that are folded each for itself, folded as they are, less what they were.
///
/// Each share reads its own, once: what a lineage was stands in the same row as what it is.
struct LoneFolds: Sendable {
  let fold: GroupFold
  /// The rules by which the cells were folded.
  let former: FoldSettings
  /// Lineages of which something new is told.
  let touched: Set<Int64>
  /// The last archive of which events were folded then.
  let archive: Int32
  /// Lineages that were found to have a twin in the other environment.
  let leaked: Set<Int64>

  /// What some of the dirty lineages come to.
  struct Part: Sendable {
    var change = FoldResult()
    /// Those that are folded alone.
    var members: [Int64] = []
    /// Those of them that may have a twin in the other environment of which nothing is known yet.
    var mayLeak: [LineageRow] = []
    /// Those that are folded with others.
    var grouped: [LineageRow] = []
  }

  /// Folds some of the dirty lineages on the connection of a worker.
  func fold(_ ledger: Ledger, _ keys: ArraySlice<Int64>) throws -> Part {
    let cases = InputBuilder(ledger: ledger, rules: fold.rules.fold)
    var part = Part()
    // A table that grows is hashed anew each time.
    part.change.facts.revenue.reserveCapacity(keys.count * 4)
    var grouped: [LineageRow] = []
    try ledger.forEachLineage(
      of: keys, touched: touched, knownBy: archive, grouped: { grouped.append($0) },
      alone: { try fold($0, $1, $2, cases, into: &part) })
    part.grouped = grouped
    part.change.facts.removeNothings()
    part.change.rates.removeNothings()
    return part
  }

  private func fold(
    _ row: LineageRow, _ now: [Event], _ then: [Event], _ cases: InputBuilder, into part: inout Part
  ) throws {
    part.members.append(row.key)
    if mayLeak(row, now) { part.mayLeak.append(row) }
    if !now.isEmpty { try fold.fold([row], now, cases, into: &part.change) }
    if !then.isEmpty { try part.change.withdraw(lives(of: then, rules: former)) }
  }

  /// Whether the lineage may have a twin that was not found before, or was, and is told otherwise.
  ///
  /// Sandbox lineages are few. Of the others, one has a new twin only if the twin is dirty, or when
  /// its own first event has come to count.
  private func mayLeak(_ row: LineageRow, _ events: [Event]) -> Bool {
    row.environment == .sandbox || touched.contains(row.key) || leaked.contains(row.key)
      || events.last.map { $0.time >= former.asOf } ?? true
  }
}

extension FoldResult {
  /// Takes away what `lives` were counted as.
  mutating func withdraw(_ lives: [SubscriptionHistory]) throws {
    for life in lives {
      try life.withdraw(from: &facts)
      life.book(-1, into: &rates)
      life.book(-1, into: &prices)
    }
  }
}
