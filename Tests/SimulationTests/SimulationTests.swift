import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct SimulationTests {
  @Test("Shares of outcomes do not change the true history")
  func independence() throws {
    let calm = try World.calm(subscribers: 50)
    var scenario = calm.scenario
    scenario.lostShare = 500_000
    let lossy = try World(scenario)
    #expect(calm.summary.events == lossy.summary.events)
    for name in ["revenue_monthly.csv", "trials_monthly.csv"] {
      let keys = try [calm, lossy].map {
        try $0.table(name).map { $0.filter { $0.key != "is_complete" } }
      }
      #expect(keys[0] == keys[1])
    }
  }

  @Test("Every event is in the truth once, and its copies add up to the archives' lines")
  func outcomes() throws {
    let world = try World(Scenario(seed: 5, subscribers: 250, months: 12))
    let truth = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    let bodies = try world.bodies()
    #expect(truth.count == world.summary.events)
    #expect(bodies.count == world.summary.lines)
    #expect(truth.compactMap { $0["copies"] as? Int }.reduce(0, +) == bodies.count)
    let identities = truth.map {
      "\($0["transaction"] ?? "")|\($0["time"] ?? "")|\($0["name"] ?? "")"
    }
    #expect(Set(identities).count == truth.count)
    for outcome in DeliveryOutcome.allCases {
      #expect(truth.contains { $0["outcome"] as? String == outcome.rawValue })
    }
    let lost = truth.filter { $0["outcome"] as? String == "lost" }
    #expect(lost.allSatisfy { $0["copies"] as? Int == 0 && $0["evidence"] is [String] })
    #expect(lost.contains { !($0["evidence"] as? [String] ?? []).isEmpty })
    let duplicated = truth.filter { $0["outcome"] as? String == "duplicated" }
    #expect(duplicated.allSatisfy { ($0["copies"] as? Int ?? 0) > 1 })
  }

  @Test("A world without disorder loses and repeats nothing")
  func calm() throws {
    let world = try World.calm()
    let truth = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    #expect(truth.allSatisfy { $0["outcome"] as? String == "delivered" })
    #expect(world.summary.lines == world.summary.events)
    let identities = try world.bodies().map { body in
      let transaction = try #require(body["transaction"] as? [String: Any])
      let id = transaction["transaction_id"].map { "\($0)" } ?? ""
      return "\(id)|\(body["time"] ?? "")|\(body["event_name"] ?? "")"
    }
    #expect(Set(identities).count == world.summary.events)
  }

  @Test("The size of a world can be limited to a number of events")
  func events() throws {
    var scenario = Scenario(seed: 8, subscribers: 1, months: 6)
    scenario.events = 2_000
    scenario.archives = 10
    let world = try World(scenario)
    #expect(world.summary.events >= 2_000 && world.summary.events < 2_100)
    #expect(world.summary.archives == 10)
    #expect(try world.files("archives").count == 10)
  }

  @Test("A folder that contains a world, and an impossible scenario, are refused")
  func refusals() throws {
    let world = try World.calm(subscribers: 3)
    let second = #expect(throws: SubledgerError.self) {
      try simulate(world.scenario, into: world.folder.path("world"))
    }
    #expect(second?.kind == .cannotCreate)
    #expect(second?.message.contains(world.folder.path("world/archives")) == true)
    var scenario = world.scenario
    scenario.lostShare = 900_000
    scenario.delayedShare = 200_000
    let error = #expect(throws: SubledgerError.self) {
      try simulate(scenario, into: world.folder.path("other"))
    }
    #expect(error?.description.contains("exceed a million") ?? false)
    scenario.lostShare = .max
    #expect(throws: SubledgerError.self) {
      try simulate(scenario, into: world.folder.path("other"))
    }
    scenario = world.scenario
    scenario.archives = .max
    #expect(throws: SubledgerError.self) {
      try simulate(scenario, into: world.folder.path("other"))
    }
    for name in ["subledger.yaml", "prices.csv"] {
      let mine = try world.folder.write("mine", to: "\(name) of mine/\(name)")
      let refused = #expect(throws: SubledgerError.self) {
        try simulate(world.scenario, into: world.folder.path("\(name) of mine"))
      }
      #expect(refused?.message.contains(mine) == true)
      #expect(FileManager.default.contents(atPath: mine) == Data("mine".utf8))
    }
    let file = try world.folder.write("", to: "file")
    #expect(throws: SubledgerError.self) { try simulate(world.scenario, into: file) }
  }

  @Test("The configuration maps each dashboard product to the store's and contains its period")
  func configuration() throws {
    let world = try World.calm(subscribers: 3)
    let text = try String(
      contentsOfFile: world.folder.path("world/subledger.yaml"), encoding: .utf8)
    #expect(text.contains("  pro_monthly: [com.example.pro.monthly]\n"))
    #expect(text.contains("  com.example.reader.weekly: P7D\n"))
    #expect(text.contains("  com.example.pro.yearly: P1Y\n"))
  }
}
