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
    var users: Set<UserKey> = []
    /// Lineages whose counterpart in the other environment may be new or changed.
    var mayLeak: [LineageRow] = []
    /// The groups of several lineages to which dirty ones belong or belonged.
    var shared: [FoldUnit.Part] = []

    mutating func add(_ other: Result) throws(AmountOverflow) {
      try change.add(other.change)
      members.formUnion(other.members)
      users.formUnion(other.users)
      mayLeak += other.mayLeak
      shared += other.shared
    }

    mutating func noteUsers(of group: GroupChange) {
      for row in group.members where row.user != 0 {
        users.insert(UserKey(provider: row.provider, user: row.user))
      }
      for events in [group.events, group.previousEvents] {
        var last: Int64 = 0
        for event in events where event.user != last && event.user != 0 {
          users.insert(UserKey(provider: event.provider, user: event.user))
          last = event.user
        }
      }
    }
  }

  /// What a worker folds in one go.
  private enum Share {
    case lineages(ArraySlice<Int64>)
    case units(ArraySlice<FoldUnit>)
  }

  /// Updates the groups, and changes `list` by their charges.
  func run(on ledger: Ledger, jobs: Int, _ list: inout ChargeList) throws -> Result {
    var result = Result()
    func addChanges(of shares: [Share]) throws {
      try Workers(count: jobs, waitingMax: 2).read(ledger, shares, changes) { part in
        try result.add(part)
        try list.add(part.rows)
      }
    }
    try addChanges(of: scope.dirty.all.parts(sizeMin: 256, jobs: jobs).map(Share.lineages))
    let units = FoldUnit.units(of: result.shared)
    try addChanges(of: units.parts(sizeMin: 256, jobs: jobs).map(Share.units))
    return result
  }

  private func changes(_ ledger: Ledger, of share: Share) throws -> Result {
    let builder = InputBuilder(ledger: ledger, rules: fold.rules.fold)
    var result = Result()
    var writer = ChargeFold(charges, ledger)
    result.rows = writer.emptyPart
    func add(_ group: GroupChange) throws {
      try addChange(of: group, builder, to: &result, by: &writer)
    }
    // Reserving avoids rehashing, which each growth of a dictionary causes.
    switch share {
    case .lineages(let lineages):
      result.change.facts.revenue.reserveCapacity(lineages.count * 4)
      try ledger.forEachGroup(
        of: lineages, touched: scope.dirty.touched, knownBy: scope.basis.archive,
        shared: { result.shared.append($0) }, add)
    case .units(let units):
      result.change.facts.revenue.reserveCapacity(units.count * 4)
      try ledger.forEachUnit(
        units, touched: scope.dirty.touched, knownBy: scope.basis.archive, add)
    }
    result.rows.sort()
    result.change.facts.removeZeros()
    result.change.rates = result.change.rates.filter { $0.value != 0 }
    return result
  }

  /// Adds the difference between the facts of one fold group now and at the checkpoint.
  private func addChange(
    of group: GroupChange, _ builder: InputBuilder, to result: inout Result,
    by writer: inout ChargeFold
  ) throws {
    guard group.events.count + group.previousEvents.count <= Self.eventsMax else {
      throw FactRefresh.NeedsEverything()
    }
    result.members.formUnion(group.members.map(\.key))
    result.noteUsers(of: group)
    result.mayLeak += group.rows.filter { mayLeak($0, group.events) }
    var (rows, withdrawn) = (writer.emptyPart, writer.emptyPart)
    var current = ChargeFold.Group(rows: group.members, events: group.events)
    if !group.events.isEmpty {
      try fold.fold(group.rows, group.events, builder, into: &result.change) {
        try writer.write($0, of: &current, to: &rows)
      }
    }
    var earlier = ChargeFold.Group(
      rows: group.members, events: group.previousEvents, archive: scope.basis.archive)
    func withdraw(_ history: SubscriptionHistory) throws {
      try history.book(-1, into: &result.change.facts)
      try writer.write(history, of: &earlier, to: &withdrawn)
    }
    func withdrawPaid(_ history: SubscriptionHistory) {
      history.book(-1, into: &result.change.rates)
      history.book(-1, into: &result.change.prices)
    }
    if let linked = try LinkedGroups(group.previousRows, group.previousEvents, rules: previous) {
      linked.parts.flatMap(\.histories).forEach(withdrawPaid)
      try linked.counted.histories.forEach(withdraw)
    } else {
      try forEachHistory(
        of: group.previousEvents, rules: previous, checkStop: builder.ledger.checkStop
      ) {
        withdrawPaid($0)
        try withdraw($0)
      }
    }
    result.rows.add(rows, insteadOf: withdrawn)
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
