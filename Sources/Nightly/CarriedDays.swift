import Foundation
import Ledger
import Publish
import Report
import Vocabulary

/// The months of daily revenue that tonight's set has exactly as the one before.
///
/// They are most of the bytes of a set, and a night changes few of them.
struct CarriedDays {
  /// The `SHA256SUMS` of the set before.
  private let checksums: [UInt8]
  private let changed: ChangedMonths

  /// Nil when the set before tells nothing about tonight's: everything was folded anew, or it is
  /// not what the last run published, or it is printed otherwise.
  init?(_ fold: NightFold.Outcome, plan: Plan, rules: Rules, ledger: Ledger) throws(NightError) {
    guard let basis = fold.basis,
      let last = try attempt({ try ledger.runs(newest: 1) }).first, last.published != nil,
      let said = RunOptions(last.options), said.isPrinted(as: plan),
      let document = try attempt({ try ledger.documents(ofRun: last.id) }).published
    else { return nil }
    checksums = try document.content()
    // What is as it was stands in the difference with nothing.
    let days = fold.facts.revenue.lazy.filter { $0.value != RevenueSums() }.map(\.key.day)
    changed = ChangedMonths(days, from: rules.at(basis), to: rules)
  }

  /// Puts the files of those months into `staging`, and gives their tables by path.
  func carry(into staging: Staging) throws -> [String: ReportTable] {
    guard let manifest = try staging.publishedManifest(publishedAs: checksums),
      let package = try? JSONDecoder().decode(PublishedPackage.self, from: Data(manifest)),
      let columns = reportColumns(dailyRevenueReport)
    else { return [:] }
    var tables: [String: ReportTable] = [:]
    for resource in package.resources {
      guard let month = dailyRevenueMonth(resource.path), !changed.contains(month),
        let totals = package.subledger.totals[resource.path]
      else { continue }
      tables[resource.path] = ReportTable(
        path: resource.path, rows: resource.rows, columns: columns, controlTotals: totals,
        roundingResidual: package.subledger.residual?[resource.path] ?? [:])
    }
    let wanted = tables
    let carried = try staging.carry(publishedAs: checksums) { wanted[$0] != nil }
    return tables.filter { carried.contains($0.key) }
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
