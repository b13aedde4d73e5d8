// Fact cells → CSV: one query per report, and the identities that must hold before anybody may
// see the numbers.
public import Ledger

/// Writes every report of the set into `folder`, which must exist.
///
/// Throws `ReportError.identity` when numbers that must agree do not; what was written must not
/// be published then. The ledger is only read; helping tables live in its temporary schema.
public func writeReports(
  from ledger: Ledger, plan: ReportPlan, into folder: String
) throws(ReportError) -> [ReportTable] {
  do {
    try ReportContext(ledger: ledger, plan: plan).prepare()
    try checkFacts(in: ledger)
    var tables: [ReportTable] = []
    for layout in Layout.all {
      var writer = TableWriter(layout, plan: plan, into: folder)
      try writer.write(from: ledger)
      tables += writer.tables
    }
    try checkTotals(of: tables, in: ledger)
    return tables
  } catch let error as ReportError {
    throw error
  } catch let error as LedgerError {
    throw .ledger(error)
  } catch {
    preconditionFailure("reports fail in known ways only: \(type(of: error))")
  }
}

extension Layout {
  /// The set, in the order in which it is written.
  static let all: [Layout] = [
    .revenueDaily, .revenueMonthly, .churnMonthly, .renewalsMonthly, .mrrMonthly, .trialsMonthly,
    .retentionMonthly, .qualityMonthly, .excludedMonthly, .breaks, .deliveriesDaily,
    .restatements, .inputs, .rejects,
  ]
}
