import EventStore
import Reconciliation
import Subscriptions
import Domain

/// What only a look across lineages shows: events with several versions, charges at odd
/// exchange rates or prices, and subscriptions in two environments.
struct AcrossLineages {
  let ledger: Ledger
  let rules: ReconciliationSettings

  private var cases: InputBuilder { InputBuilder(ledger: ledger, rules: rules.fold) }
  private var asOf: Instant { rules.fold.asOf }

  /// The conflicts of which a version lies in a lineage that `isWanted`.
  func conflicts(_ isWanted: (Int64) -> Bool) throws -> [Break] {
    let rows = try ledger.conflicts().filter { row in
      row.event.time < asOf && row.lineages.contains(where: isWanted)
    }
    var breaks: [Break] = []
    for rows in Dictionary(grouping: rows, by: { FoldGroup(of: $0.lineage) }).values {
      let group = try ledger.group(of: rows[0].lineage)
      let lineages = try cases.lineages(group, try ledger.events(of: group))
      var holders: [Int64: LineageInput] = [:]
      for lineage in lineages.reversed() {
        for key in lineage.state.lineages { holders[key] = lineage }
      }
      for row in rows {
        guard let lineage = holders[row.lineage.key] else { continue }
        breaks.append(
          conflictBreak(
            row.event, versions: row.places.count, fields: row.fields, lineage: lineage,
            rules: rules
          ).reported(by: lineage))
      }
    }
    return breaks
  }

  /// The charges whose rate or price is off; reads the ledger once more only when there is one.
  func chargeOutliers(_ outliers: any ChargeOutliers) throws -> [Break] {
    guard !outliers.isEmpty else { return [] }
    var breaks: [Break] = []
    try ledger.forEachGroup { group, events in
      breaks += try chargeOutliers(outliers, in: group, events)
    }
    return breaks
  }

  /// The same in the groups of some lineages.
  func chargeOutliers(
    _ outliers: any ChargeOutliers, in keys: Set<Int64>
  ) throws -> [Break] {
    guard !outliers.isEmpty else { return [] }
    var breaks: [Break] = []
    var waiting = keys
    while let key = waiting.popFirst() {
      guard let row = try ledger.lineage(key) else { continue }
      let group = try ledger.group(of: row)
      waiting.subtract(group.map(\.key))
      breaks += try chargeOutliers(outliers, in: group, try ledger.events(of: group))
    }
    return breaks
  }

  private func chargeOutliers(
    _ outliers: any ChargeOutliers, in group: [LineageRow], _ events: [Event]
  ) throws -> [Break] {
    guard group.first?.environment == .production,
      events.contains(where: { outliers.mayInclude($0) })
    else { return [] }
    return try cases.lineages(group, events).flatMap { lineage in
      outliers.breaks(in: lineage, events, rules: rules).map { $0.reported(by: lineage) }
    }
  }

  /// Every subscription of which events came as production and as sandbox.
  func environmentLeaks() throws -> [Break] {
    var breaks: [Break] = []
    try ledger.forEachCounterpart { row, counterpart in
      breaks += try environmentLeak(row, counterpart)
    }
    return breaks
  }

  /// The same for some lineages, of either environment.
  func environmentLeaks(
    in lineages: some Collection<LineageRow>
  ) throws -> [Break] {
    var breaks: [Break] = []
    for row in lineages {
      guard let counterpart = try ledger.counterpart(of: row) else { continue }
      breaks +=
        row.environment == .production
        ? try environmentLeak(row, counterpart) : try environmentLeak(counterpart, row)
    }
    return breaks
  }

  private func environmentLeak(_ row: LineageRow, _ counterpart: LineageRow) throws -> [Break] {
    guard let lineage = try lineageInput(of: row), let other = try lineageInput(of: counterpart)
    else { return [] }
    return [
      Reconciliation.environmentLeak(lineage, counterpart: other, rules: rules).reported(
        by: lineage)
    ]
  }

  private func lineageInput(of row: LineageRow) throws -> LineageInput? {
    try cases.lineages([row], try ledger.events(of: row)).first
  }
}
