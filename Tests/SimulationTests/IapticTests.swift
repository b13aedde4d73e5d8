import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct IapticTests {
  @Test("Newer bodies have a reason and amounts, those of the first years neither")
  func generations() throws {
    let bodies = try World.calm(by: [.iaptic]).bodies()
    let updates = bodies.filter { $0["type"] as? String == "purchases.updated" }
    #expect(updates.count > 1_000)
    for body in updates {
      let purchases = try #require(body["purchases"] as? [String: [String: Any]])
      let isNewer = body["notification"] != nil
      for (key, purchase) in purchases {
        #expect(purchase["productId"] as? String == key)
        #expect(key.contains(isNewer ? ".pro." : ".reader."))
        #expect((purchase["transactionId"] != nil) == isNewer)
        #expect((purchase["amountMicros"] != nil) == isNewer)
        let date = try #require(purchase["purchaseDate"] as? String)
        #expect(date.count == 24 && date.hasSuffix(".000Z"))
      }
      #expect(body["applicationUsername"] is String && body["password"] is String)
      guard isNewer else { continue }
      let notification = try #require(body["notification"] as? [String: String])
      #expect(Set(["reason", "id", "date"]).isSubset(of: notification.keys))
      if let product = notification["productId"] { #expect(purchases[product] != nil) }
    }
    let emptied = updates.filter { ($0["purchases"] as? [String: Any])?.isEmpty ?? false }
    #expect(!emptied.isEmpty && emptied.allSatisfy { $0["notification"] == nil })
  }

  @Test("Every reason that occurs is sent, and test calls in between")
  func reasons() throws {
    let bodies = try World.calm(by: [.iaptic]).bodies()
    let reasons = bodies.compactMap { ($0["notification"] as? [String: String])?["reason"] }
    #expect(
      Set(reasons) == [
        "PURCHASED", "RENEWED", "WILL_LAPSE", "ENTERED_GRACE_PERIOD", "EXPIRED", "REFUNDED",
        "OTHER", "RECEIPT_REFRESHED", "WEBHOOK_REPEATED",
      ])
    let types = Set(bodies.compactMap { $0["type"] as? String })
    #expect(types == ["purchases.updated", "test", "TEST"])
    let held = bodies.compactMap { $0["purchases"] as? [String: [String: Any]] }.flatMap(\.values)
    let ends = Set(held.compactMap { $0["cancelationReason"] as? String })
    #expect(
      ends == [
        "", "Customer", "Customer.Cost", "Customer.PriceIncrease", "System.BillingError",
        "System.Replaced", "Unknown",
      ])
    #expect(held.contains { $0["amountMicros"] is NSNull })
  }

  @Test("A collection contains the current last purchase of each product")
  func collections() throws {
    let world = try World.calm(by: [.iaptic])
    var replaced = 0
    for customer in try world.customers.map(\.seenByIaptic) {
      for occurrence in customer.occurrences {
        let held = customer.collection(at: occurrence.time)
        #expect(Set(held.map(\.charge.product)).count == held.count)
        let running = held.filter { $0.period != nil && !$0.isExpired }
        #expect(running.count <= 1)
        replaced += held.contains { $0.reason == "System.Replaced" } ? 1 : 0
        guard occurrence.kind == .renewed else { continue }
        #expect(running.first?.charge.transaction == occurrence.transaction)
      }
    }
    #expect(replaced > 20)
  }

  @Test("Two addresses archive the same bytes within a second")
  func addresses() throws {
    let world = try World.calm(by: [.iaptic])
    let events = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    let twice = events.filter { $0["copies"] as? Int == 2 }
    #expect(twice.count > 100 && twice.count < events.count / 2)
    for event in twice {
      let received = try #require(event["received_ms"] as? [Int])
      #expect(event["outcome"] as? String == "duplicated" && received[1] - received[0] <= 400)
    }
  }

  @Test("Sent amounts are the provider's, others the price book's; their rate is unknown")
  func money() throws {
    let rows = try World.calm(by: [.iaptic]).table("revenue_monthly.csv")
    let bases = Dictionary(grouping: rows) { $0["amount_basis"] ?? "" }
    #expect(Set(bases.keys) == ["provider", "price_book"])
    for row in bases["provider"] ?? [] {
      #expect(row["product_id"]?.contains(".pro.") ?? false)
      #expect(row["proceeds_rate"] == "" && row["proceeds_usd"] == "")
    }
    #expect(rows.allSatisfy { $0["app_id"] == "" && $0["country"] == "" })
  }
}
