// Turns fact cells into CSV: one query per report, and the identities that must hold before a set
// is published.
public import EventStore
internal import Domain

/// A part of the set that can be written in parallel with others, each from its own open ledger.
///
/// Written in this order, the parts form the set.
public enum ReportPartition: CaseIterable, Sendable {
  /// Revenue by day.
  case revenueByDay
  /// Revenue by month.
  case revenueByMonth
  /// New, churned and renewed subscriptions.
  case movements
  /// Outcomes of trials and cohorts, and the reliability of the numbers.
  case outcomes
  /// Breaks.
  case breaks
  /// Deliveries and their outcomes.
  case input

  /// The order in which to start them: the longest first.
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

/// The file name of a set's page.
public let pageName = "index.html"

/// The contents of a set except its documents, by path: reports, which are files or folders with a
/// file per month, custom reports, the page and the workbook.
public var reportPaths: [String] {
  ReportDefinition.all.map(\.path) + [CustomReport.folder] + copies
}

/// Files that show the reports again.
private let copies = [pageName, workbookName]

/// Whether a file of a set, by its path, identifies persons, or files whose names may.
public func namesPersons(_ file: String) -> Bool {
  copies.contains(file) || ReportDefinition.of(file)?.namesPersons ?? CustomReport.isFile(file)
}

/// Whether a file of a set, by its path, depends on when input arrived, not only on its content.
public func dependsOnArrival(_ file: String) -> Bool {
  copies.contains(file) || ReportDefinition.of(file)?.dependsOnArrival ?? CustomReport.isFile(file)
}

extension ReportDefinition {
  static let all =
    ReportPartition.allCases.flatMap(\.layouts) + [charges, restatements, summaryMonthly]

  /// The path of the report in a set: a file, or a folder with a file per month.
  var path: String { isSplitByMonth ? name : name + ".csv" }

  /// The report that a file of a set belongs to; nil if it is not a report's.
  static func of(_ file: String) -> ReportDefinition? {
    all.first { $0.isSplitByMonth ? file.hasPrefix("\($0.name)/") : file == $0.path }
  }
}

/// Writes parts of the set; the helper tables that all parts read are created once.
public final class ReportWriter {
  private let folder: String
  private let context: ReportContext
  private let labels: Labels
  private let history: PublishedHistory

  /// A writer into `folder`, which must exist; it writes to temporary tables of the ledger only.
  public init(from ledger: Ledger, plan: ReportPlan, into folder: String) throws {
    self.folder = folder
    context = ReportContext(ledger: ledger, plan: plan)
    let horizons = try context.prepare()
    labels = try Labels(of: ledger, in: plan.dialect)
    history = try PublishedHistory(ledger, plan, horizons)
  }

  /// Writes one part; after all parts, callers must call `finish` on their sum.
  public func write(_ share: ReportPartition) throws -> WrittenReports {
    let plan = context.plan
    if share == .movements { try checkFacts(in: context.ledger) }
    var reports = WrittenReports(plan: plan)
    reports.publication.horizons = history.horizons
    for layout in share.layouts {
      try plan.checkStop()
      try layout.prepare?(context)
      let monthly = try MonthlyRows(layout, history: history)
      let writer = TableWriter(
        layout, plan: plan, labels: labels, into: folder, beside: monthly?.add)
      try writer.write(from: context.ledger, since: firstChange(of: layout))
      try monthly?.finish()
      reports.add(writer.written)
      if let monthly { reports.add(monthly.written) }
    }
    return reports
  }

  /// The first month whose file can differ from the previous set; nil to write all.
  private func firstChange(of layout: ReportDefinition) -> Month? {
    guard layout.name == ReportDefinition.revenueDaily.name, let previous = context.plan.previous,
      let open = history.horizons.values.compactMap({ $0[.booked] }).min()
    else { return nil }
    return min(previous.firstChange, open)
  }
}
