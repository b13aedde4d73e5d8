import Domain
import TestSupport
import Testing

@testable import Simulation

@Suite struct FaultTests {
  @Test("Each fault marks its events in the truth and changes no report of it")
  func faults() throws {
    let calm = try World.calm()
    var scenario = calm.scenario
    for fault in FeedFault.allCases { scenario.faultShares[fault] = 100_000 }
    let faulty = try World(scenario)
    let events = try faulty.values(faulty.folder.path("world/truth/events.jsonl.gz"))
    let names = Set(events.compactMap { $0["fault"] as? String })
    #expect(names == Set(FeedFault.allCases.map(\.rawValue)))
    #expect(events.count > calm.summary.events)
    for name in ["churn_monthly.csv", "revenue_monthly.csv"] {
      let rows = try [calm, faulty].map {
        try $0.table(name).map { $0.filter { $0.key != "is_complete" } }
      }
      #expect(rows[0] == rows[1])
    }
    let bodies = try faulty.bodies().compactMap { $0["event_name"] as? String }
    #expect(bodies.contains { $0.hasPrefix("my_subscription_") })
  }

  @Test("No archive holds deliveries of an absent day, whose events are lost")
  func absentDay() throws {
    var scenario = Scenario(seed: 5, subscribers: 200, months: 4)
    let day = Day(year: 2025, month: 3, day: 10)
    scenario.absentDays = [day]
    let world = try World(scenario)
    #expect(try !world.files("archives").contains { $0.contains(day.text) })
    let events = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    let absent = events.filter { $0["fault"] as? String == "absent_day" }
    #expect(!absent.isEmpty && absent.contains { $0["outcome"] as? String == "lost" })
  }

  @Test("Webhooks can carry all that the user owns when they are made")
  func entitlements() throws {
    var scenario = Scenario(seed: 5, subscribers: 300, months: 12)
    scenario.entitlements = .current
    let world = try World(scenario)
    let counts = try world.bodies().map { ($0["entitlements"] as? [String: Any])?.count ?? 0 }
    #expect(Set(counts).isSuperset(of: [0, 1, 2]))
    let customer = try #require(
      world.customers.first { $0.subscriptions.last?.periods.count ?? 0 > 2 })
    let periods = try #require(customer.subscriptions.last?.periods)
    let owned = customer.owned(at: periods[1].charge.time)
    #expect(owned.first?.until == periods[1].end || owned.first?.until == periods[1].graceEnd)
  }
}
