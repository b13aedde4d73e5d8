import EventStore
import Reconciliation
import Subscriptions
import Domain

/// Checks across lineages: events with several versions, charges at unusual exchange rates or
/// prices, and subscriptions in two environments.
struct CrossLineageChecks {
  let ledger: Ledger
  let rules: ReconciliationSettings

  private var builder: InputBuilder { InputBuilder(ledger: ledger, rules: rules.fold) }

  /// Returns all conflicts, and every subscription with events in both production and sandbox.
  func breaksOfGroups() throws -> [Break] {
    var breaks = try conflicts { _ in true }
    try ledger.forEachSandboxLineage { breaks += try environmentLeaks(in: [$0]) }
    return breaks
  }

  /// Returns the conflicts with a version in a lineage that `isWanted`.
  func conflicts(_ isWanted: (Int64) -> Bool) throws -> [Break] {
    let rows = try ledger.conflicts().filter { row in
      row.event.time < rules.fold.asOf && row.lineages.contains(where: isWanted)
    }
    var breaks: [Break] = []
    for rows in Dictionary(grouping: rows, by: { FoldGroup(of: $0.lineage) }).values {
      let group = try ledger.group(of: rows[0].lineage)
      let lineages = try builder.lineages(group, try ledger.events(of: group))
      var holders: [Int64: LineageInput] = [:]
      for lineage in lineages.reversed() {
        for key in lineage.state.lineages { holders[key] = lineage }
      }
      for row in rows {
        guard let lineage = holders[row.lineage.key] else { continue }
        let conflict = FoldFinding.conflict(
          of: row.event, versions: row.places.count, fields: row.fields)
        breaks += Reconciliation.breaks(from: [conflict], lineage: lineage, rules: rules)
      }
    }
    return breaks
  }

  /// Returns the charges with unusual rate or price, in the groups of some lineages; nil for all.
  ///
  /// Reads all groups once for all `kinds`, and not at all if these are empty.
  func chargeOutliers(
    _ kinds: any ChargeOutliers..., in keys: Set<Int64>? = nil
  ) throws -> [Break] {
    let kinds = kinds.filter { !$0.isEmpty }
    guard !kinds.isEmpty else { return [] }
    var breaks: [Break] = []
    func check(_ group: [LineageRow], _ events: [Event]) throws {
      guard group.first?.environment == .production,
        events.contains(where: { event in kinds.contains { $0.mayInclude(event) } })
      else { return }
      for lineage in try builder.lineages(group, events) {
        for outliers in kinds { breaks += outliers.breaks(in: lineage, events, rules: rules) }
      }
    }
    guard var waiting = keys else {
      try ledger.forEachGroup(check)
      return breaks
    }
    while let key = waiting.popFirst() {
      guard let row = try ledger.lineage(key) else { continue }
      let group = try ledger.group(of: row)
      waiting.subtract(group.map(\.key))
      try check(group, try ledger.events(of: group))
    }
    return breaks
  }

  /// Returns the subscriptions with events in both production and sandbox among some lineages, of
  /// either environment.
  func environmentLeaks(in lineages: [LineageRow]) throws -> [Break] {
    try lineages.compactMap { row in
      guard let counterpart = try ledger.counterpart(of: row),
        let own = try lineageInput(of: row), let other = try lineageInput(of: counterpart)
      else { return nil }
      return row.environment == .production
        ? environmentLeak(own, counterpart: other, rules: rules)
        : environmentLeak(other, counterpart: own, rules: rules)
    }
  }

  private func lineageInput(of row: LineageRow) throws -> LineageInput? {
    try builder.lineages([row], try ledger.events(of: [row])).first
  }
}
