public import Domain
internal import Formats
internal import Glibc

/// The charges and daily revenue of the last published set: a complete, unchanged file per month.
public struct PreviousMonths: Sendable {
  struct File: Sendable {
    let path: String
    let seal: FileSeal
    let table: ReportTable
    /// Length of the line end before the line feed, in bytes.
    let endBytes: Int
  }

  let charges: [Month: File]
  let chargeTotals: [Month: ChargeTotals]
  let revenue: [Month: File]
  /// The first month whose daily revenue may differ now.
  private(set) var firstChange: Month

  /// The months of the set in `folder`; nil unless its checksums have the hash `sha256` and all its
  /// files are unchanged and in `dialect`.
  ///
  /// - Parameters:
  ///   - isRead: whether all files are read; otherwise those that are older than the checksums are
  ///     as these describe them, so that a run does not cost more with every month of history.
  ///   - open: the first month whose revenue was not complete.
  ///   - each: processes all of some paths, in any order or in parallel.
  public init?(
    publishedIn folder: String, sha256 checksums: String, in dialect: CSVDialect, open: Month,
    isRead: Bool = true, each: ForEachPath = oneAfterTheOther
  ) throws(SubledgerError) {
    guard let document = try readFile("\(folder)/\(checksumsName)"),
      sha256(of: document) == checksums, let manifest = try readFile("\(folder)/\(manifestName)")
    else { return nil }
    let sums = Checksums(reading: document)
    let trusted = isRead ? nil : try status(of: "\(folder)/\(checksumsName)")
    guard sums.hashes[manifestName] == sha256(of: manifest),
      let set = try? ReportSet(publishedIn: folder), set.manifest.dialect == dialect
    else { return nil }
    func months(
      of report: ReportDefinition, before end: Month
    ) throws(SubledgerError) -> [Month: File]? {
      var tables: [Month: (table: ReportTable, bytes: Int64)] = [:]
      for table in set.tables(of: report.name) {
        guard let month = table.month,
          let file = try status(of: "\(folder)/\(table.path)"), file.isFile
        else { return nil }
        if month < end { tables[month] = (table, Int64(file.st_size)) }
      }
      let paths = Set(tables.values.map(\.table.path))
      let hashes = sums.hashes.filter { paths.contains($0.key) }
      guard hashes.count == paths.count,
        try areWhole(hashes, in: folder, olderThan: trusted, each)
      else { return nil }
      return tables.mapValues { table, bytes in
        File(
          path: "\(folder)/\(table.path)",
          seal: FileSeal(bytes: bytes, sha256: hashes[table.path] ?? ""), table: table,
          endBytes: dialect == .rfc4180 ? 0 : 1)
      }
    }
    guard let charges = try months(of: .charges, before: Month(number: .max)),
      let revenue = try months(of: .revenueDaily, before: open)
    else { return nil }
    let totals = charges.compactMapValues { ChargeTotals(of: $0.table) }
    guard totals.count == charges.count else { return nil }
    (self.charges, chargeTotals, self.revenue, firstChange) = (charges, totals, revenue, open)
  }

  /// The same months, given what a run adds to revenue.
  public func adding(_ revenue: [RevenueKey: RevenueSums]) -> PreviousMonths {
    var copy = self
    let days = revenue.lazy.filter { $0.value != RevenueSums() }.map(\.key.day)
    if let first = days.min() { copy.firstChange = min(firstChange, first.month) }
    return copy
  }
}

extension PreviousMonths.File {
  /// Links the file to `copy`, or copies it where links are impossible.
  func carry(to copy: String) throws(SubledgerError) {
    if link(path, copy) != 0 { try copyFile(path, to: copy) }
  }

  /// Calls `body` with every row, without its line end.
  func forEachRow(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var isHeader = true
    try forEachLine(of: path) { line in
      if !isHeader { try body(UnsafeRawBufferPointer(rebasing: line.dropLast(endBytes))) }
      isHeader = false
    }
  }
}
