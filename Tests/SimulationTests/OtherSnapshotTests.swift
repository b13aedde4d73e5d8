import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct OtherSnapshotTests {
  private func lines(of provider: Provider) throws -> (World, [[String: Any]]) {
    let world = try World.calm(by: [provider])
    let files = try world.files("snapshots")
    #expect(files.count == 1 && files[0].contains("snapshots/\(provider.name)/2026-03-01"))
    let values = try world.values(files[0])
    #expect(values.count > 200 && values.allSatisfy { $0["captured_at"] != nil })
    return (world, values)
  }

  @Test("iaptic's answer contains each user's collection at the end")
  func iaptic() throws {
    let (world, values) = try lines(of: .iaptic)
    let end = TimeSpan(world.scenario).end
    for value in values {
      #expect(value["applicationUsername"] is String)
      let purchases = try #require(value["purchases"] as? [String: [String: Any]])
      for purchase in purchases.values {
        guard let text = purchase["expirationDate"] as? String else { continue }
        let date = try Date(
          text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let hasEnded = date.timeIntervalSince1970 < Double(end)
        if purchase["isExpired"] as? Bool == false,
          purchase["isBillingRetryPeriod"] as? Bool == false
        {
          #expect(!hasEnded || date.timeIntervalSince1970 > Double(end - 2 * day))
        }
      }
    }
  }

  @Test("FLOBUK's answer contains the newest subscription and lasting purchases of known users")
  func flobuk() throws {
    let (_, values) = try lines(of: .flobuk)
    for value in values {
      #expect(value["user"] is String && value["app_id"] is String)
      let purchases = try #require(value["purchases"] as? [[String: Any]])
      let data = try purchases.map { try #require($0["data"] as? [String: Any]) }
      #expect(data.filter { $0["type"] as? String == "Subscription" }.count <= 1)
      #expect(!data.contains { $0["type"] as? String == "Consumable" })
      #expect(Set(data.compactMap { $0["productId"] as? String }).count == data.count)
    }
  }

  @Test("Purple's list contains every transaction under the user named in its events")
  func purple() throws {
    let (world, values) = try lines(of: .purple)
    let events = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    let expected = Set(events.compactMap { $0["user_id"] as? String })
    let users = values.compactMap { $0["user_id"] as? String }
    #expect(Set(users) == expected && users.count == expected.count)
    #expect(values.allSatisfy { $0["provider"] as? String == "purple" })
    var held: Set<String> = []
    for value in values {
      for entitlement in try #require(value["entitlements"] as? [[String: Any]]) {
        #expect((entitlement["product_id"] as? String)?.hasPrefix("com.example.") ?? false)
        let transactions = try #require(entitlement["transactions"] as? [[String: Any]])
        held.formUnion(transactions.compactMap { $0["transaction_id"] as? String })
      }
    }
    let charges = events.filter { ["started", "renewed"].contains($0["kind"] as? String ?? "") }
    #expect(charges.allSatisfy { held.contains($0["transaction"] as? String ?? "") })
  }

  @Test("A loss names the record of its provider that reveals it, and most losses are revealed")
  func evidence() throws {
    for provider in Provider.simulated where provider != .qonversion {
      var scenario = Scenario(seed: 6, subscribers: 220, months: 14)
      scenario.providers = [provider]
      scenario.lostShare = 50_000
      let world = try World(scenario)
      let events = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
      let lost = events.filter { $0["outcome"] as? String == "lost" }
      let evidence = lost.compactMap { $0["evidence"] as? [String] }
      #expect(evidence.count == lost.count && lost.count > 50)
      #expect(Set(evidence.joined()).isSubset(of: [provider.name, "later_line"]))
      #expect(evidence.contains { $0.contains(provider.name) } && evidence.contains([]))
    }
  }
}
