import Domain
import Foundation
import TestSupport
import Testing

@testable import Simulation

@Suite struct FaultTests {
  @Test("Each fault is marked in the truth's events and changes none of its reports")
  func faults() throws {
    let calm = try World.calm()
    var scenario = calm.scenario
    for fault in FeedFault.allCases { scenario.faultShares[fault] = 100_000 }
    // Purchases are few.
    scenario.faultShares[.severalUnits] = 500_000
    let faulty = try World(scenario)
    let events = try faulty.values(faulty.folder.path("world/truth/events.jsonl.gz"))
    let names = Set(events.compactMap { $0["fault"] as? String })
    #expect(names.union(["intro_offer"]) == Set(FeedFault.allCases.map(\.rawValue)))
    let codes = Dictionary(grouping: events.filter { $0["fault"] != nil }) {
      $0["fault"] as? String ?? ""
    }.mapValues { Set($0.map { $0["code"] as? String }) }
    #expect(codes["double_kind"] == ["DOUBLE_CHARGE", nil] && codes["renamed"] == [nil])
    #expect(codes["fractional_rate"] == ["RATE_MISMATCH"])
    #expect(events.count > calm.summary.events)
    for name in ["churn_monthly.csv", "revenue_monthly.csv"] {
      let rows = try [calm, faulty].map {
        try $0.table(name).map { $0.filter { $0.key != "is_complete" } }
      }
      #expect(rows[0] == rows[1])
    }
    let bodies = try faulty.bodies()
    #expect(bodies.contains { ($0["event_name"] as? String)?.hasPrefix("my_subscr") ?? false })
    let rates = bodies.compactMap { ($0["revenue"] as? [String: Any])?["proceeds_rate"] as? Double }
    #expect(Set(rates) == [0.7, 0.85, 0.97, 1, 70, 85, 97])
    #expect(Set(bodies.compactMap { $0["quantity"] as? Int }).isSubset(of: [1, 2, 3, 4]))
    #expect(bodies.contains { $0["quantity"] as? Int ?? 1 > 1 })
    let plans = bodies.filter { $0["subscription_group"] as? String == "base" }
    #expect(Set(plans.compactMap { $0["platform"] as? String }) == ["Android"])
  }

  @Test("iaptic's first periods can be introductory, without any other change")
  func introOffers() throws {
    let calm = try World.calm(by: [.iaptic])
    var scenario = calm.scenario
    scenario.faultShares = [.introOffer: 300_000]
    let faulty = try World(scenario)
    let intros = try [calm, faulty].map { world in
      try world.bodies().compactMap { $0["purchases"] as? [String: [String: Any]] }
        .flatMap(\.values).count { $0["isIntroPeriod"] as? Bool ?? false }
    }
    #expect(intros[0] == 0 && intros[1] > 20)
    #expect(
      try calm.table("revenue_monthly.csv").count == faulty.table("revenue_monthly.csv").count)
  }

  @Test("An SDK's snapshots can be older than their capture; others cannot")
  func staleDumps() throws {
    let calm = try World.calm()
    var scenario = calm.scenario
    scenario.staleDays = 40
    let stale = try World(scenario)
    func snapshots(_ world: World, _ shape: String) throws -> [[String: Any]] {
      try world.files("snapshots/\(shape)").flatMap { try world.values($0) }
    }
    let captured = { (lines: [[String: Any]]) in
      Set(lines.compactMap { $0["captured_at"] as? Int })
    }
    let lines = try [calm, stale].map { try snapshots($0, "sdk") }
    #expect(captured(lines[0]) == captured(lines[1]) && captured(lines[0]).count == 1)
    let newest = try lines.map { lines in
      let text = String(decoding: try JSONSerialization.data(withJSONObject: lines), as: UTF8.self)
      return text.matches(of: /"transaction_timestamp":([0-9]+)/).compactMap { Int64($0.1) }.max()
    }
    let end = TimeSpan(scenario).end
    #expect(newest[0] ?? 0 > end - 2 * day && newest[1] ?? .max <= end - 40 * day)
    #expect(newest[1] ?? 0 > end - 42 * day)
    #expect(try snapshots(calm, "v3").count == snapshots(stale, "v3").count)
  }

  @Test("No archive contains deliveries of an absent day, whose events are lost")
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

  @Test("Webhooks can contain the user's whole access when they are created")
  func entitlements() throws {
    var scenario = Scenario(seed: 5, subscribers: 150, months: 12)
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
