public import EventStore
internal import Domain

/// What writing the reports has come to.
public struct WrittenReports: Sendable {
  /// The files of the set.
  public private(set) var tables: [ReportTable] = []
  /// What the ledger keeps of it, for later runs to compare with.
  public var publication: NewPublication
  private let plan: ReportPlan
  private var parts: [RestatementPart.Written] = []

  /// Nothing yet.
  public init(plan: ReportPlan) {
    self.plan = plan
    publication = NewPublication(zone: plan.zone)
  }

  /// Adds what another share of the set came to.
  public mutating func add(_ other: WrittenReports) {
    tables += other.tables
    parts += other.parts
    publication.horizons = other.publication.horizons
    publication.rows += other.publication.rows
    publication.months.merge(other.publication.months) { $0.adding($1) }
  }

  mutating func add(_ written: [ReportTable], _ monthly: MonthlyRows?) {
    tables += written
    guard let monthly else { return }
    publication.rows += monthly.published
    publication.months.merge(monthly.months) { $0.adding($1) }
    if let part = monthly.part { parts.append(part) }
  }

  /// Writes what all shares together tell, and compares what they printed with the cells.
  ///
  /// Throws `ReportError.identity` when they do not agree; the set must not be published then.
  public mutating func finish(
    in folder: String, checkedBy ledger: Ledger
  ) throws(ReportError) {
    let (plan, parts) = (plan, parts)
    let table = try attempt { try writeRestatements(parts, plan: plan, into: folder) }
    let place = tables.firstIndex { $0.path == "inputs.csv" } ?? tables.endIndex
    tables.insert(table, at: place)
    let tables = tables
    try plan.checkStop()
    try attempt {
      try ReportContext(ledger: ledger, plan: plan).makeMovementNames()
      try checkTotals(of: tables, in: ledger)
    }
  }
}
