// Fact cells → CSV: one query per report, and the identities that must hold before anybody may
// see the numbers.
public import Ledger

/// A part of the set that can be written beside the others, each from a ledger opened anew.
///
/// The parts in their order are the set in its order; they take about as long as one another.
public enum ReportShare: CaseIterable, Sendable {
  /// Revenue by day and by month.
  case revenue
  /// All other reports.
  case others

  var layouts: [Layout] {
    switch self {
    case .revenue: [.revenueDaily, .revenueMonthly]
    case .others:
      [
        .churnMonthly, .renewalsMonthly, .mrrMonthly, .trialsMonthly, .retentionMonthly,
        .qualityMonthly, .excludedMonthly, .coverage, .breaks, .breaksHistory, .refetchWorklist,
        .deliveriesDaily, .outages, .restatements, .inputs, .rejects,
      ]
    }
  }
}

/// Writes every report of the set into `folder`, which must exist.
///
/// Throws `ReportError.identity` when numbers that must agree do not; what was written must not
/// be published then. The ledger is only read; helping tables live in its temporary schema.
public func writeReports(
  from ledger: Ledger, plan: ReportPlan, into folder: String
) throws(ReportError) -> [ReportTable] {
  var tables: [ReportTable] = []
  for share in ReportShare.allCases {
    tables += try writeReports(share, from: ledger, plan: plan, into: folder)
  }
  try checkReports(tables, in: ledger)
  return tables
}

/// Writes one share of the set; whoever has written all of them must call `checkReports`.
public func writeReports(
  _ share: ReportShare, from ledger: Ledger, plan: ReportPlan, into folder: String
) throws(ReportError) -> [ReportTable] {
  try attempt {
    let context = ReportContext(ledger: ledger, plan: plan)
    try context.prepare()
    if share == .others {
      try context.makeMonths()
      try context.makeLatencies()
      try context.makeOutages()
      try checkFacts(in: ledger)
      try context.makeCoverage()
    }
    let lexicon = try Lexicon(of: ledger)
    var tables: [ReportTable] = []
    for layout in share.layouts {
      var writer = TableWriter(layout, plan: plan, lexicon: lexicon, into: folder)
      try writer.write(from: ledger)
      tables += writer.tables
    }
    return tables
  }
}

/// Compares what all shares printed with the cells.
///
/// Throws `ReportError.identity` when they do not agree; the set must not be published then.
public func checkReports(_ tables: [ReportTable], in ledger: Ledger) throws(ReportError) {
  try attempt { try checkTotals(of: tables, in: ledger) }
}

private func attempt<Value>(_ work: () throws -> Value) throws(ReportError) -> Value {
  do {
    return try work()
  } catch let error as ReportError {
    throw error
  } catch let error as LedgerError {
    throw .ledger(error)
  } catch {
    preconditionFailure("reports fail in known ways only: \(type(of: error))")
  }
}
