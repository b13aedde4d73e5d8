import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct MixedWorldTests {
  private func mixed(seed: UInt64 = 4) throws -> World {
    var scenario = Scenario(seed: seed, subscribers: 150, months: 6)
    scenario.providers = [.purple, .qonversion, .iaptic, .flobuk, .purple]
    scenario.archives = 4
    return try World.shared(scenario)
  }

  @Test("Four providers send one scenario in the same archives, with mixed lines")
  func lines() throws {
    let world = try mixed()
    for file in try world.files("archives") {
      let lines = try gzip("-dc", file).split(separator: UInt8(ascii: "\n")).map {
        String(decoding: $0, as: UTF8.self)
      }
      for mark in ["event_name", "eventTimeMillis", "AppleAppStore", "purchases.updated"] {
        #expect(lines.contains { $0.contains(mark) })
      }
      let isPurple = lines.map { $0.contains("eventTimeMillis") }
      let changes = zip(isPurple, isPurple.dropFirst()).count { $0 != $1 }
      #expect(changes > isPurple.count / 10)
    }
    let events = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    let senders = Dictionary(grouping: events) { $0["provider"] as? String ?? "qonversion" }
    #expect(senders.count == 4)
    let ids = senders.mapValues { Set($0.compactMap { $0["transaction"] as? String }) }
    #expect(Set(ids.values.joined()).count == ids.values.map(\.count).reduce(0, +))
    let apps = senders.mapValues { Set($0.compactMap { $0["app"] as? String }.filter { $0 != "" }) }
    #expect(Set(apps.values.joined()).count == apps.values.map(\.count).reduce(0, +))
    #expect(Set(events.compactMap { $0["id"] as? String }).count == events.count)
    #expect(world.summary.events == events.count)
  }

  @Test("A provider's lines do not depend on the other providers")
  func independence() throws {
    let together = try mixed().table("churn_monthly.csv")
    for provider in Provider.simulated {
      var scenario = Scenario(seed: 4, subscribers: 150, months: 6)
      scenario.providers = [provider]
      scenario.archives = 4
      let alone = try World.shared(scenario).table("churn_monthly.csv")
      #expect(alone == together.filter { $0["provider"] == provider.name })
    }
  }

  @Test("The same scenario gives the same bytes with any providers, and another seed gives others")
  func bytes() throws {
    let worlds = [try mixed(), try World(mixed().scenario), try mixed(seed: 5)]
    #expect(worlds[0].summary == worlds[1].summary)
    for folder in ["archives", "snapshots", "truth"] {
      let contents = try worlds.map { world in
        try world.files(folder).map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
      }
      #expect(contents[0] == contents[1] && contents[0] != contents[2])
    }
  }

  @Test("The price book has every product in every store, with a rise and one price for all")
  func prices() throws {
    let world = try mixed()
    let text = try String(
      contentsOfFile: world.folder.path("world/prices.csv"), encoding: .utf8)
    let rows = text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    #expect(
      rows[0] == [
        "store", "product_id", "country", "currency", "valid_from", "amount", "amount_usd",
        "proceeds_rate", "period",
      ])
    #expect(rows.allSatisfy { $0.count == 9 })
    #expect(
      Set(rows.dropFirst().map { $0[0] }) == ["app_store", "paypal", "play_store", "stripe"])
    let general = rows.filter { $0[2] == "" && $0[0] == "paypal" && $0[1].hasSuffix(".monthly") }
    #expect(general.map { $0[5] } == ["9.99", "11.99", "9.99", "11.99"])
    #expect(Set(rows.dropFirst().map { $0[..<5].joined(separator: ",") }).count == rows.count - 1)
  }

  @Test("Coverage covers every provider, shop and report of the truth, with reasons")
  func coverage() throws {
    let world = try mixed()
    let rows = try world.table("coverage.csv")
    #expect(rows.allSatisfy { ["exact", "near", "none"].contains($0["coverage"] ?? "") })
    #expect(rows.allSatisfy { !($0["reason"] ?? "").isEmpty })
    #expect(rows.count { $0["coverage"] == "exact" } > rows.count / 2)
    let names = ["provider", "app_id", "store"]
    let covered = Set(rows.map { row in names.map { row[$0] ?? "" } })
    for report in Set(rows.compactMap { $0["report"] }) {
      let expected = try world.table("\(report).csv").map { row in names.map { row[$0] ?? "" } }
      #expect(covered.isSuperset(of: expected))
    }
  }
}
