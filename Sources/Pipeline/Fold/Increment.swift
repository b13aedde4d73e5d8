import EventStore
import Reconciliation
import Reports
import Subscriptions
import Domain

/// Folds only the groups that changed or with a passed deadline, and subtracts their previous
/// results from the current ones.
///
/// Most of a group does not change, so adding the current and subtracting the previous result at
/// once leaves small differences.
struct Increment: Sendable {
  let fold: GroupFold
  let scope: FoldScope
  /// The rules with which the facts of its basis were folded.
  let previous: FoldSettings
  /// Lineages with a known counterpart in the other environment.
  let leaked: Set<Int64>
  let charges: ChargeRowWriter

  /// Maximum number of events of a group, previous and current, that are in memory together with
  /// their contributions.
  private static let eventsMax = 1 << 17

  /// The changes that some groups cause.
  struct Result: Sendable {
    /// Their current breaks, and the differences of their counts.
    var change = FoldResult()
    /// Their current and previous rows in the list of charges.
    var rows = ChargePart()
    /// Keys of all current and previous lineages of the groups.
    var members: Set<Int64> = []
    /// The users of their current and previous events.
    var users: [Provider: Set<Int64>] = [:]
    /// Lineages whose counterpart in the other environment may be new or changed.
    var mayLeak: [LineageRow] = []
    /// The groups of several lineages to which dirty ones belong or belonged.
    var shared: [FoldUnit.Part] = []

    mutating func add(_ other: Result) throws(AmountOverflow) {
      try change.add(other.change)
      members.formUnion(other.members)
      users.merge(other.users) { $0.union($1) }
      mayLeak += other.mayLeak
      shared += other.shared
    }

    mutating func noteUsers(of group: GroupChange) {
      for row in group.members where row.user != 0 {
        users[row.provider, default: []].insert(row.user)
      }
      for events in [group.events, group.previousEvents] {
        var last: Int64 = 0
        for event in events where event.user != last && event.user != 0 {
          users[event.provider, default: []].insert(event.user)
          last = event.user
        }
      }
    }
  }

  /// Updates the groups, and changes `list` by their charges.
  func run(on ledger: Ledger, jobs: Int, _ list: inout ChargeList) throws -> Result {
    var result = Result()
    let (touched, archive) = (scope.dirty.touched, scope.basis.archive)
    try refresh(scope.dirty.all, on: ledger, jobs: jobs, into: &result, &list) {
      ledger, lineages, part, refresh in
      var shared: [FoldUnit.Part] = []
      try ledger.forEachGroup(
        of: lineages, touched: touched, knownBy: archive,
        shared: { shared.append($0) }, { try refresh($0, &part) })
      part.shared = shared
    }
    let units = FoldUnit.units(of: result.shared)
    try refresh(units, on: ledger, jobs: jobs, into: &result, &list) {
      ledger, units, part, refresh in
      try ledger.forEachUnit(units, touched: touched, knownBy: archive) {
        try refresh($0, &part)
      }
    }
    result.change.rates.removeZeros()
    return result
  }

  /// Folds the groups that `read` passes, on workers' connections, some `items` at a time.
  private func refresh<Item: Sendable>(
    _ items: [Item], on ledger: Ledger, jobs: Int, into result: inout Result,
    _ list: inout ChargeList,
    _ read:
      @escaping @Sendable (
        Ledger, ArraySlice<Item>, inout Result, (GroupChange, inout Result) throws -> Void
      ) throws -> Void
  ) throws {
    let parts = items.parts(sizeMin: 256, jobs: jobs)
    try Workers(count: jobs, waitingMax: 2).read(ledger, parts) { ledger, part in
      let cases = InputBuilder(ledger: ledger, rules: fold.rules.fold)
      var result = Result()
      // Avoids rehashing, which each growth of a dictionary causes.
      result.change.facts.revenue.reserveCapacity(part.count * 4)
      var rows = ChargeFold(charges, ledger)
      try read(ledger, part, &result) { try self.refresh($0, cases, into: &$1, &rows) }
      result.rows = rows.sorted()
      result.change.facts.removeZeros()
      result.change.rates.removeZeros()
      return result
    } take: { part in
      try result.add(part)
      try list.add(part.rows)
    }
  }

  /// Adds the difference between the facts of one fold group now and at the checkpoint.
  private func refresh(
    _ group: GroupChange, _ cases: InputBuilder, into result: inout Result,
    _ rows: inout ChargeFold
  ) throws {
    guard group.events.count + group.previousEvents.count <= Self.eventsMax else {
      throw FactRefresh.NeedsEverything()
    }
    result.members.formUnion(group.lineages)
    result.noteUsers(of: group)
    result.mayLeak += group.rows.filter { mayLeak($0, group.events) }
    try rows.replace(group, knownBy: scope.basis.archive) { add in
      if !group.events.isEmpty {
        try fold.fold(group.rows, group.events, cases, into: &result.change, add)
      }
    } previous: { add in
      func withdrawPaid(_ history: SubscriptionHistory) {
        history.book(-1, into: &result.change.rates)
        history.book(-1, into: &result.change.prices)
      }
      guard let linked = try LinkedGroups(group.previousRows, group.previousEvents, rules: previous)
      else {
        return try forEachHistory(
          of: group.previousEvents, rules: previous, checkStop: cases.ledger.checkStop
        ) {
          withdrawPaid($0)
          try $0.book(-1, into: &result.change.facts)
          try add($0)
        }
      }
      linked.parts.flatMap(\.histories).forEach(withdrawPaid)
      for history in linked.counted.histories {
        try history.book(-1, into: &result.change.facts)
        try add(history)
      }
    }
  }

  /// Whether the lineage may have a new or changed counterpart.
  ///
  /// Sandbox lineages are few. Another lineage has a new counterpart only if that is dirty, or if
  /// its own first event counts only now.
  private func mayLeak(_ row: LineageRow, _ events: [Event]) -> Bool {
    row.environment == .sandbox || scope.dirty.touched.contains(row.key) || leaked.contains(row.key)
      || events.last.map { $0.time >= previous.asOf } ?? true
  }
}
