import EventStore
import Testing
import Domain

@testable import Reports

@Suite("What a layout says of its report")
struct LayoutTests {
  @Test(
    "Each report finds its tables when it is read alone", arguments: ReportDefinition.all.indices)
  func alone(index: Int) throws {
    let world = try World()
    world.move(.new, 1, try world.productKey("monthly"), on: Day(year: 2026, month: 1, day: 1))
    try world.fold()
    let plan = ReportPlan(rules: world.rules, run: 1)
    try forEachRow(of: ReportDefinition.all[index].name, from: world.ledger, plan: plan) { _ in }
  }

  @Test("Files that name persons, and those that speak of arrival, are reported by their paths")
  func files() {
    #expect(
      reportPaths.filter(namesPersons)
        == [
          "overlap.csv", "breaks.csv", "breaks_history.csv", "refetch_worklist.csv",
          "unknown_input.csv", "inputs.csv", "rejects.csv", "index.html", "report.xlsx",
        ])
    #expect(
      reportPaths.filter(dependsOnArrival)
        == [
          "breaks.csv", "breaks_history.csv", "unknown_input.csv", "inputs.csv", "rejects.csv",
          "drill.csv", "restatements.csv", "summary_monthly.csv", "index.html", "report.xlsx",
        ])
    #expect(dependsOnArrival("deliveries_daily/2026-01.csv"))
    #expect(!dependsOnArrival("revenue_daily/2026-01.csv") && !dependsOnArrival("unknown.csv"))
  }

  @Test("What a report's value reads as is what its cell prints, whatever the format")
  func values() throws {
    let world = try World()
    let symbol = try world.symbol("=a, b")
    let formats: [CellFormat] = [
      .text, .printed, .name, .word(.provider), .word(.symbol), .integer, .amount, .percent,
      .ratio, .month, .day, .instant, .wholeDays, .wholeHours, .number, .latency, .flag,
    ]
    let numbers = "1, \(symbol), -7, 12345678, 7000001, 1, 3, 24312, 20000, 90000001"
    let context = ReportContext(ledger: world.ledger, plan: ReportPlan(rules: world.rules, run: 1))
    try context.prepare()
    let labels = try Labels(of: world.ledger)
    for numbers in [numbers + ", 172800000, 7200000, 5, 130, 1", numbers + ", 1, -1, 0, 9, 0"] {
      let query = "select '=1', 'a b', 'n', \(numbers)"
      try world.ledger.rows(sql: query) { row in
        var (line, printed, place) = (CSVLine(), CSVLine(), 0)
        var printer = RowPrinter(labels)
        for format in formats {
          line.add(printed: try format.value(of: row, at: place, labels).text)
          let cell = format.cell(
            at: place, { row.isNull($0) ? nil : row.int64($0) }, text: { row.text($0) })
          try printer.add(cell, as: format, to: &printed)
          place += format.width
        }
        #expect(
          String(decoding: line.buffer, as: UTF8.self)
            == String(decoding: printed.buffer, as: UTF8.self))
      }
    }
  }
}
