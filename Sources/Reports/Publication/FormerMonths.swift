public import Domain
internal import Formats
internal import Glibc

/// The list of charges and the daily revenue that the last run published, a file for each month,
/// whole and as they were published.
public struct FormerMonths: Sendable {
  struct File: Sendable {
    let path: String
    let seal: FileSeal
    let table: ReportTable
    /// Bytes at the end of a line before its line feed.
    let endBytes: Int
  }

  let charges: [Month: File]
  let chargeTotals: [Month: ChargeTotals]
  let revenue: [Month: File]
  /// The first month whose daily revenue may be another one now.
  private(set) var firstChange: Month

  /// The months in the set in `folder`; nil unless `sha256` is that of its checksums and each of
  /// its files is as it was published, in `dialect`.
  ///
  /// - Parameters:
  ///   - open: the first month with revenue that was not complete.
  ///   - each: does work on all of some paths, in any order or in parallel.
  public init?(
    publishedIn folder: String, sha256 checksums: String, in dialect: CSVDialect, open: Month,
    each: ForEachPath = oneAfterTheOther
  ) throws(SubledgerError) {
    guard let document = try readFile("\(folder)/\(checksumsName)"),
      sha256(of: document) == checksums, let manifest = try readFile("\(folder)/\(manifestName)")
    else { return nil }
    let sums = Checksums(reading: document)
    guard sums.hashes[manifestName] == sha256(of: manifest),
      let set = try? ReportSet(publishedIn: folder), set.manifest.dialect == dialect
    else { return nil }
    func months(
      of report: ReportDefinition, before end: Month
    ) throws(SubledgerError) -> [Month: File]? {
      var tables: [Month: ReportTable] = [:]
      for table in set.tables(of: report.name) {
        let name = table.path.dropFirst(report.name.count + 1).dropLast(4)
        guard let month = Month(text: String(name)),
          try isFile("\(folder)/\(table.path)")
        else { return nil }
        if month < end { tables[month] = table }
      }
      let paths = Set(tables.values.map(\.path))
      let hashes = sums.hashes.filter { paths.contains($0.key) }
      guard hashes.count == paths.count, try areWhole(hashes, in: folder, each) else { return nil }
      return tables.mapValues { table in
        let path = "\(folder)/\(table.path)"
        return File(
          path: path,
          seal: FileSeal(bytes: fileSize(path) ?? 0, sha256: hashes[table.path] ?? ""),
          table: table, endBytes: dialect == .rfc4180 ? 0 : 1)
      }
    }
    guard let charges = try months(of: .charges, before: Month(number: .max)),
      let revenue = try months(of: .revenueDaily, before: open)
    else { return nil }
    let totals = charges.compactMapValues { ChargeTotals(of: $0.table) }
    guard totals.count == charges.count else { return nil }
    (self.charges, chargeTotals, self.revenue, firstChange) = (charges, totals, revenue, open)
  }

  /// The same, beside what a run adds to revenue.
  public func adding(_ revenue: [RevenueKey: RevenueSums]) -> FormerMonths {
    var copy = self
    let days = revenue.lazy.filter { $0.value != RevenueSums() }.map(\.key.day)
    if let first = days.min() { copy.firstChange = min(firstChange, first.month) }
    return copy
  }
}

extension FormerMonths.File {
  /// Makes `copy` the same file where links are possible.
  func carry(to copy: String) throws(SubledgerError) {
    if link(path, copy) != 0 { try copyFile(path, to: copy) }
  }

  /// Calls `body` at every row, without its line end.
  func forEachRow(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var isHeader = true
    try forEachLine(of: path) { line in
      if !isHeader { try body(UnsafeRawBufferPointer(rebasing: line.dropLast(endBytes))) }
      isHeader = false
    }
  }
}
