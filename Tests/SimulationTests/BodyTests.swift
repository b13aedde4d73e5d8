import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct BodyTests {
  @Test("Bodies are as large and complete as real ones")
  func shape() throws {
    let world = try World.calm()
    var scenario = world.scenario
    scenario.envelopedShare = 0
    scenario.subscribers = 100
    let bare = try World(scenario)
    let lines = try bare.files("archives").flatMap {
      try gzip("-dc", $0).split(separator: UInt8(ascii: "\n"))
    }
    let average = lines.map(\.count).reduce(0, +) / lines.count
    #expect((1_200...1_450).contains(average))
    for body in try bare.bodies() {
      for name in [
        "event_name", "user_id", "time", "created_at", "product_id", "price", "transaction",
        "properties", "environment", "platform", "country", "app_id", "entitlements",
      ] {
        #expect(body[name] != nil)
      }
      let time = try #require(body["time"] as? Int)
      let created = try #require(body["created_at"] as? Int)
      #expect((20...120).contains(created - time))
    }
  }

  @Test("About half of the lines are in an envelope, some with the body as text")
  func envelopes() throws {
    let world = try World.calm()
    let values = try world.files("archives").flatMap { try world.values($0) }
    let enveloped = values.filter { $0["body"] != nil }
    #expect((45...55).contains(enveloped.count * 100 / values.count))
    #expect(enveloped.contains { $0["body"] is String })
    #expect(enveloped.contains { $0["receivedAt"] is Int })
    #expect(enveloped.allSatisfy { $0["headers"] is [String: String] })
  }

  @Test("Ids look like each store's, and originals come first")
  func ids() {
    var person = Person(
      number: 42, noise: 1, shop: Shop(app: .pro, storeIndex: 0), market: Market.all[0],
      environment: .production, acceptsPriceRise: true)
    #expect(person.text(TransactionNumber(base: 1, index: 7)) == "2000000000421007")
    person.shop = Shop(app: .pro, storeIndex: 1)
    #expect(person.text(TransactionNumber(base: 0, index: 0)) == "GPA.3300-0000-0000-00420")
    #expect(person.text(TransactionNumber(base: 0, index: 2)) == "GPA.3300-0000-0000-00420..1")
    person.shop = Shop(app: .pro, storeIndex: 2)
    #expect(person.text(TransactionNumber(base: 0, index: 0)) == "sub_1Q0000000000420")
    #expect(person.text(TransactionNumber(base: 0, index: 3)) == "in_1Q0000000000420r3")
  }

  @Test("Money in bodies is exact, and proceeds match price and rate")
  func money() throws {
    let world = try World.calm()
    for customer in try world.customers {
      for occurrence in customer.occurrences {
        guard let revenue = occurrence.revenue, revenue.local > 0 else { continue }
        guard occurrence.kind != .refunded, occurrence.kind != .purchaseRefunded else { continue }
        let percent = occurrence.charge.sendsProceeds ? occurrence.charge.rate : 100
        #expect(revenue == occurrence.charge.gross.scaled(percent, 100))
      }
    }
    let amounts: [Int64] = [9_990_000, -7_617_475, 1_200_000_000, 5, 0]
    #expect(amounts.map(JSON.micros).json.text == "[9.99,-7.617475,1200,0.000005,0]")
  }

  @Test("An upgrade expires at its own time and its entitlement has the new end")
  func upgrades() throws {
    let occurrences = try World.calm().customers.flatMap(\.occurrences)
    let upgrades = occurrences.filter { $0.kind == .upgraded }
    #expect(!upgrades.isEmpty)
    for upgrade in upgrades {
      #expect(upgrade.expires == upgrade.time)
      #expect(upgrade.access.until == upgrade.product.end(from: upgrade.time))
      #expect(upgrade.previousProduct != nil && upgrade.previousProduct != upgrade.product)
    }
    let remainders = occurrences.filter { $0.kind == .productChanged }
    #expect(!remainders.isEmpty)
    #expect(remainders.allSatisfy { $0.revenue.map { $0.local < 0 } ?? false })
  }
}
