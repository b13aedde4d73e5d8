import Domain
import EventStore
import Foundation
import Reports

extension Plan {
  /// Reads the files of `reports_dir`, and refuses a report that cannot be published.
  mutating func readCustomReports() throws {
    if let folder = configuration.job.reportsDir {
      guard mayExist(folder.path) else {
        throw SubledgerError(
          .noInput, "cannot read the reports in \(folder.path.shown()): it does not exist",
          hint: "check the path given with \(folder.place)")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      for name in names.sorted() where name.hasSuffix(".sql") && !name.hasPrefix(".") {
        let bytes = try fileContents(
          of: "the report", at: "\(folder.path)/\(name)", givenWith: folder.place)
        try configuration.keep(
          report: String(name.dropLast(4)), String(decoding: bytes, as: UTF8.self))
      }
    }
    guard !configuration.reports.isEmpty else { return }
    var errors = SettingErrors()
    let empty = try Ledger.inMemory()
    _ = try UnpackedViews(in: empty, rules: rules)
    for (name, text) in configuration.reports.sorted(by: { $0.key < $1.key }) {
      do { _ = try CustomReport(text, named: name).query(of: empty) } catch { errors.add(error) }
    }
    try errors.throwTogether()
  }
}

extension [CustomReport] {
  /// Writes the reports into `folder`; a single fold unpacks the views that they read.
  func write(
    from ledger: Ledger, rules: FoldSettings, plan: ReportPlan, into folder: String
  ) throws -> WrittenReports {
    let views = try UnpackedViews(in: ledger, rules: rules)
    let queries = try map { try $0.query(of: ledger) }
    try views.fill(queries.reduce(into: []) { $0.formUnion($1.reads) })
    var written = WrittenReports(plan: plan)
    for (report, query) in zip(self, queries) {
      try plan.checkStop()
      written.add(try report.write(query, from: ledger, plan: plan, into: folder))
    }
    return written
  }
}
