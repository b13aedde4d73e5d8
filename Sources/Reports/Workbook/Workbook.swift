// Turns a set's CSV files into one workbook, with a sheet for each report.
public import Domain

/// The file name of a set's workbook.
public let workbookName = "report.xlsx"

/// Throws an error of kind `configuration` when this build cannot write workbooks.
public func requireWorkbooks() throws(SubledgerError) {
  #if !XLSX
    throw SubledgerError(
      .configuration, "cannot write \(workbookName): this build has no libxlsxwriter",
      hint: "install libxlsxwriter-dev and build again, or leave out --xlsx")
  #endif
}

/// Writes the workbook of a set into its folder: the manifest and every report.
///
/// The sheet of a report with more than `rowsMax` rows, header included, has the last months that
/// fit, and names the files of the others. `temporary` is a private folder for the rows; `check` is
/// called for each row.
public func writeWorkbook(
  of set: ReportSet, in temporary: String, rowsMax: Int = 1_048_576, check: () throws -> Void
) throws {
  try requireWorkbooks()
  #if XLSX
    let file = try WorkbookFile(
      "\(set.folder)/\(workbookName)", created: set.manifest.asOf, in: temporary)
    let first = try file.addSheet("manifest")
    var sheets: [ReportSheet] = []
    var reports: [String] = []
    for table in set.manifest.resources {
      let report = ReportDefinition.of(table.path)?.name ?? String(table.path.dropLast(4))
      guard !reports.contains(report) else { continue }
      reports.append(report)
      // A sheet's name has up to 31 letters and no slash; names of custom reports can be longer.
      let name = report.replacing("/", with: ".")
      let shown = name.count > 31 ? "\(name.prefix(27))~\(reports.count)" : name
      let sheet = ReportSheet(set.tables(of: report), named: shown, rowsMax - 1)
      try sheet.write(set, to: file, check)
      sheets.append(sheet)
    }
    try writeManifest(of: set, sheets, to: file, first)
    try file.finish()
  #endif
}

#if XLSX
  private struct ReportSheet {
    let name: String
    /// The files whose rows it contains.
    let tables: [ReportTable]
    let rows: Int64
    /// Where to find the missing rows; empty when it contains all.
    let elsewhere: String

    /// The sheet for the files of a report; it contains the last of them that fit.
    init(_ files: [ReportTable], named name: String, _ rowsMax: Int) {
      self.name = name
      var held = Int64(0)
      let kept = files.reversed().prefix { table in
        held += table.rows
        return held <= rowsMax
      }
      tables = kept.isEmpty ? files.suffix(1) : kept.reversed()
      rows = min(tables.reduce(0) { $0 + $1.rows }, Int64(rowsMax))
      var places = files.dropLast(tables.count).map(\.path)
      if kept.isEmpty, let last = files.last, last.rows > rows {
        places.append("\(last.path) from row \(rows + 1)")
      }
      elsewhere = places.isEmpty ? "" : "more rows: " + places.joined(separator: ", ")
    }

    func write(_ set: ReportSet, to file: WorkbookFile, _ check: () throws -> Void) throws {
      let sheet = try file.addSheet(name)
      let columns = tables.first?.columns ?? []
      var widths = columns.map(\.name.utf8.count)
      for (column, name) in columns.map(\.name).enumerated() {
        try file.write(.text(name), sheet, row: 0, column: column, isBold: true)
      }
      if !elsewhere.isEmpty {
        try file.write(.text(elsewhere), sheet, row: 0, column: columns.count, isBold: true)
      }
      var line = 0
      for table in tables {
        try set.forEachRow(of: table) { row in
          guard line < rows else { return }
          try check()
          line += 1
          for (column, layout) in columns.enumerated() {
            let text = row[column]
            widths[column] = max(widths[column], text.utf8.count)
            try file.write(
              WorkbookCell(text, type: layout.type), sheet, row: line, column: column)
          }
        }
      }
      file.lay(out: sheet, widths: widths.map { min($0, 50) + 2 }, rows: line)
    }
  }

  /// Writes the first sheet: a description of the set, its sheets, and each column.
  private func writeManifest(
    of set: ReportSet, _ sheets: [ReportSheet], to file: WorkbookFile, _ sheet: Int
  ) throws {
    let manifest = set.manifest
    var rows: [[WorkbookCell]] = [
      ["name", "value"], ["as_of", .text(manifest.asOf.text)],
      ["time_zone", .text(manifest.timeZone)], ["version", .text(manifest.version)],
      ["qualified", .flag(!manifest.qualifications.isEmpty)],
    ]
    rows += manifest.qualifications.map { ["reason", .text($0)] }
    rows += [[], ["sheet", "rows", "note"]]
    rows += sheets.map {
      [.text($0.name), .number(Double($0.rows), decimals: 0), .text($0.elsewhere)]
    }
    rows += [[], ["sheet", "column", "type", "unit", "description"]]
    for report in sheets {
      rows += (report.tables.first?.columns ?? []).map { column in
        [report.name, column.name, column.type, column.unit ?? "", column.description].map {
          .text($0)
        }
      }
    }
    for (row, cells) in rows.enumerated() {
      let isHeader = row == 0 || rows[row - 1].isEmpty
      for (column, cell) in cells.enumerated() {
        try file.write(cell, sheet, row: row, column: column, isBold: isHeader)
      }
    }
  }

  extension WorkbookCell: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self = .text(text) }
  }
#endif
