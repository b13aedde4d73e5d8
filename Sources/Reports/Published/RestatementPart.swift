internal import Glibc
internal import Domain

/// The lines of `restatements.csv` about one report, in a file of their own until all reports are
/// written.
final class RestatementPart {
  /// What is written.
  struct Written: Sendable {
    let report: String
    let path: String
    /// Lines so far.
    var rows: Int64 = 0
  }

  private(set) var written: Written
  private let plan: ReportPlan
  private var file: CSVFile?
  private var line = CSVLine()

  init(_ layout: ReportDefinition, plan: ReportPlan, folder: String) {
    written = Written(report: layout.name, path: "\(folder)/.restatements-\(layout.name)")
    self.plan = plan
  }

  /// Adds the changed cells of one month; months come in their order.
  func add(_ changes: [(RowChange, Cause)], of month: Month, _ shape: RowShape) throws {
    let ordered = changes.sorted { $0.0.key.precedes($1.0.key) }
    for (change, cause) in ordered {
      for column in change.columns { try add(change, column, cause, month, shape) }
    }
  }

  func finish() throws { try file?.flush() }

  private func add(
    _ change: RowChange, _ column: Int, _ cause: Cause, _ month: Month, _ shape: RowShape
  ) throws {
    let shown = shape.layout.columns[column]
    let published = shape.value(of: column, in: change.published)
    let restated = shape.value(of: column, in: change.restated)
    line.removeAll()
    line.add(plain: written.report)
    line.add(plain: month.text)
    line.add(printed: change.key.text)
    line.add(plain: shown.name)
    line.add(plain: published)
    line.add(plain: restated)
    line.add(plain: shown.format.delta(from: published, to: restated))
    line.add(plain: cause.rawValue)
    line.add(change.run)
    if file == nil { file = try CSVFile(path: written.path, dialect: plan.dialect, isPart: true) }
    try file?.add(line)
    written.rows += 1
  }
}

/// Puts the parts of all reports together to `restatements.csv`.
func writeRestatements(
  _ parts: [RestatementPart.Written], plan: ReportPlan, into folder: String
) throws -> ReportTable {
  let layout = ReportDefinition.restatements
  let name = "\(layout.name).csv"
  let file = try CSVFile(path: "\(folder)/\(name)", dialect: plan.dialect)
  var header = CSVLine()
  for column in layout.columns { header.add(plain: column.name) }
  try file.add(header)
  let ordered = parts.sorted { $0.report.utf8.lexicographicallyPrecedes($1.report.utf8) }
  for part in ordered {
    try file.append(fileAt: part.path)
    unlink(part.path)
  }
  try file.flush()
  return ReportTable(
    path: name, rows: parts.reduce(0) { $0 + $1.rows }, columns: layout.columns.map(\.shown),
    controlTotals: [:], roundingResidual: [:])
}
