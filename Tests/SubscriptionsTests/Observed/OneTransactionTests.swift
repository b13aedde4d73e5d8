import Testing
import Domain

@testable import Subscriptions

/// Stores that may send the subscription's id instead of a charge's.
@Suite("Charges under one transaction id")
struct OneTransactionTests {
  private func months(_ provider: Provider, _ store: Store, isDated: Bool) -> StateFeed {
    var feed = StateFeed(provider)
    for (time, end) in [
      ("2026-01-10", "2026-02-10"), ("2026-02-10", "2026-03-10"), ("2026-03-10", "2026-04-10"),
    ] {
      feed.show(time, 10, until: end) { event, state in
        event.store = store
        if isDated { state.lastChargedAt = at(time) }
      }
    }
    return feed
  }

  @Test("A later date of the last charge is a renewal, as is an end one period later")
  func renewals() throws {
    for (provider, isDated) in [(Provider.iaptic, true), (.iaptic, false), (.flobuk, false)] {
      let feed = months(provider, provider == .iaptic ? .stripe : .paypal, isDated: isDated)
      #expect(
        try feed.history() == ["started 2026-01-10", "renewed 2026-02-10", "renewed 2026-03-10"])
      #expect(try feed.facts(asOf: "2026-04-01").renewalOrdinals == [1, 2])
    }
  }

  @Test("Without dates, each new end is a renewal")
  func undated() throws {
    var feed = StateFeed(.iaptic)
    for month in 2...6 {
      feed.show("2026-01-10", 10, until: "2026-0\(month)-10") { event, state in
        event.store = .stripe
        event.received = at("2026-0\(month - 1)-10T00:00:05")
        (state.isTimeInferred, state.firstPurchasedAt) = (true, event.time)
      }
    }
    let facts = try feed.facts(asOf: "2026-06-20")
    #expect(facts.revenue.values.reduce(0) { $0 + $1.charges } == 5)
    #expect(facts.renewalOrdinals == [1, 2, 3, 4])
  }

  @Test("In the stores of Apple and Google, which name each charge, a later end is an extension")
  func named() throws {
    for store in [Store.appStore, .playStore] {
      let kinds = try months(.iaptic, store, isDated: true).history().map { $0.prefix(8) }
      #expect(kinds == ["started ", "extended", "extended"])
    }
  }

  @Test("An end later by less than half a period, or with an old date, is an extension")
  func extended() throws {
    var feed = months(.iaptic, .stripe, isDated: false)
    feed.events.removeLast()
    feed.events[1].periodEnd = at("2026-02-20")
    #expect(try feed.history() == ["started 2026-01-10", "extended 2026-02-10"])
    feed.events[1].periodEnd = at("2026-03-10")
    feed.events[0].observation?.lastChargedAt = at("2026-01-10")
    feed.events[1].observation?.lastChargedAt = at("2026-01-10")
    #expect(try feed.history() == ["started 2026-01-10", "extended 2026-02-10"])
  }

  @Test("A later end with a failed payment is not a charge until it is paid")
  func failing() throws {
    var feed = months(.iaptic, .stripe, isDated: false)
    feed.events.removeLast()
    feed.events[1].observation?.isInBillingRetry = true
    #expect(try feed.facts(asOf: "2026-03-01").renewalOrdinals == [])
    feed.show("2026-02-14", 10, until: "2026-03-10") { event, _ in event.store = .stripe }
    let facts = try feed.facts(asOf: "2026-03-01")
    #expect(facts.renewalOrdinals == [1] && facts.count(.churned) == 0)
    #expect(try feed.history().last == "renewed 2026-02-14")
  }

  @Test("The first charge after a trial is its conversion")
  func conversion() throws {
    var feed = months(.iaptic, .stripe, isDated: true)
    feed.events[0].observation?.isTrial = true
    #expect(
      try feed.history() == [
        "trial_started 2026-01-10", "trial_converted 2026-02-10", "renewed 2026-03-10",
      ])
  }

  @Test("One-time purchases of several products in one transaction are charged once each")
  func products() throws {
    for provider in [Provider.iaptic, .flobuk] {
      var feed = StateFeed(provider)
      for (time, product) in [
        ("2026-01-10", StateFeed.monthly), ("2026-01-11", StateFeed.yearly),
        ("2026-01-12", StateFeed.monthly),
      ] {
        feed.show(time, 10, until: nil) { event, _ in
          (event.store, event.product) = (.playStore, product)
        }
      }
      #expect(try feed.history() == ["purchased 2026-01-10", "purchased 2026-01-11"])
      #expect(try feed.facts(asOf: "2026-02-01").charges(.oneTime) == 2)
    }
  }

  @Test("A report about a later charge does not affect earlier ones")
  func reportedOfLater() throws {
    var feed = months(.iaptic, .stripe, isDated: true)
    feed.events.removeLast()
    feed.events[1].time = at("2026-03-20")
    feed.events[1].periodEnd = at("2026-04-20")
    feed.events[1].observation?.lastChargedAt = at("2026-03-20")
    feed.report(.graceEntered, "2026-04-20") { event in
      event.store = .stripe
      event.periodEnd = at("2026-04-20")
    }
    #expect(
      try feed.history() == [
        "started 2026-01-10", "resubscribed 2026-03-20", "grace_entered 2026-04-20",
      ])
    #expect(try feed.facts(asOf: "2026-06-01").days(.churnedInvoluntary) == ["2026-04-20"])
  }
}
