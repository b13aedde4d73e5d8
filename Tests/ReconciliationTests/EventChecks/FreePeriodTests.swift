import Domain
import Reconciliation
import Subscriptions
import Testing

@Suite("Time without a charge before a charge that arrived")
struct FreePeriodTests {
  private func breaks(
    _ story: Story, of provider: Provider = .qonversion, asOf: String = "2026-06-20"
  ) -> [Break] {
    Scenario(story, shown: nil, at: asOf, provider: provider).breaks
  }

  private func codes(_ story: Story, of provider: Provider = .qonversion) -> [String] {
    breaks(story, of: provider).map(\.code.rawValue)
  }

  @Test("If recoveries have their own event, a renewal after a failed payment proves a missing one")
  func recovered() {
    func story(_ kind: EventKind, _ time: String) -> Story {
      var story = Story.monthly(renewals: 1, counted: false)
      story.report(.graceEntered, "2026-03-01", transaction: 101)
      story.report(kind, time, until: "2026-06-10", transaction: 103)
      return story
    }
    let found = breaks(story(.renewed, "2026-05-10"), of: .purple)
    #expect(found.map(\.code) == [.missedRenewal])
    #expect(found.map(\.expectedAt) == [at("2026-04-10")])
    #expect(found.map(\.missingEvents) == [1])
    #expect(codes(story(.recovered, "2026-05-10"), of: .purple) == [])
    #expect(codes(story(.renewed, "2026-05-10"), of: .iaptic) == [])
  }

  @Test("A renewal after a recovery keeps the billing date")
  func renewedAfterRecovery() {
    var story = Story.monthly(renewals: 1, counted: false)
    story.report(.graceEntered, "2026-03-01", transaction: 101)
    story.report(.recovered, "2026-03-15", until: "2026-04-15", transaction: 102)
    story.report(.renewed, "2026-05-01", until: "2026-06-01", transaction: 104)
    #expect(breaks(story, of: .purple).map(\.missingEvents) == [1])
  }

  @Test("A counter on the first payment after a trial and a gap proves nothing missing")
  func countedAfterTrial() {
    for (kind, failed) in [(EventKind.trialConverted, true), (.started, false)] {
      var story = Story.trial
      if failed { story.report(.trialBillingRetry, "2026-01-08", until: "2026-01-08") }
      story.report(
        kind, "2026-01-20", until: "2026-02-20", transaction: 101, price: 10, count: 0)
      #expect(breaks(story, asOf: "2026-02-10").filter { $0.code.isCharge }.isEmpty)
    }
  }

  @Test("A refund of an older charge hides no free period, whether it has an amount or not")
  func olderRefund() {
    for price in [-10, nil] as [Int64?] {
      var story = Story.monthly(renewals: 2, counted: false)
      story.report(.refunded, "2026-03-10", transaction: 100, price: price)
      story.report(.renewed, "2026-05-01", until: "2026-06-01", transaction: 104, price: 10)
      #expect(codes(story, of: .iaptic) == ["MISSED_RENEWAL"])
    }
  }

  @Test("A recovery that a cancel names, followed by a renewal, is one loss")
  func namedRecovery() {
    func story(failed: Bool) -> Story {
      var story = Story.monthly(renewals: 1, counted: false)
      if failed { story.report(.graceEntered, "2026-03-01", transaction: 101) }
      story.report(.canceled, "2026-04-20", transaction: 102)
      story.report(.renewed, "2026-05-10", until: "2026-06-10", transaction: 103)
      return story
    }
    #expect(breaks(story(failed: true), of: .purple).map(\.missingEvents) == [1])
    #expect(breaks(story(failed: false), of: .purple).map(\.missingEvents) == [2])
  }

  @Test("A snapshot that lists the newest purchase of each product hides no free period")
  func newestListed() {
    var story = Story.monthly(renewals: 0)
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: nil)
    let other = bought(90, .started, "2025-12-10", until: "2026-01-01")
    let newest = bought(102, .renewed, "2026-03-01", until: "2026-04-01")
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-01", listing: [other, newest]), at: "2026-03-20",
      provider: .iaptic)
    #expect(scenario.codes.contains("MISSED_RENEWAL"))
  }

  @Test("If restarts have their own event, a renewal proves as many periods as are free before it")
  func several() {
    func story(_ kind: EventKind) -> Story {
      var story = Story.monthly(renewals: 1, counted: false)
      story.report(.canceled, "2026-02-20", transaction: 101)
      story.report(kind, "2026-05-01", until: "2026-06-01", transaction: 104)
      return story
    }
    let found = breaks(story(.renewed), of: .purple)
    #expect(found.map(\.code) == [.missedRenewal])
    #expect(found.map(\.expectedAt) == [at("2026-03-01")])
    #expect(found.map(\.missingEvents) == [2])
    #expect(codes(story(.resubscribed), of: .purple) == [])
  }

  @Test("A state one paid period after a trial proves the conversion")
  func converted() {
    func codes(_ time: String) -> [String] {
      var story = Story.trial
      story.report(.started, time, until: "2026-03-08", transaction: 102) {
        $0.observation = Observation()
      }
      return self.codes(story, of: .iaptic)
    }
    #expect(codes("2026-02-08T00:30:00") == ["MISSED_CONVERSION"])
    #expect(codes("2026-02-08T02:00:00") == [])
  }

  @Test("A renewal of a product that replaced another proves the replacing charge")
  func replaced() {
    func codes(_ time: String, isReplaced: Bool = true) -> [String] {
      var story = Story.monthly(renewals: 0, counted: false)
      story.report(.expired, "2026-02-01", until: "2026-02-01") {
        $0.observation = Observation()
        $0.observation?.isReplaced = isReplaced
      }
      story.report(.renewed, time, until: "2026-04-01", transaction: 102, product: Story.yearly)
      return self.codes(story, of: .iaptic)
    }
    #expect(codes("2026-03-01") == ["MISSED_RENEWAL"])
    #expect(codes("2026-03-01", isReplaced: false) == [])
  }

  @Test("A short period that starts early follows a billing retry, not a lost charge")
  func earlyWeek() {
    func codes(_ time: String) -> [String] {
      var story = Story()
      story.report(.started, "2026-01-01", until: "2026-01-08", price: 3, product: 3)
      story.report(.renewed, time, transaction: 102, price: 3, product: 3) {
        $0.periodEnd = $0.time + .days(7)
      }
      return self.codes(story, of: .iaptic)
    }
    #expect(codes("2026-01-15T00:00:00") == ["MISSED_RENEWAL"])
    #expect(codes("2026-01-14T12:00:00") == [])
  }

  @Test("A renewal after an expiry proves a start if restarts have their own kind or counter")
  func restart() {
    func codes(_ count: Int32?, of provider: Provider = .qonversion) -> [String] {
      var story = Story.monthly(renewals: 1, counted: count != nil)
      story.report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
      story.report(
        .renewed, "2026-06-01", until: "2026-07-01", transaction: 106, price: 10, count: count)
      return self.codes(story, of: provider)
    }
    #expect(codes(1).contains("MISSED_START"))
    #expect(codes(2) == [])
    #expect(codes(3) == ["MISSED_RENEWAL"])
    #expect(codes(nil) == [])
    #expect(codes(nil, of: .iaptic) == [])
    #expect(codes(nil, of: .purple) == ["MISSED_START"])
  }

  @Test("A first charge after a failed payment can be the collected one")
  func firstCollected() {
    func codes(failed: Bool) -> [String] {
      var story = Story()
      if failed {
        story.report(.billingRetry, "2026-03-05", until: "2026-03-05", transaction: 109)
      }
      story.report(
        .renewed, "2026-04-10", until: "2026-05-10", transaction: 110, price: 10, count: 10)
      return breaks(story, asOf: "2026-04-20").map(\.code.rawValue)
    }
    #expect(codes(failed: true) == [])
    #expect(codes(failed: false) == ["MISSED_RENEWAL"])
  }

  @Test("A refund that keeps access does not explain a period without a charge after it")
  func refunded() {
    func found(_ transaction: Int64, _ time: String, price: Int64?) -> [Instant?] {
      var story = Story.monthly(renewals: 4, without: [3], counted: false)
      story.report(.refunded, time, transaction: transaction, price: price)
      let found = breaks(story, asOf: "2026-05-20")
      return found.filter { $0.code == .missedRenewal }.map(\.expectedAt)
    }
    let lost = [at("2026-04-01")]
    #expect(found(102, "2026-03-10", price: -5) == lost)
    #expect(found(102, "2026-04-10", price: -10) == lost)
    #expect(found(101, "2026-03-10", price: -10) == lost)
    // The refund ended the period, or may have.
    #expect(found(102, "2026-03-10", price: -10) == [])
    #expect(found(102, "2026-03-10", price: nil) == [])
  }

  @Test("A renewal of a product to which no change came proves an upgrade of Apple's")
  func unannounced() {
    func found(_ time: String, in store: Store = .appStore, announced: Bool = false) -> [Instant?] {
      var story = Story.monthly(renewals: 0, counted: true)
      if announced {
        story.report(.productChanged, "2026-01-20", until: "2026-02-01", product: Story.yearly)
      }
      story.report(
        .renewed, time, until: "2026-03-20", transaction: 102, price: 20, count: 1,
        product: Story.yearly)
      for index in story.events.indices { story.events[index].store = store }
      return breaks(story).filter { $0.code == .missedRenewal }.map(\.expectedAt)
    }
    #expect(found("2026-02-20") == [at("2026-01-20")])
    #expect(found("2026-02-20", in: .playStore) == [])
    #expect(found("2026-02-01") == [])
    #expect(found("2026-02-20", announced: true) == [])
  }

  @Test("If restarts have their own event, a product change in a free period proves its renewal")
  func changed() {
    var story = Story.monthly(renewals: 1, counted: false)
    story.report(
      .upgraded, "2026-03-15", until: "2026-04-15", transaction: 103, price: 20,
      product: Story.yearly)
    let found = breaks(story, of: .purple, asOf: "2026-04-10")
    #expect(found.map(\.code) == [.missedRenewal])
    #expect(found.map(\.expectedAt) == [at("2026-03-01")])
  }

  @Test("A renewal lost before the announcement of another product was of the previous one")
  func announcedLater() {
    func product(_ announced: String) -> [String] {
      var story = Story.monthly(renewals: 0, counted: false)
      story.report(.downgraded, announced, transaction: 100, product: Story.yearly)
      story.report(
        .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 5,
        product: Story.yearly)
      return breaks(story, of: .purple, asOf: "2026-03-20").map(\.product)
    }
    #expect(product("2026-02-10") == ["com.example.monthly"])
    #expect(product("2026-01-10") == ["com.example.yearly"])
  }

  @Test("A renewal of a subscription that follows another one proves its start")
  func another() {
    func found(_ original: String) -> [Break] {
      var story = Story.monthly(renewals: 0, counted: false)
      story.original = original
      story.report(
        .renewed, "2026-03-02", until: "2026-04-02", transaction: 201, product: Story.yearly)
      story.original = "100"
      return breaks(story, of: .purple, asOf: "2026-03-20")
    }
    #expect(found("200").map(\.code) == [.missedStart])
    #expect(found("200").map(\.expectedAt) == [at("2026-02-02")])
    #expect(found("100").map(\.code) == [.missedRenewal])
    #expect(found("100").map(\.expectedAt) == [at("2026-02-01")])
  }

  @Test("Another order of Play's after a period without charge is a new start, not a renewal")
  func anotherOrder() {
    func codes(_ original: String, _ provider: Provider) -> [String] {
      var story = Story.monthly(renewals: 0, counted: false)
      story.original = original
      story.report(.resubscribed, "2026-03-01", until: "2026-04-01", transaction: 200) {
        $0.observation = Observation()
      }
      story.original = "100"
      for index in story.events.indices { story.events[index].store = .playStore }
      return self.codes(story, of: provider)
    }
    #expect(codes("200", .flobuk) == [])
    #expect(codes("100", .iaptic) == ["MISSED_RENEWAL"])
  }

  @Test("A snapshot of the time without a charge shows that none was paid")
  func shownFree() {
    func codes(_ active: Bool, until end: String, captured: String = "2026-02-20") -> [String] {
      Scenario(
        .monthly(renewals: 2, without: [1], counted: false),
        shown: premium(active: active, until: end, .billingIssue), at: captured, asOf: "2026-03-20"
      ).codes
    }
    #expect(codes(false, until: "2026-02-01") == ["MISSED_BILLING_ISSUE"])
    #expect(codes(true, until: "2026-03-01").contains("MISSED_RENEWAL"))
    // Within the gap the charge could still come.
    #expect(
      codes(false, until: "2026-02-01", captured: "2026-02-01T06:00:00").contains("MISSED_RENEWAL"))
  }
}
