import Domain
import Foundation
import TestSupport
import Testing

@testable import Reports

@Suite("Cells of the workbook show the values of the CSV files")
struct WorkbookTests {
  @Test(
    "Numbers of up to 14 digits are numbers with the printed decimals",
    arguments: [
      ("12", 12, 0), ("-7", -7, 0), ("9.99", 9.99, 2), ("-0.50", -0.5, 2),
      ("0.333333", 0.333333, 6),
      ("99999999.999999", 99_999_999.999999, 6),
    ])
  func numbers(text: String, number: Double, decimals: Int) {
    #expect(WorkbookCell(text, type: "number") == .number(number, decimals: decimals))
  }

  @Test("Longer numbers, ids, words and instants are texts, even if they look like numbers")
  func texts() {
    let long = "123456789.123456"
    #expect(WorkbookCell(long, type: "number") == .text(long))
    for text in ["007", "1e5", "=1+1", "2026-01-01", "true"] {
      #expect(WorkbookCell(text, type: "string") == .text(text))
    }
    let instant = "2026-01-01T00:00:00.5Z"
    #expect(WorkbookCell(instant, type: "datetime") == .text(instant))
    for type in ["string", "integer", "number", "date", "yearmonth", "boolean", "datetime"] {
      #expect(WorkbookCell("", type: type) == .empty)
    }
  }

  @Test("Days and months are spreadsheet dates; dates that spreadsheets lack are texts")
  func days() {
    #expect(WorkbookCell("2026-02-01", type: "date") == .day(46_054))
    #expect(WorkbookCell("2026-02", type: "yearmonth") == .month(46_054))
    #expect(WorkbookCell("1900-01-01", type: "date") == .text("1900-01-01"))
    #expect(WorkbookCell("false", type: "boolean") == .flag(false))
  }

  @Test("Text that a spreadsheet would read as an escape is escaped; an overlong text is cut")
  func escapes() {
    func shown(_ text: String) -> WorkbookCell { WorkbookCell(text, type: "string") }
    #expect(shown("a_x0041_b") == .text("a_x005F_x0041_b"))
    #expect(shown("_x0041_x0042_") == .text("_x005F_x0041_x005F_x0042_"))
    for text in ["a_x041_", "_xyzab_", "x0041_", "app_store"] {
      #expect(shown(text) == .text(text))
    }
    #expect(shown("a\u{ffff}") == .text("a\u{fffd}"))
    let longest = String(repeating: "é", count: 32_767)
    #expect(shown(longest) == .text(longest))
    #expect(shown(longest + "é") == .text(longest.dropLast() + "…"))
  }

  #if XLSX
    @Test("If rows exceed a sheet, it has the last months and names the files of the others")
    func limit() throws {
      let world = try World()
      for month in 1...3 {
        for product in ["a", "b"] { try world.sell(1, product, month: month) }
      }
      var manifest = Manifest(version: "1", asOf: world.rules.asOf, timeZone: "UTC")
      manifest.resources = try world.write()
      let set = ReportSet(in: world.folder.path("reports"), manifest)
      for (rowsMax, days, months) in [
        (7, "", ""),
        (
          6, "more rows: revenue_daily/2026-01.csv",
          "more rows: revenue_monthly.csv from row 6"
        ),
        (
          2,
          "more rows: revenue_daily/2026-01.csv, revenue_daily/2026-02.csv, "
            + "revenue_daily/2026-03.csv from row 2",
          "more rows: revenue_monthly.csv from row 2"
        ),
      ] {
        try writeWorkbook(of: set, in: world.folder.path(""), rowsMax: rowsMax) {}
        let book = try Data(
          contentsOf: URL(fileURLWithPath: world.folder.path("reports/\(workbookName)")))
        // The manifest is the first sheet, daily revenue the next.
        for (sheet, note) in [(2, days), (3, months)] {
          let text = try #require(try zipEntry("xl/worksheets/sheet\(sheet).xml", in: book))
          let notes = text.matches(of: /<t>(more rows[^<]*)</).map { String($0.1) }
          #expect(notes == [note].filter { !$0.isEmpty })
          #expect(text.matches(of: #/<row /#).count <= rowsMax)
        }
        let first = try #require(try zipEntry("xl/worksheets/sheet1.xml", in: book))
        #expect(hasNote(days, first) && hasNote(months, first))
      }
    }

    private func hasNote(_ text: String, _ sheet: String) -> Bool {
      text.isEmpty || sheet.contains("<t>\(text)</t>")
    }
  #endif
}
