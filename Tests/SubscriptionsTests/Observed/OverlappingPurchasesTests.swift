import Testing
import Domain

@testable import Subscriptions

/// Purchases that states show next to or within the period of another one.
@Suite("Purchases that overlap with others in states")
struct OverlappingPurchasesTests {
  private func charged(_ feed: StateFeed, _ change: (inout FoldSettings) -> Void) throws -> [String]
  {
    let charges = try feed.histories(asOf: "2026-07-20", change).flatMap { $0.state?.charges ?? [] }
    return charges.map { "\($0.product) \(text($0.time))" }.sorted()
  }

  @Test("A purchase already over when first seen was charged before the running one")
  func overLongAgo() throws {
    for lineage in [10, 20] as [Int64] {
      var feed = StateFeed(.iaptic)
      feed.show("2026-05-25", 15, until: "2026-06-20", of: 10) { _, state in
        state.lastChargedAt = at("2026-05-20")
        state.isAutoRenewing = false
      }
      feed.show("2026-05-25", 13, until: "2026-04-14", of: lineage) { event, state in
        event.product = StateFeed.yearly
        (state.isOwned, state.isAutoRenewing, state.isReplaced) = (false, false, true)
      }
      for rules in [lengths, { _ in }] {
        let facts = try feed.facts(asOf: "2026-07-20", rules)
        #expect(facts.count(.transferIn) == 0 && facts.charges(.productChange) == 0)
      }
      #expect(try charged(feed, lengths) == ["1 2026-05-20", "2 2025-04-14"])
      #expect(try charged(feed) { _ in } == ["1 2026-05-20", "2 2026-04-14"])
    }
  }

  @Test("A purchase that ended within another's period is never charged at that period's end")
  func endedInside() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2025-09-01", 20, until: "2026-09-01") { event, _ in
      event.kind = .started
      event.product = StateFeed.yearly
    }
    feed.show("2026-05-25", 13, until: "2026-04-14", of: 10) { event, state in
      (state.isOwned, state.isAutoRenewing) = (false, false)
    }
    for index in feed.events.indices { feed.events[index].observation?.group = 5 }
    #expect(try charged(feed, lengths) == ["1 2026-03-14", "2 2025-09-01"])
  }

  @Test("A change without dates to a product that ends earlier follows what was received before")
  func shorterProduct() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:05", until: "2027-01-01")
    feed.events[0].product = StateFeed.yearly
    feed.receive("2026-02-10T00:00:05", until: "2026-03-10")
    feed.receive("2026-03-10T00:00:05", until: "2026-04-10")
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-04-01", lengths)
      #expect(facts.days(.new) == ["2026-01-01"] && facts.days(.transferIn) == ["2026-02-10"])
      #expect(facts.renewalOrdinals == [1] && facts.count(.churned) == 0)
    }
  }

  @Test("An upgrade without ids was charged when it was bought, by its own date")
  func upgradeOfItsOwnDate() throws {
    for switched in ["2026-05-20", "2026-05-20T00:00:03"] {
      var feed = StateFeed(.iaptic)
      feed.shown("2026-05-10T00:00:09", 1, "2026-05-10", until: "2026-06-10")
      feed.shown("2026-05-20T00:00:09", 2, switched, until: "2026-05-20") {
        ($0.isReplaced, $0.isOwned) = (true, false)
      }
      feed.shown("2026-05-20T00:00:09", 2, switched, until: "2027-05-20", StateFeed.yearly) {
        $0.firstPurchasedAt = at("2026-05-20")
      }
      #expect(try charged(feed, lengths) == ["1 2026-05-10", "2 2026-05-20"], "\(switched)")
      let facts = try feed.facts(asOf: "2026-07-20", lengths)
      #expect(facts.days(.transferIn) == ["2026-05-20"] && facts.count(.churned) == 0)
    }
  }

  @Test("An upgrade seen days before the replaced period ends was charged when it was bought")
  func upgradeBeforeTheEnd() throws {
    var feed = StateFeed(.iaptic)
    feed.shown("2026-05-10T00:00:09", 1, "2026-05-10", until: "2026-06-10")
    feed.shown("2026-06-07T00:00:09", 2, "2026-05-10", until: "2026-06-10") {
      ($0.isReplaced, $0.isOwned) = (true, false)
    }
    feed.shown("2026-06-07T00:00:09", 2, "2026-05-10", until: "2027-06-07", StateFeed.yearly)
    #expect(try charged(feed, lengths) == ["1 2026-05-10", "2 2026-06-07"])
    // A month's renewal is charged up to a day early, and months differ.
    feed.events[2].received = at("2026-06-09T12:00:00")
    #expect(try charged(feed, lengths) == ["1 2026-05-10", "2 2026-06-10"])
  }

  @Test("A trial without ids within another product's period has its own length")
  func trialInside() throws {
    var feed = StateFeed(.iaptic)
    feed.shown("2026-05-10T00:00:09", 1, "2026-05-10", until: "2026-06-10")
    feed.shown("2026-05-20T00:00:09", 2, "2026-05-20", until: "2026-05-20") {
      ($0.isReplaced, $0.isOwned) = (true, false)
    }
    feed.shown("2026-05-20T00:00:09", 2, "2026-05-20", until: "2026-05-27", StateFeed.yearly) {
      ($0.firstPurchasedAt, $0.isTrial) = (at("2026-05-20"), true)
    }
    let trials = try feed.histories(asOf: "2026-05-25", lengths).flatMap { $0.state?.trials ?? [] }
    #expect(trials.map { text($0.start) } == ["2026-05-20T00:00:09"])
  }
}

extension OverlappingPurchasesTests {
  /// Two months, the second of which was revoked on 19 April.
  private var revokedAt: StateFeed {
    var feed = StateFeed(.iaptic)
    feed.shown("2026-03-01T00:00:05", 1, "2026-03-01", until: "2026-04-01")
    feed.shown("2026-04-01T00:00:05", 2, "2026-03-01", until: "2026-05-01")
    feed.shown("2026-04-19T00:00:05", 3, "2026-04-19", until: "2026-04-19") {
      ($0.isOwned, $0.isAutoRenewing) = (false, false)
      $0.autoRenewChangedAt = at("2026-04-19")
    }
    return feed
  }

  @Test("Without ids, an end cut by a refund belongs to the revoked purchase")
  func cutByRefund() throws {
    for rules in [lengths, { _ in }] {
      let facts = try revokedAt.facts(asOf: "2026-07-20", rules)
      #expect(facts.charges(.first) == 1 && facts.charges(.renewal) == 1)
      #expect(facts.days(.churnedRefund) == ["2026-04-19"] && facts.count(.churned) == 1)
    }
  }

  @Test("A purchase after such a refund is separate")
  func boughtAfterRefund() throws {
    for rules in [lengths, { _ in }] {
      var feed = revokedAt
      feed.shown("2026-04-25T00:00:05", 4, "2026-04-25", until: "2026-05-25")
      let facts = try feed.facts(asOf: "2026-05-20", rules)
      #expect(facts.revenue.values.reduce(0) { $0 + $1.charges } == 3)
      #expect(facts.days(.reactivated) == ["2026-04-25"])
    }
  }

  @Test("An end first seen after it passed is not cut by a later purchase")
  func lostPeriod() throws {
    var feed = StateFeed(.iaptic)
    feed.shown("2026-04-15T00:00:05", 1, "2026-04-01", until: "2026-04-01") {
      ($0.isOwned, $0.isAutoRenewing) = (false, false)
      $0.firstPurchasedAt = at("2026-03-01")
    }
    feed.shown("2026-05-20T00:00:05", 2, "2026-03-01", until: "2026-06-20") {
      $0.firstPurchasedAt = at("2026-03-01")
    }
    for rules in [lengths, { _ in }] {
      let facts = try feed.facts(asOf: "2026-06-01", rules)
      #expect(facts.revenue.values.reduce(0) { $0 + $1.charges } == 2)
      #expect(facts.count(.churned) == 1 && facts.count(.reactivated) == 1)
    }
    // Without receive times, the length decides.
    for index in feed.events.indices { feed.events[index].received = nil }
    let facts = try feed.facts(asOf: "2026-06-01", lengths)
    #expect(facts.revenue.values.reduce(0) { $0 + $1.charges } == 2)
  }
}

private extension StateFeed {
  /// Shows a state without ids and date; `time` is the latest time in it.
  mutating func shown(
    _ received: String, _ collection: Int64, _ time: String, until end: String,
    _ product: StringID = monthly, _ change: (inout Observation) -> Void = { _ in }
  ) {
    let bought = events.first?.time ?? at(time)
    show(time, 0, until: end, of: 10) { event, state in
      (event.collection, event.product) = (collection, product)
      event.received = at(received)
      state.isTimeInferred = true
      state.firstPurchasedAt = bought
      change(&state)
    }
  }
}
