import Testing
import Domain

@testable import Subscriptions

@Suite("Changes that states prove, besides charges")
struct StateChangesTests {
  private func feed(
    _ time: String = "2026-02-10T00:00:05", _ change: (inout Event, inout Observation) -> Void
  ) -> StateFeed {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show(time, 10, until: "2026-02-10", change)
    return feed
  }

  @Test("Auto-renew switched off is a cancel, at its own date if sent; switching on withdraws it")
  func cancel() throws {
    var story = feed("2026-01-20") { _, state in state.isAutoRenewing = false }
    #expect(try story.history() == ["started 2026-01-10", "canceled 2026-01-20"])
    #expect(try story.facts(asOf: "2026-03-01").count(.churnedVoluntary) == 1)
    story.events[1].observation?.autoRenewChangedAt = at("2026-01-15")
    #expect(try story.history() == ["started 2026-01-10", "canceled 2026-01-15"])
    story.show("2026-01-25", 10, until: "2026-02-10")
    #expect(try story.history().last == "uncanceled 2026-01-25")
    #expect(try story.facts(asOf: "2026-03-01").count(.churnedUnknown) == 1)
  }

  @Test("A state with auto-renew off gives the reason of the end, until it is on again")
  func reasonOfCancel() throws {
    for (reason, column) in [
      (ChurnReason.developer, Movement.churnedDeveloper),
      (.priceIncrease, .churnedPriceIncrease), (.voluntary, .churnedVoluntary),
    ] {
      var story = feed("2026-01-20") { event, state in
        state.isAutoRenewing = false
        event.reason = reason
      }
      #expect(try story.facts(asOf: "2026-03-01").count(column) == 1)
      story.show("2026-01-25", 10, until: "2026-02-10")
      #expect(try story.facts(asOf: "2026-03-01").count(.churnedUnknown) == 1)
    }
  }

  @Test("Auto-renew seen off only after the end gives no reason for it")
  func offAtTheEnd() throws {
    var story = feed { _, state in
      state.isAutoRenewing = false
      state.isOwned = false
    }
    #expect(try story.facts(asOf: "2026-03-01").count(.churnedUnknown) == 1)
    story.events[1].observation?.autoRenewChangedAt = at("2026-02-09")
    #expect(try story.facts(asOf: "2026-03-01").count(.churnedVoluntary) == 1)
  }

  @Test("A failed payment makes the end involuntary, and a later charge a recovery")
  func retry() throws {
    var story = feed { _, state in
      state.isInBillingRetry = true
      state.isOwned = false
    }
    #expect(try story.history() == ["started 2026-01-10", "billing_retry 2026-02-10T00:00:05"])
    #expect(try story.facts(asOf: "2026-03-01").days(.churnedInvoluntary) == ["2026-02-10"])
    story.show("2026-02-20", 11, until: "2026-03-20")
    #expect(try story.history().last == "renewed 2026-02-20")
    #expect(try story.facts(asOf: "2026-03-01").count(.recovered) == 1)
    story.show("2026-02-15", 10, until: "2026-02-10") { _, state in state.isOwned = false }
    #expect(try story.history().last == "resubscribed 2026-02-20")
    #expect(try story.facts(asOf: "2026-03-01").count(.reactivated) == 1)
  }

  @Test("A notice of a failed payment after the recovery does not replace the state before it")
  func lateNotice() throws {
    var story = feed { _, state in state.isInBillingRetry = true }
    story.show("2026-02-20", 11, until: "2026-03-20")
    story.report(.expired, "2026-02-25", of: 10) { $0.reason = .involuntary }
    #expect(try story.history().contains("billing_retry 2026-02-10T00:00:05"))
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.count(.churnedInvoluntary) == 1 && facts.count(.recovered) == 1)
  }

  @Test("Auto-renew switched off in billing retry means the store gave up")
  func givenUp() throws {
    var story = feed { _, state in state.isInBillingRetry = true }
    story.show("2026-02-25", 10, until: "2026-02-10") { _, state in
      state.isInBillingRetry = true
      state.isOwned = false
      state.isAutoRenewing = false
    }
    story.show("2026-03-01", 11, until: "2026-04-01")
    #expect(
      try story.history() == [
        "started 2026-01-10", "billing_retry 2026-02-10T00:00:05", "canceled 2026-02-25",
        "resubscribed 2026-03-01",
      ])
    #expect(try story.facts(asOf: "2026-03-10").count(.reactivated) == 1)
  }

  @Test("An expiry for a failed payment means the store gave up, with or without retry")
  func givenUpAtOnce() throws {
    for retry in [nil, "2026-02-10", "2026-02-10T00:00:01"] {
      var story = StateFeed(.iaptic)
      story.report(.started, "2026-01-10") { $0.periodEnd = at("2026-02-10") }
      if let retry { story.report(.graceEntered, retry) { $0.periodEnd = at("2026-02-10") } }
      story.report(.expired, "2026-02-10T00:00:01") {
        $0.periodEnd = at("2026-02-10")
        $0.reason = .involuntary
      }
      story.report(.renewed, "2026-02-16") {
        $0.transaction = 11
        $0.periodEnd = at("2026-03-16")
      }
      let facts = try story.facts(asOf: "2026-03-01")
      #expect(facts.days(.churnedInvoluntary) == ["2026-02-10"])
      #expect(facts.days(.reactivated) == ["2026-02-16"] && facts.count(.recovered) == 0)
    }
  }

  @Test("Access that ends with the period is an expiry; access that ends earlier is revoked")
  func ends() throws {
    let expired = feed { _, state in state.isOwned = false }
    #expect(try expired.history() == ["started 2026-01-10", "expired 2026-02-10"])
    #expect(try expired.facts(asOf: "2026-03-01").days(.churnedUnknown) == ["2026-02-10"])
    let revoked = feed("2026-01-20") { _, state in state.isOwned = false }
    #expect(try revoked.history() == ["started 2026-01-10", "revoked 2026-01-20"])
    #expect(try revoked.facts(asOf: "2026-03-01").days(.churnedRefund) == ["2026-01-20"])
    let early = feed("2026-02-09T12:00:00") { _, state in state.isOwned = false }
    #expect(try early.facts(asOf: "2026-03-01").days(.churnedUnknown) == ["2026-02-10"])
  }

  @Test("Access that returns within the period never ended; gone again, it ended then")
  func accessBack() throws {
    var story = feed("2026-01-20") { _, state in state.isOwned = false }
    story.show("2026-01-25", 10, until: "2026-02-10")
    #expect(try story.facts(asOf: "2026-01-24").days(.churnedRefund) == ["2026-01-20"])
    #expect(try story.history() == ["started 2026-01-10"])
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.days(.churnedUnknown) == ["2026-02-10"] && facts.count(.churnedRefund) == 0)
    story.show("2026-01-30", 10, until: "2026-02-10") { _, state in state.isOwned = false }
    #expect(try story.history() == ["started 2026-01-10", "revoked 2026-01-30"])
    story.events[2].time = at("2026-02-10")
    #expect(try story.history() == ["started 2026-01-10", "revoked 2026-01-20"])
  }

  @Test("A later end of the same transaction is an extension")
  func extended() throws {
    let story = feed("2026-01-20") { event, _ in event.periodEnd = at("2026-02-20") }
    #expect(try story.history() == ["started 2026-01-10", "extended 2026-01-20"])
    #expect(try story.facts(asOf: "2026-03-01").days(.churned) == ["2026-02-20"])
  }

  @Test(
    "A reported cancel or expiry is not derived again, and does not replace the other")
  func reportedBeats() throws {
    var story = StateFeed(.iaptic)
    story.show("2026-01-10", 10, until: "2026-02-10")
    for kind in [EventKind.canceled, .expired] {
      story.show(kind == .expired ? "2026-02-10T00:00:09" : "2026-01-20", 10, until: "2026-02-10") {
        $1.isAutoRenewing = false
        $1.isOwned = kind == .expired ? false : true
      }
      story.events[story.events.count - 1].kind = kind
    }
    let reported = ["started 2026-01-10", "canceled 2026-01-20", "expired 2026-02-10T00:00:09"]
    #expect(try story.history() == reported)
    story.events[1].kind = .observed
    #expect(try story.history() == reported)
    story.events.remove(at: 1)
    #expect(try story.history().map { $0.prefix(8) } == ["started ", "expired ", "canceled"])
  }

  @Test("A purchase missing from a later collection during its period is revoked")
  func vanished() throws {
    var story = StateFeed(.iaptic)
    story.show("2026-01-10", 10, until: "2026-02-10") { event, _ in event.collection = 100 }
    story.report(.observed, "2026-01-20", of: 99) {
      $0.collection = 101
      $0.product = 0
      $0.transaction = 0
      $0.store = .unknown
    }
    #expect(try story.history() == ["started 2026-01-10", "revoked 2026-01-20"])
    story.events[1].time = at("2026-02-10")
    #expect(try story.history() == ["started 2026-01-10"])
    story.events[1].time = at("2026-01-20")
    story.show("2026-01-25", 10, until: "2026-02-10") { event, _ in event.collection = 102 }
    #expect(try story.history() == ["started 2026-01-10"])
  }
}

extension StateChangesTests {
  /// A Play order that ended on 20 January, and a later one for `product`.
  private func followed(
    by product: StringID, at time: String, _ provider: Provider = .flobuk,
    in store: Store = .playStore
  ) -> StateFeed {
    var story = StateFeed(provider)
    story.show("2026-01-10", 10, until: "2026-02-10")
    story.show(time, 20, until: "2027-01-20") { event, _ in event.product = product }
    story.show("2026-01-20T00:00:06", 10, until: "2026-01-20") { _, state in
      (state.isOwned, state.isAutoRenewing) = (false, false)
    }
    for index in story.events.indices { story.events[index].store = store }
    return story
  }

  @Test("A Play order that another replaced is not revoked")
  func replaced() throws {
    for isGroup in [true, false] {
      var story = followed(by: StateFeed.yearly, at: "2026-01-20T00:00:03")
      if isGroup {
        for index in story.events.indices { story.events[index].observation?.group = 5 }
      }
      let facts = try story.facts(asOf: "2026-03-01")
      #expect(facts.count(.churned) == 0 && facts.charges(.productChange) == 1)
      #expect(facts.days(.transferOut) == ["2026-01-20"], "\(isGroup)")
    }
    let anew = try followed(by: StateFeed.monthly, at: "2026-01-20T00:00:03")
      .facts(asOf: "2026-03-01")
    #expect(anew.count(.churned) == 0 && anew.renewalOrdinals == [1])
  }

  @Test("Without another order within the gap, or in another store, an order is revoked")
  func revokedAt() throws {
    for story in [
      followed(by: StateFeed.yearly, at: "2026-01-21T00:00:01"),
      followed(by: StateFeed.yearly, at: "2026-01-20T00:00:03", in: .appStore),
      followed(by: StateFeed.yearly, at: "2026-01-20T00:00:03", .iaptic),
    ] {
      let facts = try story.facts(asOf: "2026-03-01")
      #expect(facts.days(.churnedRefund) == ["2026-01-20"])
      #expect(facts.days(.reactivated) == [String(text(story.events[1].time).prefix(10))])
    }
  }
}
