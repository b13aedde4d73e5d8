import Foundation
import EventStore
import Reports
import Domain

/// What of the set before stands in tonight's: the files of some months in reports by day, and the
/// rows of some months in reports by month.
///
/// They are most of the bytes of a set, and a night changes few of them.
struct PreviousPublication {
  /// The `SHA256SUMS` of the set before.
  private let checksums: [UInt8]
  /// The months and days of reports by day of which something may differ.
  private let changed: [String: ChangedMonths]
  private let standing: StandingMonths
  /// Whether cells show amounts as they are, each line as any other program writes it.
  private let isPlain: Bool

  /// Nil when the set before tells nothing about tonight's: everything was folded anew, or it is
  /// not what the last run published, or it is printed otherwise.
  ///
  /// - Parameters:
  ///   - basis: what the cells speak of before `change`; nil when everything was folded.
  ///   - change: what the night adds to the cells.
  init?(
    _ basis: FactCheckpoint?, _ change: Facts, plan: Plan, rules: FoldSettings, ledger: Ledger
  ) throws(SubledgerError) {
    guard let basis, let last = try attempt({ try ledger.runs(newest: 1) }).first,
      last.published != nil, let said = RunOptions(last.options), said.isPrinted(as: plan),
      let document = try attempt({ try ledger.documents(ofRun: last.id) }).published
    else { return nil }
    checksums = try document.content()
    let former = rules.at(basis)
    // What is as it was stands in the difference with nothing.
    let booked = change.revenue.lazy.filter { $0.value != RevenueSums() }.map(\.key.day)
    let disordered = change.arrivals.lazy.filter { $0.value != ArrivalSums() }.map(\.key.day)
    let delivered = try attempt { try ledger.deliveryDays(after: last.id) }
    changed = [
      DailyFile.revenue: ChangedMonths(booked, from: former, to: rules),
      DailyFile.deliveries: ChangedMonths(
        delivered.union(disordered), from: former, to: rules),
    ]
    standing = StandingMonths(change, from: former, to: rules)
    isPlain = plan.csvDialect == .rfc4180 && plan.amountDecimals == nil
  }

  /// Tells `plan` what need not be made again; puts whole files into `staging`.
  func tell(_ plan: inout ReportPlan, _ staging: Staging, jobs: Int) throws {
    let published = staging.published(as: checksums)
    guard let manifest = try published.manifest(),
      let package = try? JSONDecoder().decode(PublishedPackage.self, from: Data(manifest))
    else { return }
    let tables = standingFiles(package)
    // Rounded cells do not tell what was rounded away.
    let begun = isPlain ? standing.reports.map { "\($0).csv" } + begunFiles(package) : []
    try Workers(count: jobs).run(
      tables.keys.sorted() + begun,
      { path, tell in _ = tell(Result { try published.file(path) }) },
      take: { _, found in
        guard let file = try found.get() else { return }
        if let table = tables[file.path] {
          if try staging.carry(file) { plan.carried[file.path] = table }
          return
        }
        guard let totals = package.subledger.totals[file.path] else { return }
        plan.standing[file.path] = standingRows(of: file, totals)
      })
  }

  /// The files by day that tonight's set begins alike.
  private func begunFiles(_ package: PublishedPackage) -> [String] {
    package.resources.map(\.path).filter { path in
      guard let file = DailyFile(path),
        let open = changed[file.report]?.firstOpenDay(of: file.month)
      else { return false }
      return open > file.month.firstDay
    }
  }

  /// The rows that a file begins with alike.
  private func standingRows(
    of file: PublishedFile, _ totals: [String: String]
  ) -> StandingRows? {
    if let daily = DailyFile(file.path) {
      return changed[daily.report]?.firstOpenDay(of: daily.month).map {
        StandingRows(path: file.place, until: $0, totals: totals)
      }
    }
    return standing.firstOpenMonth(of: String(file.path.dropLast(4))).map {
      StandingRows(path: file.place, until: $0, totals: totals)
    }
  }

  /// The files by day that tonight's set has alike, with what was said of them.
  private func standingFiles(_ package: PublishedPackage) -> [String: ReportTable] {
    var tables: [String: ReportTable] = [:]
    for resource in package.resources {
      guard let file = DailyFile(resource.path), let changed = changed[file.report],
        !changed.contains(file.month),
        let totals = package.subledger.totals[resource.path],
        let columns = reportColumns(file.report)
      else { continue }
      tables[resource.path] = ReportTable(
        path: resource.path, rows: resource.rows, columns: columns, controlTotals: totals,
        roundingResidual: package.subledger.residual?[resource.path] ?? [:])
    }
    return tables
  }
}

/// What of a published `datapackage.json` is carried on with its files.
private struct PublishedPackage: Decodable {
  let resources: [Resource]
  let subledger: Sums

  struct Resource: Decodable {
    let path: String
    let rows: Int64
  }

  struct Sums: Decodable {
    let totals: [String: [String: String]]
    let residual: [String: [String: String]]?

    private enum CodingKeys: String, CodingKey {
      case totals = "control_totals"
      case residual = "rounding_residual"
    }
  }
}
