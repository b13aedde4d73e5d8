import Reports
import TestSupport
import Testing
import Domain

@Suite("A signal stops writing reports")
struct StopTests {
  @Test("Writing stops between two periods, whenever the signal arrives")
  func everywhere() throws {
    let world = try World()
    let productKey = try world.productKey("monthly")
    for month in 1...2 {
      world.move(.new, 1, productKey, on: Day(year: 2026, month: month, day: 3))
    }
    try world.write()
    let undisturbed = Listener(before: .max)
    try write(world, undisturbed)
    let all = undisturbed.count
    #expect(all > 20, "each report asks, and each period of each")
    for before in [0, all / 2, all - 1] {
      let listener = Listener(before: before)
      #expect(throws: SubledgerError.self) { try write(world, listener) }
      #expect(listener.count == before + 1)
    }
  }

  private func write(_ world: World, _ listener: Listener) throws {
    var plan = ReportPlan(rules: world.rules, run: 7)
    plan.stop = listener.ask
    _ = try writeReports(from: world.ledger, plan: plan, into: world.folder.path("reports"))
  }
}
