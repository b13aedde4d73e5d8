import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct FlobukTests {
  @Test("Bodies are states of one purchase; subscriptions have an end")
  func shape() throws {
    let bodies = try World.calm(by: [.flobuk]).bodies()
    #expect(bodies.count > 500)
    let names: Set = ["transaction", "data", "store", "user", "timestamp"]
    for body in bodies {
      #expect(Set(body.keys).isSubset(of: names))
      let data = try #require(body["data"] as? [String: Any])
      #expect(data["productId"] is String && data["sandbox"] is Bool)
      let isSubscription = data["type"] as? String == "Subscription"
      for name in ["status", "expiresDate", "autoRenew", "billingRetry"] {
        #expect((data[name] != nil) == isSubscription)
      }
    }
    #expect(
      Set(bodies.compactMap { $0["store"] as? String })
        == ["AppleAppStore", "GooglePlay", "PayPal"])
    let data = bodies.compactMap { $0["data"] as? [String: Any] }
    #expect(Set(data.compactMap { $0["status"] as? Int }) == [0, 1, 3, 4])
    #expect(data.contains { $0["groupId"] != nil } && data.contains { $0["groupId"] == nil })
    #expect(bodies.contains { $0["timestamp"] == nil } && bodies.contains { $0["user"] == nil })
  }

  @Test("A header names the app, and a person's lines all have headers or none")
  func headers() throws {
    let world = try World.calm(by: [.flobuk])
    let values = try world.files("archives").flatMap { try world.values($0) }
    let enveloped = values.filter { $0["headers"] != nil }
    #expect(enveloped.count > values.count / 2 && enveloped.count < values.count)
    for value in enveloped {
      let headers = try #require(value["headers"] as? [String: String])
      let app = try #require(headers["X-App-Id"])
      #expect(app.count == 16 && app.allSatisfy { $0.isLetter || $0.isNumber })
      #expect(headers["X-Auth-Key"] != nil)
    }
    let bare = values.filter { $0["headers"] == nil }
    #expect(bare.allSatisfy { $0["timestamp"] != nil })
  }

  @Test("Renewals reported by the store have no user; Play's name their order")
  func renewals() throws {
    let world = try World.calm(by: [.flobuk])
    var unchained = 0
    for customer in try world.customers.map(\.seenByFlobuk) {
      let isPlay = customer.person.shop.store == .playStore
      for occurrence in customer.occurrences where occurrence.kind == .renewed {
        #expect(customer.namesFlobukUser(occurrence) == customer.person.validatesRenewals)
        let id = customer.person.text(occurrence.transaction)
        #expect(id.contains("..") == isPlay)
      }
      #expect(!isPlay || customer.expectedHistory.unchained.isEmpty)
      unchained += customer.expectedHistory.unchained.count
    }
    #expect(unchained > 50)
  }

  @Test("A failed attempt is repeated on the published schedule, up to 41 hours 10 minutes later")
  func schedule() {
    let schedule = Provider.flobuk.sender.attempts
    let waits = zip(schedule, schedule.dropFirst()).map { $1 - $0 }
    #expect(waits == [600, 3_600, 4 * hour, 12 * hour, 12 * hour, 12 * hour])
    #expect((schedule.last ?? 0) == 41 * hour + 600)
    #expect((schedule.last ?? 0) * 9 / 8 <= Provider.flobuk.sender.deliveryWindow)
  }

  @Test("A purchase seen soon after a period's end began at it, and continues it")
  func continuity() throws {
    let scenario = Scenario(seed: 1)
    var customer = CustomerSimulator(of: 0, in: scenario).customer
    customer.person.shop = Shop(app: .pro, storeIndex: 1, provider: .flobuk)
    func period(_ start: Int64, _ product: Product = .monthly) -> AccessPeriod {
      let charge = Charge(
        kind: .first, transaction: TransactionNumber(base: 0, index: 0), time: start,
        product: product, ordinal: nil, gross: Money(local: 0, usd: 0), rate: 0,
        sendsProceeds: false)
      return AccessPeriod(charge: charge, start: start, end: start + 30 * day)
    }
    let start = customer.span.start
    func kinds(_ second: AccessPeriod, failing: Bool = false) -> (ChargeKind?, Int64?) {
      var first = period(start)
      if failing { first.billingIssueAt = first.end }
      let seen = customer.chained([first, second], first: .first)
      return (seen.last?.charge.kind, seen.last.map { $0.start - seen[0].end })
    }
    #expect(kinds(period(start + 30 * day + hour)) == (.renewal, 0))
    #expect(kinds(period(start + 32 * day)) == (.first, 2 * day))
    #expect(kinds(period(start + 32 * day), failing: true) == (.renewal, 2 * day))
    #expect(kinds(period(start + 99 * day), failing: true) == (.first, 69 * day))
    #expect(kinds(period(start + 9 * day, .plus)) == (.productChange, -21 * day))
  }
}
