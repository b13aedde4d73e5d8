import Testing
import Domain

@testable import Subscriptions

@Suite("Late reports about a previous period do not affect the current one")
struct PreviousPeriodTests {
  /// A monthly purchase in January and a yearly one from the 20th, whose end follows from its
  /// length.
  private func upgraded() -> Story {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.upgraded, "2026-01-20", until: "2026-01-20", price: "60") {
      $0.product = Story.yearly
    }
    return story
  }

  private let year: (inout FoldSettings) -> Void = { $0.periods = [Story.yearly: .months(12)] }

  @Test("The expiry of the former product does not end an upgrade")
  func expiryOfOldProduct() throws {
    var story = upgraded()
    story.report(.expired, "2026-02-10", until: "2026-02-10") { $0.transaction = 101 }
    #expect(try story.facts(asOf: "2026-06-01", year).count(.churned) == 0)
    // The expiry of the product itself does.
    story.events[2].transaction = 102
    #expect(try story.facts(asOf: "2026-06-01", year).days(.churned) == ["2026-02-10"])
  }

  @Test("A cancel of the former product does not switch off renewal after the change")
  func cancelOfOldProduct() throws {
    var story = upgraded()
    story.report(.canceled, "2026-01-20T00:00:20", until: "2026-02-10") { $0.transaction = 101 }
    #expect(try story.facts(asOf: "2026-02-01").count(.autoRenewOff, product: Story.yearly) == 0)
    let history = try story.history(asOf: "2026-02-01")
    #expect(history.state?.isAutoRenewOff == false)
    story.events[2].transaction = 102
    #expect(try story.facts(asOf: "2026-02-01").count(.autoRenewOff, product: Story.yearly) == 1)
  }

  @Test(
    "Reports about the previous charge neither end a renewal nor explain its end",
    arguments: [EventKind.expired, .billingRetry, .revoked])
  func afterRenewal(kind: EventKind) throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    story.report(kind, "2026-02-10T00:00:05", until: "2026-02-10T00:00:05") { $0.transaction = 101 }
    let history = try story.history(asOf: "2026-04-01")
    #expect(history.state?.unansweredEnd == at("2026-03-10"))
    let facts = try story.facts(asOf: "2026-04-01")
    #expect(facts.days(.churnedUnknown) == ["2026-03-10"] && facts.count(.churned) == 1)
    story.events[2].transaction = 102
    story.events[2].periodEnd = at("2026-03-10")
    let own = try story.history(asOf: "2026-04-01")
    #expect(own.state?.unansweredEnd == nil)
  }

  @Test(
    "An expiry of the previous charge without an end does not end a restart within the gap",
    arguments: [
      ("2026-02-09T02:05:00", 10, ["2026-03-11"]), ("2026-02-09T02:05:00", 11, ["2026-02-09"]),
      ("2026-02-20", 10, ["2026-02-20"]),
    ])
  func afterRestart(expired: String, transaction: Int64, churned: [String]) throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    feed.report(.resubscribed, "2026-02-09T02:00:00") { $0.transaction = 11 }
    feed.report(.expired, expired) { $0.transaction = transaction }
    let facts = try feed.facts(asOf: "2026-06-01") { $0.periods = [StateFeed.monthly: .days(30)] }
    #expect(facts.days(.churned) == churned)
  }

  @Test("Failed payments and cancels of a trial do not affect its conversion")
  func afterConversion() throws {
    var story = Story()
    story.report(.trialStarted, "2026-01-03", until: "2026-01-10")
    story.report(.trialConverted, "2026-01-10", until: "2026-02-10", price: "10")
    story.report(.trialCanceled, "2026-01-10T00:20:00") { $0.transaction = 101 }
    story.report(.trialBillingRetry, "2026-01-10T01:00:00") { $0.transaction = 101 }
    #expect(try story.facts(asOf: "2026-02-01").count(.autoRenewOff) == 0)
    story.report(.canceled, "2026-01-20", until: "2026-02-10")
    #expect(try story.facts(asOf: "2026-03-01").days(.churnedVoluntary) == ["2026-02-10"])
  }

  @Test("A period never starts before the previous one, whatever date that one's charge has")
  func datedLater() throws {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: "10") {
      $0.periodStart = at("2026-02-10")
    }
    story.report(.upgraded, "2026-01-08", until: "2027-01-08", price: "90") {
      $0.product = Story.yearly
    }
    let history = try story.history(asOf: "2026-04-01")
    #expect(history.periods.map(\.start) == [at("2026-02-10"), at("2026-02-10")])
  }

  @Test("A cancel of a missing charge proves the charge, and leaves no silence before it")
  func cancelOfUnseen() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.canceled, "2026-02-20", until: "2026-03-10") {
      $0.transaction = 555
      $0.startsLineage = false
    }
    let history = try story.history(asOf: "2026-04-01")
    #expect(history.state?.unansweredEnd == nil)
    #expect(history.state?.unseenPeriods.map(\.transaction) == [555])
    #expect(history.state?.unseenPeriods.map(\.previousEnd) == [at("2026-02-10")])
  }

  @Test("The refund of an older missing charge does not explain silence; that of a newer one may")
  func refundOfUnseen() throws {
    func unansweredEnd(charged: String) throws -> Instant? {
      var story = Story.paid("2026-01-10", until: "2026-02-10")
      story.report(.refunded, "2026-01-20", price: "10") {
        $0.transaction = 55
        $0.periodStart = at(charged)
      }
      let history = try story.history(asOf: "2026-04-01")
      return history.state?.unansweredEnd
    }
    #expect(try unansweredEnd(charged: "2025-11-10") == at("2026-02-10"))
    #expect(try unansweredEnd(charged: "2026-01-15") == nil)
  }
}
