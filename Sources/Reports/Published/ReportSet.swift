// Reads the numbers of a set's files, for everything that shows them a second time.
public import Domain
internal import Formats
internal import Foundation

/// A report set as its CSV files contain it: what shows numbers again reads them here.
public struct ReportSet: Sendable {
  /// The folder of the files.
  public let folder: String
  /// The content of `datapackage.json`; for a published set, without inputs and watermarks.
  public let manifest: Manifest

  /// The set that a run wrote into `folder`.
  public init(in folder: String, _ manifest: Manifest) {
    self.folder = folder
    self.manifest = manifest
  }

  /// The set that is published in `folder`.
  ///
  /// - Throws: `SubledgerError`: `noInput` without a set, `damagedInput` for an invalid manifest.
  public init(publishedIn folder: String) throws(SubledgerError) {
    let path = "\(folder)/\(manifestName)"
    guard let text = try readFile(path) else {
      throw SubledgerError(
        .noInput, "cannot read the report set in \(folder.shown()): it has no \(manifestName)",
        hint: "give the folder that --out of a run named")
    }
    guard let package = try? JSONDecoder().decode(PublishedPackage.self, from: Data(text)),
      package.name == packageName, let manifest = package.manifest
    else {
      throw SubledgerError(
        .damagedInput, "cannot read \(path.shown()): it is not the manifest of a report set",
        hint: "publish the set again with `subledger report`, or take it from a backup")
    }
    self.init(in: folder, manifest)
  }

  /// The files of a report in order: one file, or one per month.
  public func tables(of report: String) -> [ReportTable] {
    manifest.resources.filter { $0.path == report + ".csv" || $0.path.hasPrefix(report + "/") }
      .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Calls `body` with the values of some columns of each row of a report.
  public func forEachRow(
    of report: String, _ columns: [String], _ body: ([String]) throws -> Void
  ) throws {
    for table in tables(of: report) {
      let names = table.columns.map(\.name)
      let places = columns.compactMap(names.firstIndex)
      guard places.count == columns.count else { continue }
      try forEachRow(of: table) { row in try body(places.map { row[$0] }) }
    }
  }

  /// Calls `body` with every row of a file in order.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` for a changed file, and what `body` throws.
  public func forEachRow(of table: ReportTable, _ body: (CSVRow) throws -> Void) throws {
    let path = "\(folder)/\(table.path)"
    var row = CSVRow(table.columns, manifest.dialect)
    var lines: Int64 = 0
    try forEachLine(of: path) { line in
      lines += 1
      guard row.read(line), lines == 1 ? row.isHeader : row.hasNumbers else {
        throw SubledgerError.notAsPublished(path, line: lines)
      }
      if lines > 1 { try body(row) }
    }
    guard lines == table.rows + 1 else { throw SubledgerError.notAsPublished(path, line: lines) }
  }
}

extension SubledgerError {
  static func notAsPublished(_ path: String, line: Int64) -> SubledgerError {
    SubledgerError(
      .damagedInput, "cannot read \(path.shown()), line \(line): it was changed after publication",
      hint: "`subledger verify` names what differs; publish the set again with `subledger report`")
  }
}

/// The members of a manifest that are needed to read a set.
private struct PublishedPackage: Decodable {
  struct Resource: Decodable {
    struct Schema: Decodable {
      struct Field: Decodable {
        let name: String
        let type: String
        let unit: String?
        let description: String
      }
      let fields: [Field]
      let primaryKey: [String]
    }
    let path: String
    let rows: Int64
    let schema: Schema
  }

  // Values as published.
  struct Extension: Decodable {
    let version: String
    let as_of: String
    let time_zone: String
    let csv_dialect: CSVDialect
    let options: [String: JSONValue]
    let counts: [String: Int64]
    let control_totals: [String: [String: String]]
    let hash_totals: [String: [String: String]]
    let rounding_residual: [String: [String: String]]?
    let reasons: [String]
  }

  let name: String
  let resources: [Resource]
  let subledger: Extension

  /// The manifest as it was written; nil when as-of is not a time.
  var manifest: Manifest? {
    guard let asOf = InstantText.rfc3339(subledger.as_of) else { return nil }
    var manifest = Manifest(
      version: subledger.version, asOf: asOf, timeZone: subledger.time_zone)
    manifest.dialect = subledger.csv_dialect
    manifest.options = subledger.options
    manifest.counts = subledger.counts
    manifest.qualifications = subledger.reasons
    manifest.resources = resources.map(table)
    return manifest
  }

  private func table(_ resource: Resource) -> ReportTable {
    let sums = subledger.control_totals[resource.path] ?? [:]
    let others = subledger.hash_totals[resource.path] ?? [:]
    let known = ReportDefinition.of(resource.path)?.columns ?? []
    let columns = resource.schema.fields.map { field in
      let addition: ColumnAddition = sums[field.name] == nil ? .none : .sum
      let known = known.first { $0.name == field.name }
      return ReportColumn(
        name: field.name, format: known?.format == .numeral ? .numeral : .typed(field.type),
        unit: field.unit,
        description: field.description,
        isKey: resource.schema.primaryKey.contains(field.name),
        addition: known?.addition ?? addition)
    }
    return ReportTable(
      path: resource.path, rows: resource.rows, columns: columns,
      controlTotals: sums.merging(others) { $1 },
      roundingResidual: subledger.rounding_residual?[resource.path] ?? [:])
  }
}
