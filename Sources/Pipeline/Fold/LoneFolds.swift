import EventStore
import Reconciliation
import Subscriptions
import Domain

/// The invalidated lineages that fold alone, folded as they are, minus their former facts.
///
/// Each part reads its lineages once: the former state of a lineage is in the same row as its
/// current one.
struct LoneFolds: Sendable {
  let fold: GroupFold
  /// The rules by which the cells were folded.
  let former: FoldSettings
  /// Lineages with new events.
  let touched: Set<Int64>
  /// The last archive whose events were folded then.
  let archive: Int32
  /// Lineages with a known counterpart in the other environment.
  let leaked: Set<Int64>

  /// The results of some invalidated lineages.
  struct Part: Sendable {
    var change = FoldResult()
    /// Lineages that fold alone.
    var members: [Int64] = []
    /// The ones of them that can have an unknown counterpart in the other environment.
    var mayLeak: [LineageRow] = []
    /// Lineages that fold with others.
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

  /// Whether the lineage can have a new counterpart, or has one whose events changed.
  ///
  /// Sandbox lineages are few. A production lineage has a new counterpart only if the counterpart
  /// was invalidated, or when its own first event counts now.
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
