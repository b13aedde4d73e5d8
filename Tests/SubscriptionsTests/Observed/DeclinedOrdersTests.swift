import Testing
import Domain

@testable import Subscriptions

/// Orders of a Play subscription: 10 is the first, 11 would have renewed it.
@Suite("Orders that Play declined")
struct DeclinedOrdersTests {
  private func started(_ provider: Provider, store: Store = .playStore) -> StateFeed {
    var feed = StateFeed(provider)
    feed.order("2026-01-31", 10, until: "2026-02-28", in: store)
    return feed
  }

  @Test("A declined order is not a charge, in grace, on hold or after its end")
  func hold() throws {
    for isInRetry in [true, false] {
      for provider in [Provider.flobuk, .iaptic] {
        var feed = started(provider)
        feed.order("2026-02-28T00:00:05", 11, until: "2026-02-28") { _, state in
          (state.isOwned, state.isInBillingRetry) = (false, isInRetry)
        }
        let facts = try feed.facts(asOf: "2026-04-20")
        let reason = isInRetry ? Movement.churnedInvoluntary : .churnedUnknown
        #expect(facts.days(reason) == ["2026-02-28"], "\(provider)")
        #expect(facts.count(.new) == 1 && facts.charges(.renewal) == 0)
      }
    }
    var grace = started(.iaptic)
    grace.order("2026-02-28T00:00:05", 11, until: "2026-03-07") { $1.isInBillingRetry = true }
    let facts = try grace.facts(asOf: "2026-04-20")
    #expect(facts.days(.churnedInvoluntary) == ["2026-03-07"] && facts.charges(.renewal) == 0)
    #expect(try grace.histories(asOf: "2026-04-20").compactMap { $0.state?.reportedEnd } == [])
  }

  @Test("A declined order is a charge once it is shown as paid")
  func recovered() throws {
    var feed = started(.flobuk)
    feed.order("2026-02-28T00:00:05", 11, until: "2026-02-28") { _, state in
      (state.isOwned, state.isInBillingRetry) = (false, true)
    }
    feed.order("2026-03-10", 11, until: "2026-04-10")
    feed.order("2026-03-20", 11, until: "2026-04-10") { $1.isAutoRenewing = false }
    let facts = try feed.facts(asOf: "2026-04-05")
    #expect(facts.days(.recovered) == ["2026-03-10"] && facts.renewalOrdinals == [1])
    #expect(try feed.history().last == "canceled 2026-03-20")
  }

  @Test("Reports about a declined order end the purchase that it would have renewed")
  func reported() throws {
    var feed = started(.iaptic)
    feed.events[0].kind = .started
    feed.order("2026-02-28", 11, until: "2026-03-07") { event, state in
      event.kind = .graceEntered
      event.price = Price(usd: Amount(micros: 10_900_000))
      state.isInBillingRetry = true
    }
    feed.order("2026-03-30", 11, until: "2026-03-07") { event, state in
      (event.kind, event.reason) = (.expired, .involuntary)
      (state.isOwned, state.isAutoRenewing) = (false, false)
    }
    for events in [feed.events, [feed.events[0], feed.events[2]]] {
      var story = feed
      story.events = events
      let facts = try story.facts(asOf: "2026-04-20")
      #expect(facts.days(.churnedInvoluntary).count == 1 && facts.count(.churned) == 1)
      #expect(facts.revenue.values.reduce(0) { $0 + $1.charges } == 1)
    }
  }

  @Test("The declined conversion of a trial is not a conversion")
  func trial() throws {
    var feed = started(.iaptic)
    feed.events[0].observation?.isTrial = true
    feed.order("2026-02-28T00:00:05", 11, until: "2026-02-28") { _, state in
      (state.isOwned, state.isInBillingRetry) = (false, true)
    }
    let facts = try feed.facts(asOf: "2026-06-20")
    #expect(facts.trials.values.map(\.expired) == [1] && facts.revenue.isEmpty)
  }

  @Test("An order that failed only after its paid period was charged")
  func paidBefore() throws {
    for isInRetry in [true, false] {
      var feed = started(.flobuk)
      feed.order("2026-03-31T00:00:05", 11, until: "2026-03-31") { _, state in
        (state.isOwned, state.isInBillingRetry) = (false, isInRetry)
      }
      #expect(try feed.facts(asOf: "2026-06-01").renewalOrdinals == [1], "\(isInRetry)")
    }
  }

  @Test("An order that ends within its period without a failed payment, or is dated, was charged")
  func revokedAt() throws {
    var feed = started(.flobuk)
    feed.order("2026-03-05", 11, until: "2026-03-05") { $1.isOwned = false }
    #expect(try feed.facts(asOf: "2026-06-01").renewalOrdinals == [1])
    var dated = started(.iaptic)
    dated.order("2026-02-28T12:00:00", 11, until: "2026-02-28T06:00:00") { _, state in
      (state.isOwned, state.lastChargedAt) = (false, at("2026-02-28"))
    }
    #expect(try dated.facts(asOf: "2026-06-01").renewalOrdinals == [1])
  }

  @Test("Order ids of other stores than Play are always charges")
  func otherStore() throws {
    var feed = started(.flobuk, store: .appStore)
    feed.order("2026-02-28T00:00:05", 11, until: "2026-02-28", in: .appStore) { _, state in
      (state.isOwned, state.isInBillingRetry) = (false, true)
    }
    #expect(try feed.facts(asOf: "2026-06-01").renewalOrdinals == [1])
  }
}

private extension StateFeed {
  /// Shows an order of the subscription that began with order 10.
  mutating func order(
    _ time: String, _ id: Int64, until end: String, in store: Store = .playStore,
    _ change: (inout Event, inout Observation) -> Void = { _, _ in }
  ) {
    show(time, id, until: end, of: 10) { event, state in
      event.store = store
      change(&event, &state)
    }
  }
}
