// Fact cells → CSV: one query per report, and the identities that must hold before anybody may
// see the numbers.
public import Ledger

/// A part of the set that can be written beside the others, each from a ledger opened anew.
///
/// The parts in their order are the set in its order; the longest come first.
public enum ReportShare: CaseIterable, Sendable {
  /// Revenue by day.
  case revenueByDay
  /// Revenue by month.
  case revenueByMonth
  /// Subscriptions that came, went and renewed.
  case movements
  /// What became of trials and cohorts, and what may be said of the numbers.
  case outcomes
  /// What came, and what is wrong.
  case account

  var layouts: [Layout] {
    switch self {
    case .revenueByDay: [.revenueDaily]
    case .revenueByMonth: [.revenueMonthly]
    case .movements: [.churnMonthly, .renewalsMonthly, .mrrMonthly]
    case .outcomes:
      [.trialsMonthly, .retentionMonthly, .qualityMonthly, .excludedMonthly, .coverage]
    case .account:
      [.breaks, .breaksHistory, .refetchWorklist, .deliveriesDaily, .outages, .inputs, .rejects]
    }
  }

  /// Makes the helping tables that only its queries read.
  func prepare(_ context: ReportContext) throws {
    switch self {
    case .revenueByDay, .revenueByMonth: break
    case .movements:
      try context.makeMovementMonths()
      try checkFacts(in: context.ledger)
    case .outcomes: try context.makeCoverage()
    case .account:
      try context.makePrintedNames()
      try context.makeLatencies()
      try context.makeOutages()
    }
  }
}

/// The reports of a set by their paths in it: files, and folders with a file per month.
public var reportPaths: [String] {
  (ReportShare.allCases.flatMap(\.layouts) + [.restatements]).map {
    $0.isSplitByMonth ? $0.name : $0.name + ".csv"
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
  let writer = try ReportWriter(from: ledger, plan: plan, into: folder)
  for share in ReportShare.allCases { reports.add(try writer.write(share)) }
  try reports.finish(in: folder, checkedBy: ledger)
  return reports
}

/// Writes shares of the set, with the helping tables that all of them read made once.
public final class ReportWriter {
  private let plan: ReportPlan
  private let folder: String
  private let context: ReportContext
  private let lexicon: Lexicon
  private let history: PublishedHistory

  /// A writer into `folder`, which must exist.
  ///
  /// The ledger is only read; helping tables live in its temporary schema.
  public init(from ledger: Ledger, plan: ReportPlan, into folder: String) throws(ReportError) {
    self.plan = plan
    self.folder = folder
    let context = ReportContext(ledger: ledger, plan: plan)
    self.context = context
    (lexicon, history) = try attempt {
      try context.prepare()
      return (try Lexicon(of: ledger), try PublishedHistory(ledger, plan))
    }
  }

  /// Writes one share; whoever has written all of them must call `finish` on their sum.
  public func write(_ share: ReportShare) throws(ReportError) -> WrittenReports {
    try attempt {
      try share.prepare(context)
      var reports = WrittenReports(plan: plan)
      reports.publication.horizons = history.horizons
      for layout in share.layouts {
        try plan.checkStop()
        let monthly = try MonthlyRows(layout, history: history, folder: folder)
        let writer = TableWriter(
          layout, plan: plan, lexicon: lexicon, into: folder, beside: monthly)
        try writer.write(from: context.ledger)
        reports.add(writer.tables, monthly)
      }
      return reports
    }
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
