import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct PurpleTests {
  @Test("Bodies are receipt events with exactly the members of their type")
  func shape() throws {
    let bodies = try World.calm(by: [.purple]).bodies()
    #expect(bodies.count > 1_000)
    for body in bodies {
      #expect(Set(body.keys).isSubset(of: ["version", "type", "properties", "eventTimeMillis"]))
      #expect(try #require(body["eventTimeMillis"] as? Int) > 1_700_000_000_000)
      let type = try #require(body["type"] as? String)
      let properties = try #require(body["properties"] as? [String: Any])
      #expect((properties["deviceId"] == nil) != (properties["accountId"] == nil))
      switch type {
      case "ACCOUNT_ASSIGNMENTS_CHANGED":
        #expect(Set(properties.keys) == ["appId", "accountId"])
      case "SUBSCRIPTION_UPGRADED", "SUBSCRIPTION_DOWNGRADED":
        #expect(properties["previousProductId"] != nil && properties["nextProductId"] != nil)
        #expect(properties["productId"] == nil && properties["originalTransactionId"] == nil)
      default:
        #expect(properties["productId"] is String && properties["transactionId"] is String)
        #expect(properties["packageName"] is String)
      }
      #expect((properties["trialPeriod"] != nil) == (type == "SUBSCRIPTION_PURCHASED"))
    }
  }

  @Test("Every type, both generations and both spellings of a Boolean are sent")
  func variety() throws {
    let bodies = try World.calm(by: [.purple]).bodies()
    #expect(
      Set(bodies.compactMap { $0["type"] as? String }) == [
        "PRODUCT_PURCHASED", "PRODUCT_CANCELLED", "SUBSCRIPTION_PURCHASED",
        "SUBSCRIPTION_UPGRADED", "SUBSCRIPTION_DOWNGRADED", "SUBSCRIPTION_RESUBSCRIBED",
        "SUBSCRIPTION_CANCELLED", "SUBSCRIPTION_CANCELLED_INVOLUNTARY", "SUBSCRIPTION_RENEWED",
        "SUBSCRIPTION_RENEWAL_FAILED", "SUBSCRIPTION_RECOVERED", "SUBSCRIPTION_EXPIRED",
        "ACCOUNT_ASSIGNMENTS_CHANGED",
      ])
    let properties = bodies.compactMap { $0["properties"] as? [String: Any] }
    #expect(properties.contains { $0["trialPeriod"] is Bool })
    #expect(properties.contains { $0["trialPeriod"] as? String == "true" })
    let renewals = bodies.filter { $0["type"] as? String == "SUBSCRIPTION_RENEWED" }
    let named = renewals.filter {
      ($0["properties"] as? [String: Any])?["originalTransactionId"] != nil
    }
    #expect(named.count > 100 && renewals.count - named.count > 100)
    #expect(bodies.contains { $0["version"] == nil })
  }

  @Test("An upgrade is charged at the listed price at once, a downgrade waits for the next charge")
  func changes() throws {
    let world = try World.calm(by: [.purple])
    let revenue = try world.table("revenue_monthly.csv")
    #expect(revenue.contains { $0["charge_kind"] == "product_change" })
    #expect(revenue.allSatisfy { $0["amount_basis"] == "price_book" && $0["country"] == "" })
    var changes: [EventKind: Int] = [:]
    for customer in try world.customers.map(\.seenByPurple)
    where customer.person.shop.store != .stripe {
      for occurrence in customer.occurrences where occurrence.previousProduct != nil {
        let periods = customer.expectedHistory.subscriptions.flatMap(\.periods)
        let opened = periods.first { $0.start == occurrence.time }
        guard occurrence.kind != .downgraded else {
          #expect(opened == nil)
          changes[.downgraded, default: 0] += 1
          continue
        }
        #expect(opened?.charge.product == occurrence.product)
        changes[occurrence.kind, default: 0] += 1
      }
    }
    #expect(changes[.upgraded, default: 0] > 2 && changes[.downgraded, default: 0] > 2)
  }

  @Test("Refunds of subscriptions, sandbox and web purchases are never sent")
  func silence() throws {
    let world = try World.calm(by: [.purple])
    let events = try world.values(world.folder.path("world/truth/events.jsonl.gz"))
    #expect(events.allSatisfy { $0["provider"] as? String == "purple" })
    #expect(events.allSatisfy { $0["environment"] as? String == "production" })
    #expect(!events.contains { $0["kind"] as? String == "refunded" })
    #expect(Set(events.compactMap { $0["store"] as? String }) == ["app_store", "play_store"])
    let churn = try world.table("churn_monthly.csv")
    #expect(churn.allSatisfy { $0["churned_refund"] == "0" })
  }
}
