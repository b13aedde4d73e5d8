import EventStore
import Testing
import Domain

@testable import Reports

@Suite("Properties of a report's definition")
struct LayoutTests {
  @Test(
    "Each report can be read alone with its tables", arguments: ReportDefinition.all.indices)
  func alone(index: Int) throws {
    let world = try World()
    world.move(.new, 1, try world.productKey("monthly"), on: Day(year: 2026, month: 1, day: 1))
    try world.fold()
    let plan = ReportPlan(rules: world.rules, run: 1)
    try forEachRow(of: ReportDefinition.all[index].name, from: world.ledger, plan: plan) { _ in }
  }

  @Test("Files with names of persons, and files that depend on arrival, are known by their paths")
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
}
