import Ledger
import Reconcile
import Timeline
import Vocabulary

/// Ledger → facts: every lineage is folded once, in the order of the ledger.
struct FoldPass {
  let ledger: Ledger
  let cases: CaseBuilder
  let rules: ReconcileRules
  /// Providers whose lineages reconciliation reads anyhow, because it has snapshots of them.
  let reconciled: Set<Provider>
  let checkStop: () throws(NightError) -> Void

  /// What the fold of the whole ledger came to.
  struct Result {
    var facts = Facts()
    /// What single events show to be wrong.
    var breaks: [Break] = []
  }

  func run() throws(NightError) -> Result {
    var result = Result()
    try attempt {
      try ledger.forEachLineage { row, events in
        let life = try Life(events: events, rules: rules.rules)
        try life.book(into: &result.facts)
        if !life.findings.isEmpty || life.hasLooseEnds {
          try judge(life, row, events, &result)
        }
        try checkStop()
      }
      for conflict in try ledger.conflicts() { try judge(conflict, &result) }
    }
    return result
  }

  private func judge(
    _ life: Life, _ row: LineageRow, _ events: [Event], _ result: inout Result
  ) throws {
    guard let lineage = try cases.lineage(row, events, at: rules.rules.asOf) else { return }
    result.breaks += breaks(from: life.findings, lineage: lineage, rules: rules)
    guard life.hasLooseEnds, !reconciled.contains(row.provider) else { return }
    let user = UserCase(provider: row.provider, user: row.userText, lineages: [lineage])
    result.breaks += reconcile(user, rules: rules).breaks
  }

  private func judge(_ row: ConflictRow, _ result: inout Result) throws {
    guard row.event.time < rules.rules.asOf,
      let lineage = try cases.lineage(
        row.lineage, try ledger.events(ofLineage: row.lineage.key), at: rules.rules.asOf)
    else { return }
    let conflict = EventConflict(
      identity: row.identity, transaction: row.event.transaction, time: row.event.time,
      product: row.event.product, versions: row.places.count, fields: row.fields)
    result.breaks.append(conflictBreak(conflict, lineage: lineage, rules: rules))
  }
}
