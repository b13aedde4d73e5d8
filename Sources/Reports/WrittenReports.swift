public import EventStore
internal import Domain

/// The written part of a report set.
public struct WrittenReports: Sendable {
  /// The files of the set.
  public private(set) var tables: [ReportTable] = []
  /// The part that the ledger keeps for comparison by later runs.
  public var publication: NewPublication
  /// Sizes and hashes of the files, written or carried over, by path.
  private(set) var seals: [String: FileSeal] = [:]
  private let plan: ReportPlan
  /// Rows with other numbers than were published or closed.
  var restated: [Restatement] = []

  /// An empty part.
  public init(plan: ReportPlan) {
    self.plan = plan
    publication = NewPublication(zone: plan.zone)
  }

  /// Adds another part of the set.
  public mutating func add(_ other: WrittenReports) {
    tables += other.tables
    seals.merge(other.seals) { $1 }
    restated += other.restated
    publication.horizons.merge(other.publication.horizons) { $1 }
    publication.versions += other.publication.versions
    publication.months.merge(other.publication.months) {
      ($0.count + $1.count, $0.incomplete + $1.incomplete)
    }
  }

  mutating func add(_ table: ReportTable, _ seal: FileSeal) {
    tables.append(table)
    seals[table.path] = seal
  }

  /// The written files in `folder`, to read them again.
  public func set(in folder: String) -> ReportSet {
    var manifest = Manifest(version: "", asOf: plan.rules.asOf, timeZone: plan.zone)
    manifest.dialect = plan.dialect
    manifest.resources = tables
    return ReportSet(in: folder, manifest)
  }

  /// Writes the restatements and the summary of all parts, whose `sums` were read again, and
  /// compares the printed sums with the facts.
  ///
  /// Throws when they disagree; the set must not be published then.
  public mutating func finish(
    in folder: String, _ sums: SetSums, checkedBy ledger: Ledger
  ) throws {
    let (plan, restated) = (plan, restated)
    let labels = try Labels(of: ledger)
    let changes = try writeRestatements(restated, plan: plan, labels: labels, into: folder)
    seals.merge(changes.seals) { $1 }
    let place = tables.firstIndex { $0.path == "inputs.csv" } ?? tables.endIndex
    tables.insert(contentsOf: changes.tables, at: place)
    let summary = try MonthlySummary(of: sums, restated, labels, ledger)
    add(try summary.write(plan, labels, into: folder))
    try plan.checkStop()
    try checkTotals(of: tables, in: ledger)
  }
}
