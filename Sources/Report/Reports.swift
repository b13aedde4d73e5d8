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
        .deliveriesDaily, .outages, .inputs, .rejects,
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
) throws(ReportError) -> WrittenReports {
  var reports = WrittenReports(plan: plan)
  for share in ReportShare.allCases {
    reports.add(try writeReports(share, from: ledger, plan: plan, into: folder))
  }
  try reports.finish(in: folder, checkedBy: ledger)
  return reports
}

/// Writes one share of the set; whoever has written all of them must call `finish` on their sum.
public func writeReports(
  _ share: ReportShare, from ledger: Ledger, plan: ReportPlan, into folder: String
) throws(ReportError) -> WrittenReports {
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
    let history = try PublishedHistory(ledger, plan)
    var reports = WrittenReports(plan: plan)
    reports.publication.horizons = history.horizons
    for layout in share.layouts {
      let monthly = try MonthlyRows(layout, history: history, folder: folder)
      var writer = TableWriter(
        layout, plan: plan, lexicon: lexicon, into: folder, beside: monthly)
      try writer.write(from: ledger)
      reports.add(writer.tables, monthly)
    }
    return reports
  }
}

func attempt<Value>(_ work: () throws -> Value) throws(ReportError) -> Value {
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
