import Testing
import Domain

@testable import Subscriptions

@Suite("The state of a lineage after its events")
struct LineageStateTests {
  private func history(_ story: Story, asOf: String = "2026-12-01") throws -> SubscriptionHistory {
    try story.history(asOf: asOf)
  }

  @Test("Reports give the end and renewal state of a period without a charge")
  func neverOpened() throws {
    var story = Story()
    story.report(.canceled, "2026-01-10", until: "2026-02-01")
    let state = try #require(try history(story).state)
    #expect(state.isSubscription && state.isAutoRenewOff && !state.isTrial)
    #expect(state.periodEnd == at("2026-02-01") && state.charges.isEmpty)
    #expect(state.expiredAt == nil)
  }

  @Test("A purchase that does not renew is not a subscription")
  func oneTime() throws {
    var story = Story()
    story.report(.purchased, "2026-01-10", price: "5")
    let state = try #require(try history(story).state)
    #expect(!state.isSubscription && state.periodEnd == nil)
  }

  @Test("A cancel of another transaction with a later end reveals a missing charge")
  func reportedEnd() throws {
    var story = Story.paid("2026-01-01", until: "2026-02-01")
    story.report(.canceled, "2026-02-10", until: "2026-03-01") {
      $0.transaction = 777
      $0.startsLineage = false
    }
    #expect(try history(story).state?.reportedEnd == at("2026-03-01"))
    story.events[1].transaction = story.events[0].transaction
    #expect(try history(story).state?.reportedEnd == nil)
  }

  @Test("A failed payment extends access until its grace ends, also if its charge is missing")
  func graceOfAnother() throws {
    var story = Story.paid("2026-01-01", until: "2026-02-01")
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01") {
      $0.transaction = 777
      $0.startsLineage = false
      $0.graceEnd = at("2026-03-17")
    }
    #expect(try history(story).state?.effectiveEnd == at("2026-03-17"))
    story.events[1].transaction = story.events[0].transaction
    #expect(try history(story).state?.effectiveEnd == at("2026-03-17"))
  }

  @Test("A downgrade applies from the next renewal; the product held stays the same")
  func announced() throws {
    var story = Story()
    story.report(.downgraded, "2026-01-10", until: "2026-02-01") {
      $0.previousProduct = Story.yearly
    }
    let state = try #require(try history(story).state)
    #expect(state.product == Story.yearly && state.scheduledProduct == Story.monthly)
  }

  @Test("A trial followed by a counted renewal has a loose end; one with its conversion does not")
  func looseEnds() throws {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08")
    story.report(.renewed, "2026-02-08", until: "2026-03-08", price: "10") { $0.renewalCount = 1 }
    #expect(try history(story).provesMissingEvent(since: Instant(milliseconds: .max)))
    story.events[1].renewalCount = nil
    story.events[1].kind = .trialConverted
    story.report(.canceled, "2026-03-01", until: "2026-03-08")
    #expect(try !history(story).provesMissingEvent(since: Instant(milliseconds: .max)))
  }

  @Test("An end is silent after gap and window if nothing reports what followed")
  func unansweredEnd() throws {
    var story = Story.paid("2026-01-01", until: "2026-02-01")
    func unansweredEnd(_ asOf: String, _ provider: Provider = .qonversion) throws -> Instant? {
      let events = story.events.map { event in
        var event = event
        event.provider = provider
        return event
      }
      return try SubscriptionHistory(events: events, rules: FoldSettings(asOf: at(asOf))).state?
        .unansweredEnd
    }
    #expect(try unansweredEnd("2026-02-03T02:59:59") == nil)
    #expect(try unansweredEnd("2026-02-03T03:00:00") == at("2026-02-01"))
    for provider in [Provider.flobuk, .iaptic, .purple] {
      #expect(try unansweredEnd("2026-03-01", provider) == nil)
    }
    for kind in [EventKind.canceled, .expired, .billingRetry, .paused, .refunded] {
      story.events = Array(story.events.prefix(1))
      story.report(kind, "2026-01-20", until: "2026-02-01")
      #expect(try unansweredEnd("2026-03-01") == nil, "\(kind)")
    }
  }

  @Test("A pause explains the end it lasts to, unless it was lifted before")
  func pauseBeforeEnd() throws {
    var story = Story.paid("2026-01-01", until: "2026-02-01")
    story.report(.paused, "2026-01-20", until: "2026-02-01")
    #expect(try !history(story).provesMissingEvent(since: Instant(milliseconds: .max)))
    story.report(.resumed, "2026-01-25", until: "2026-02-01")
    #expect(try history(story).state?.unansweredEnd == at("2026-02-01"))
    #expect(try history(story).provesMissingEvent(since: Instant(milliseconds: .max)))
    story.report(.paused, "2026-01-28", until: "2026-02-01")
    #expect(try history(story).state?.unansweredEnd == nil)
  }

  @Test("A cancel in the previous year explains an end, until an expiry closes the subscription")
  func commitment() throws {
    var story = Story()
    story.report(.renewed, "2026-01-01", until: "2026-02-01", price: "10")
    story.report(.canceled, "2026-01-05", until: "2026-02-01")
    story.report(.renewed, "2026-02-01", until: "2026-03-01", price: "10")
    #expect(try history(story).state?.unansweredEnd == nil)
    // A commitment that began then is not over.
    var begun = story
    begun.events[0].kind = .started
    #expect(try history(begun).state?.unansweredEnd == at("2026-03-01"))
    // Stores charge some seconds before the end.
    story.events[2].time = at("2026-02-28T23:59:50")
    story.events[2].periodStart = story.events[2].time
    story.events[2].periodEnd = at("2026-04-01")
    #expect(try history(story).state?.unansweredEnd == nil)
    story.events[2].periodEnd = at("2026-03-01")
    story.report(.expired, "2026-03-01", until: "2026-03-01")
    story.report(.started, "2026-03-10", until: "2026-04-10", price: "10")
    #expect(try history(story).state?.unansweredEnd == at("2026-04-10"))
  }

  @Test("A partial refund, or one of an older period, does not explain silence")
  func refundsOfOthers() throws {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: "10") { $0.transaction = 1 }
    story.report(.renewed, "2026-02-01", until: "2026-03-01", price: "10") { $0.transaction = 2 }
    let before = story.events
    for (transaction, price) in [(Int64(1), "-10"), (2, "-1")] {
      story.events = before
      story.report(.refunded, "2026-02-10", until: "2026-02-10", price: price) {
        $0.transaction = transaction
      }
      #expect(try history(story).state?.unansweredEnd == at("2026-03-01"))
    }
    story.events = before
    story.report(.refunded, "2026-02-10", until: "2026-02-10", price: "-10") { $0.transaction = 9 }
    #expect(try history(story).state?.unansweredEnd == nil)
  }

  @Test("Only a monthly plan renewed after its cancel can have a yearly commitment")
  func noCommitment() throws {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-01-08", price: "3")
    story.report(.canceled, "2026-01-05", until: "2026-01-08")
    story.report(.renewed, "2026-01-08", until: "2026-01-15", price: "3")
    #expect(try history(story).state?.unansweredEnd == at("2026-01-15"))
    story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: "10")
    story.report(.billingRetry, "2026-02-01", until: "2026-02-01")
    story.report(.canceled, "2026-02-20", until: "2026-02-01")
    story.report(.started, "2026-03-01", until: "2026-04-01", price: "10")
    #expect(try history(story).state?.unansweredEnd == at("2026-04-01"))
  }

  @Test("Ends that count as churn have the product held")
  func churned() throws {
    var story = Story.paid("2026-01-01", until: "2026-02-01")
    story.report(.started, "2026-02-10", until: "2027-02-10", price: "90") {
      $0.product = Story.yearly
    }
    let churned = try #require(try history(story).state).churned
    #expect(churned == [Churned(at: at("2026-02-01"), product: Story.monthly)])
    story.events.removeLast()
    story.report(.paused, "2026-01-20", until: "2026-02-01")
    #expect(try history(story).state?.churned == [])
  }
}
