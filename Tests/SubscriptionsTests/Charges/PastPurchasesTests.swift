import Testing
import Domain

@testable import Subscriptions

@Suite("Reports about a product or purchase that another has followed")
struct PastPurchasesTests {
  private let upgraded: StringID = 2

  private func monthly(_ rules: inout FoldSettings) {
    rules.periods = [StateFeed.monthly: .months(1), upgraded: .months(1)]
  }

  /// A purchase of 10 January.
  private func bought(in store: Store = .appStore) -> StateFeed {
    var feed = StateFeed(.purple)
    feed.report(.started, "2026-01-10") { $0.store = store }
    return feed
  }

  private func change(_ event: inout Event, in store: Store = .appStore) {
    event.store = store
    event.product = upgraded
    event.previousProduct = StateFeed.monthly
  }

  @Test("A Play upgrade outlives the end of the old token, with and without a known length")
  func upgradeInPlay() throws {
    for kind in [EventKind.expired, .canceled, .endedInvoluntarily, .graceEntered] {
      var feed = bought(in: .playStore)
      feed.report(.upgraded, "2026-02-01", of: 11) { change(&$0, in: .playStore) }
      feed.report(kind, "2026-02-01T00:00:01") { $0.store = .playStore }
      feed.report(.renewed, "2026-03-01", of: 11) {
        $0.store = .playStore
        $0.product = upgraded
        $0.transaction = 12
      }
      for rules in [monthly, { _ in }] {
        let facts = try feed.facts(asOf: "2026-03-15", rules)
        #expect(facts.days(.transferIn) == ["2026-02-01"] && facts.count(.new) == 1)
        #expect(facts.count(.churned) == 0 && facts.count(.autoRenewOff) == 0)
      }
    }
  }

  @Test("An App Store upgrade keeps the purchase: its own cancel counts under either id")
  func upgradeInAppStore() throws {
    for transaction in [Int64(10), 11] {
      var feed = bought()
      feed.report(.upgraded, "2026-02-01", of: 11) { change(&$0) }
      feed.report(.expired, "2026-02-10")
      feed.report(.canceled, "2026-02-12") {
        $0.product = upgraded
        $0.transaction = transaction
      }
      let facts = try feed.facts(asOf: "2026-04-01", monthly)
      #expect(facts.days(.churnedVoluntary) == ["2026-03-01"] && facts.count(.churned) == 1)
    }
  }

  @Test("A purchase that replaces one with a failed payment continues it and outlives its end")
  func boughtInRetry() throws {
    var feed = bought()
    feed.report(.graceEntered, "2026-02-10")
    feed.report(.started, "2026-02-20", of: 20) { $0.product = upgraded }
    feed.report(.endedInvoluntarily, "2026-02-23")
    let facts = try feed.facts(asOf: "2026-03-15", monthly)
    #expect(facts.count(.churned) == 0 && facts.count(.recovered) == 0)
    #expect(facts.days(.transferIn) == ["2026-02-20"] && facts.count(.new) == 1)
  }

  @Test("A late expiry ends its own product, not the one bought at its end")
  func expiredLate() throws {
    var feed = bought()
    feed.report(.canceled, "2026-01-20")
    feed.report(.started, "2026-02-10T00:00:01", of: 20) { $0.product = upgraded }
    feed.report(.expired, "2026-02-10T01:00:00")
    let facts = try feed.facts(asOf: "2026-03-01", monthly)
    #expect(facts.count(.churned) == 0 && facts.days(.transferIn) == ["2026-02-10"])
  }

  @Test("A downgrade keeps the old product until the next charge")
  func downgrade() throws {
    var feed = bought()
    feed.report(.downgraded, "2026-01-20") { change(&$0) }
    feed.report(.canceled, "2026-01-25")
    feed.report(.expired, "2026-02-10")
    let ended = try feed.facts(asOf: "2026-04-01")
    #expect(ended.days(.churnedVoluntary) == ["2026-02-10"])
    feed.report(.renewed, "2026-02-10T00:00:05") { $0.product = upgraded }
    feed.report(.canceled, "2026-02-11")
    let facts = try feed.facts(asOf: "2026-03-01", monthly)
    #expect(facts.count(.churned) == 0 && facts.count(.autoRenewOff) == 0)
  }

  @Test("A downgrade that is a separate Play purchase outlives the end of the old one")
  func downgradeInPlay() throws {
    var feed = bought(in: .playStore)
    feed.report(.downgraded, "2026-01-20", of: 11) { change(&$0, in: .playStore) }
    feed.report(.expired, "2026-01-20T00:00:01") { $0.store = .playStore }
    #expect(try feed.facts(asOf: "2026-02-05", monthly).count(.churned) == 0)
    feed.events[1].lineage = 10
    feed.events[1].transaction = 10
    #expect(try feed.facts(asOf: "2026-02-05", monthly).days(.churned) == ["2026-01-20"])
  }

  @Test("A repurchased product outlives the end of its first purchase, if reported with an id")
  func boughtAnew() throws {
    var feed = bought()
    feed.report(.canceled, "2026-01-20")
    feed.report(.resubscribed, "2026-02-05", of: 11)
    feed.report(.expired, "2026-02-10")
    #expect(try feed.facts(asOf: "2026-03-01", monthly).count(.churned) == 0)
    feed.events[3].transaction = 0
    #expect(try feed.facts(asOf: "2026-03-01", monthly).days(.churned) == ["2026-02-10"])
  }

  @Test("A repurchase without its original transaction keeps its own cancel and end")
  func boughtAnewWithoutOriginal() throws {
    for (isOther, transaction) in [(true, Int64(11)), (true, 10), (false, 11)] {
      var feed = bought()
      feed.report(.canceled, "2026-01-20")
      feed.report(.expired, "2026-02-10")
      feed.report(.resubscribed, "2026-03-05", of: 11) { if isOther { change(&$0) } }
      for (kind, time) in [(EventKind.canceled, "2026-03-20"), (.expired, "2026-04-05")] {
        feed.report(kind, time) {
          $0.transaction = transaction
          if isOther { $0.product = upgraded }
        }
      }
      for rules in [monthly, { _ in }] {
        let facts = try feed.facts(asOf: "2026-06-01", rules)
        #expect(facts.days(.churnedVoluntary) == ["2026-02-10", "2026-04-05"])
        #expect(facts.count(.churned) == 2, "\(isOther) \(transaction)")
      }
    }
  }

  @Test("A renewal without an original transaction continues the previous purchase")
  func withoutOriginal() throws {
    var feed = bought()
    feed.report(.renewed, "2026-02-10", of: 11)
    feed.report(.canceled, "2026-02-20")
    let facts = try feed.facts(asOf: "2026-04-01", monthly)
    #expect(facts.days(.churnedVoluntary) == ["2026-03-10"])
  }
}
