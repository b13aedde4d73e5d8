// Fact cells → CSV: one query per report, and the identities that must hold before anybody may
// see the numbers.
public import EventStore
internal import Domain

/// A part of the set that can be written beside the others, each from a ledger opened anew.
///
/// The parts in their order are the set in its order.
public enum ReportPartition: CaseIterable, Sendable {
  /// Revenue by day.
  case revenueByDay
  /// Revenue by month.
  case revenueByMonth
  /// Subscriptions that came, went and renewed.
  case movements
  /// Outcomes of trials and cohorts, and the reliability of the numbers.
  case outcomes
  /// Breaks.
  case breaks
  /// What was delivered, and what became of it.
  case input

  /// In the order in which they are to be begun: the longest come first.
  public static let longestFirst = [
    revenueByDay, movements, input, outcomes, revenueByMonth, breaks,
  ]

  var layouts: [ReportDefinition] {
    switch self {
    case .revenueByDay: [.revenueDaily]
    case .revenueByMonth: [.revenueMonthly]
    case .movements: [.churnMonthly, .renewalsMonthly, .mrrMonthly]
    case .outcomes:
      [.trialsMonthly, .retentionMonthly, .qualityMonthly, .excludedMonthly, .overlap, .coverage]
    case .breaks: [.breaks, .breaksHistory, .refetchWorklist]
    case .input: [.deliveriesDaily, .outages, .unknownInput, .inputs, .rejects, .drill]
    }
  }
}

/// The page for people in a set.
public let pageName = "index.html"

/// What a set holds besides its documents, by paths in it: reports, which are files or folders with
/// a file per month, own reports, the page and the workbook.
public var reportPaths: [String] {
  ReportDefinition.all.map(\.path) + [OwnReport.folder] + copies
}

/// Files that show the reports again.
private let copies = [pageName, workbookName]

/// Whether a file of a set, by its path in it, names persons, or files that are named like them.
public func namesPersons(_ file: String) -> Bool {
  copies.contains(file) || ReportDefinition.of(file)?.namesPersons ?? OwnReport.isFile(file)
}

/// Whether a file of a set, by its path in it, depends on when input arrived, rather than on its
/// content.
public func dependsOnArrival(_ file: String) -> Bool {
  copies.contains(file) || ReportDefinition.of(file)?.dependsOnArrival ?? OwnReport.isFile(file)
}

extension ReportDefinition {
  static let all =
    ReportPartition.allCases.flatMap(\.layouts) + [charges, restatements, summaryMonthly]

  /// Where the report lies in a set: a file, or a folder with a file per month.
  var path: String { isSplitByMonth ? name : name + ".csv" }

  /// The report that a file of a set belongs to; nil when it is of none.
  static func of(_ file: String) -> ReportDefinition? {
    all.first { $0.isSplitByMonth ? file.hasPrefix("\($0.name)/") : file == $0.path }
  }
}

/// Writes shares of the set, with the helping tables that all of them read made once.
public final class ReportWriter {
  private let plan: ReportPlan
  private let folder: String
  private let context: ReportContext
  private let labels: Labels
  private let history: PublishedHistory

  /// A writer into `folder`, which must exist.
  ///
  /// The ledger is only read; helping tables live in its temporary schema.
  public init(from ledger: Ledger, plan: ReportPlan, into folder: String) throws {
    self.plan = plan
    self.folder = folder
    let context = ReportContext(ledger: ledger, plan: plan)
    self.context = context
    let horizons = try context.prepare()
    labels = try Labels(of: ledger, in: plan.dialect)
    history = try PublishedHistory(ledger, plan, horizons)
  }

  /// Writes one share; whoever has written all of them must call `finish` on their sum.
  public func write(_ share: ReportPartition) throws -> WrittenReports {
    try context.prepare(for: share.layouts)
    if share == .movements { try checkFacts(in: context.ledger) }
    var reports = WrittenReports(plan: plan)
    reports.publication.horizons = history.horizons
    for layout in share.layouts {
      try plan.checkStop()
      let monthly = try MonthlyRows(layout, history: history)
      let writer = TableWriter(
        layout, plan: plan, labels: labels, into: folder, beside: monthly?.add)
      try writer.write(from: context.ledger, since: firstChange(of: layout))
      try monthly?.finish()
      reports.add(writer, monthly)
    }
    return reports
  }

  /// The first month whose file can be another one than in the set before; nil to write all.
  private func firstChange(of layout: ReportDefinition) -> Month? {
    guard layout.name == ReportDefinition.revenueDaily.name, let former = plan.former,
      let open = history.horizons.values.compactMap({ $0[.booked] }).min()
    else { return nil }
    return min(former.firstChange, open)
  }
}
