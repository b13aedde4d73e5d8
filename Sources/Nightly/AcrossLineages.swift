import Ledger
import Reconcile
import Timeline
import Vocabulary

/// What only a look across lineages shows: charges at odd exchange rates, and subscriptions in two
/// environments.
struct AcrossLineages {
  let ledger: Ledger
  let cases: CaseBuilder
  let rules: ReconcileRules
  let checkStop: () throws(NightError) -> Void

  private var asOf: Instant { rules.rules.asOf }

  /// The charges whose rate is off; reads the ledger once more only when there is one.
  func exchangeOutliers(_ rates: ExchangeRates) throws(NightError) -> [Break] {
    let outliers = ExchangeOutliers(rates)
    guard !outliers.isEmpty else { return [] }
    var breaks: [Break] = []
    var groups = 0
    try attempt {
      try ledger.forEachGroup { group, events in
        groups += 1
        if groups % 512 == 0 { try checkStop() }
        guard group.first?.environment == .production,
          events.contains(where: outliers.mayInclude)
        else { return }
        for lineage in try cases.lineages(group, events, at: asOf) {
          breaks += outliers.breaks(in: lineage, events, rules: rules)
        }
      }
    }
    return breaks
  }

  /// Every subscription of which events came as production and as sandbox.
  func environmentLeaks() throws(NightError) -> [Break] {
    var breaks: [Break] = []
    try attempt {
      try ledger.forEachTwin { row, twin in
        guard let lineage = try life(of: row), let other = try life(of: twin) else { return }
        breaks.append(environmentLeak(lineage, twin: other, rules: rules))
        try checkStop()
      }
    }
    return breaks
  }

  private func life(of row: LineageRow) throws -> LineageCase? {
    try cases.lineages([row], try ledger.events(ofLineage: row.key), at: asOf).first
  }
}

extension Facts {
  /// Counts the ends that a missing event casts doubt on, beside the churn that they are part of.
  mutating func book(_ doubtful: Set<ChurnInDoubt>, _ calendar: CivilCalendar) {
    for end in doubtful {
      let key = MovementKey(
        day: calendar.day(of: end.at), offering: end.offering, movement: .churnedInDoubt)
      movements[key, default: MovementSums()].subscriptions += 1
    }
  }
}
