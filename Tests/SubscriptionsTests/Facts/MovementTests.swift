import Testing
import Domain

@testable import Subscriptions

@Suite struct MovementTests {
  private let subscriber = Story.paid("2026-01-10", until: "2026-02-10")

  @Test("An end becomes churn after gap and delivery window, dated at the end")
  func churnIsRecognisedLate() throws {
    let story = subscriber
    #expect(try story.facts(asOf: "2026-02-12T02:59:59").count(.churned) == 0)
    let facts = try story.facts(asOf: "2026-02-12T03:00:00")
    #expect(facts.days(.churned) == ["2026-02-10"])
    #expect(facts.count(.churnedUnknown) == 1)
    #expect(facts.count(.lost) == 1)
  }

  @Test("A charge within the renewal gap is not a lapse, even after an expiry")
  func gapIsBridged() throws {
    var story = subscriber
    story.report(.expired, "2026-02-10")
    story.report(.renewed, "2026-02-11", until: "2026-03-11", price: "10")
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.count(.churned) == 0)
    #expect(facts.count(.new) == 1)
  }

  @Test("A charge one second after the gap is a lapse and a reactivation")
  func lapse() throws {
    var story = subscriber
    story.report(.renewed, "2026-02-11T00:00:01", until: "2026-03-11", price: "10")
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.days(.churned) == ["2026-02-10"])
    #expect(facts.days(.reactivated) == ["2026-02-11"])
    #expect(facts.count(.lost) == 0)
  }

  @Test("A payment from billing retry within the horizon is a recovery")
  func recovery() throws {
    var story = subscriber
    story.report(.billingRetry, "2026-02-10T00:05:00", until: "2026-02-10")
    story.report(.renewed, "2026-03-05", until: "2026-04-05", price: "10")
    let facts = try story.facts(asOf: "2026-03-20")
    #expect(facts.count(.churnedInvoluntary, in: "2026-02") == 1)
    #expect(facts.count(.recovered, in: "2026-03") == 1)
    #expect(facts.count(.lost, in: "2026-02") == 1)
  }

  @Test("A payment after the store gave up or after the horizon is a reactivation")
  func noRecovery() throws {
    var gaveUp = subscriber
    gaveUp.report(.billingRetry, "2026-02-10T00:05:00")
    gaveUp.report(.canceled, "2026-02-26")
    gaveUp.report(.renewed, "2026-03-05", until: "2026-04-05", price: "10")
    #expect(try gaveUp.facts(asOf: "2026-03-20").count(.reactivated) == 1)
    var late = subscriber
    late.report(.billingRetry, "2026-02-10T00:05:00")
    late.report(.renewed, "2026-04-12", until: "2026-05-12", price: "10")
    #expect(try late.facts(asOf: "2026-04-20").count(.reactivated) == 1)
  }

  @Test("A recovery that did not arrive leaves the churn of the failed payment")
  func unseenRecovery() throws {
    var story = subscriber
    story.report(.billingRetry, "2026-02-10T00:05:00", until: "2026-02-10")
    story.report(.canceled, "2026-04-01", until: "2026-04-05") {
      ($0.transaction, $0.periodStart) = (777, at("2026-03-05"))
    }
    let facts = try story.facts(asOf: "2026-05-20")
    #expect(facts.days(.churnedInvoluntary) == ["2026-02-10"])
  }

  @Test("A refund after the end of its period ends nothing, even if a later charge did not arrive")
  func lateRefund() throws {
    var story = subscriber
    story.report(.refunded, "2026-02-15", until: "2026-02-15", price: "10")
    story.report(.canceled, "2026-04-01", until: "2026-04-10") {
      ($0.transaction, $0.periodStart) = (777, at("2026-03-10"))
    }
    let facts = try story.facts(asOf: "2026-05-20")
    #expect(facts.count(.churnedRefund) == 0 && facts.count(.churned) == 1)
  }

  @Test("A subscription in grace is active, and its end is involuntary")
  func grace() throws {
    var story = subscriber
    story.report(.billingRetry, "2026-02-10T00:05:00") { $0.graceEnd = at("2026-02-26") }
    let facts = try story.facts(asOf: "2026-03-20")
    #expect(facts.days(.churnedInvoluntary) == ["2026-02-26"])
  }

  @Test("A cancel before the end is voluntary, and auto-renew is off until the end")
  func voluntary() throws {
    var story = subscriber
    story.report(.canceled, "2026-01-20")
    let facts = try story.facts(asOf: "2026-03-20")
    #expect(facts.count(.churnedVoluntary, in: "2026-02") == 1)
    #expect(facts.count(.autoRenewOff, in: "2026-01") == 1)
    #expect(facts.count(.autoRenewOff, in: "2026-02") == -1)
  }

  @Test("A commitment that renews after a cancel stays active, with auto-renew on")
  func commitment() throws {
    var story = subscriber
    story.report(.canceled, "2026-01-20")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    let facts = try story.facts(asOf: "2026-02-20")
    #expect(facts.count(.churned) == 0)
    #expect(facts.count(.autoRenewOff) == 0)
  }

  @Test("A pause lifted before it began does not count; one that began is resumed by a charge")
  func liftedPause() throws {
    var story = subscriber
    story.report(.paused, "2026-01-20")
    #expect(try story.facts(asOf: "2026-03-20").days(.paused) == ["2026-02-10"])
    story.report(.resumed, "2026-01-25")
    let lifted = try story.facts(asOf: "2026-03-20")
    #expect(lifted.count(.paused) == 0 && lifted.days(.churnedUnknown) == ["2026-02-10"])
    story.events[2].time = at("2026-03-10")
    story.report(.renewed, "2026-03-10", until: "2026-04-10", price: "10")
    let resumed = try story.facts(asOf: "2026-03-20")
    #expect(resumed.days(.paused) == ["2026-02-10"] && resumed.days(.resumed) == ["2026-03-10"])
  }

  @Test("An expiry within the gap ends the period; a later one ends a pause, whose month stays")
  func expiredPause() throws {
    var story = subscriber
    story.report(.paused, "2026-02-10")
    story.report(.expired, "2026-02-10T12:00:00")
    #expect(try story.facts(asOf: "2026-05-20").days(.churned) == ["2026-02-10"])
    story.events[2].time = at("2026-04-10")
    story.report(.renewed, "2026-05-10", until: "2026-06-10", price: "10")
    let facts = try story.facts(asOf: "2026-05-20")
    #expect(facts.days(.paused) == ["2026-02-10"] && facts.days(.reactivated) == ["2026-05-10"])
  }

  @Test("A refund of a period that was over when paused is only money")
  func refundInPause() throws {
    var story = subscriber
    story.report(.paused, "2026-02-01")
    story.report(.refunded, "2026-02-20", price: "10")
    story.report(.renewed, "2026-03-03", until: "2026-04-03", price: "10")
    let facts = try story.facts(asOf: "2026-03-20")
    #expect(facts.days(.paused) == ["2026-02-10"] && facts.days(.resumed) == ["2026-03-03"])
    #expect(facts.count(.churned) == 0 && facts.count(.reactivated) == 0)
  }

  @Test("A whole refund of the current period ends it at once, whatever the gap")
  func wholeRefund() throws {
    var story = subscriber
    story.report(.refunded, "2026-01-15", price: "10")
    story.report(.started, "2026-01-15T12:00:00", until: "2026-02-15", price: "10")
    let facts = try story.facts(asOf: "2026-02-01")
    #expect(facts.days(.churnedRefund) == ["2026-01-15"])
    #expect(facts.days(.reactivated) == ["2026-01-15"])
    #expect(facts.total(\.refundsUSD) == "10.00")
  }

  @Test("A partial refund, or one of an older period, is only money")
  func refundsWithoutChurn() throws {
    var partial = subscriber
    partial.report(.refunded, "2026-01-15", price: "4")
    #expect(try partial.facts(asOf: "2026-02-01").count(.churned) == 0)
    var older = subscriber
    older.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    older.report(.refunded, "2026-02-12", price: "10") { $0.transaction = 101 }
    #expect(try older.facts(asOf: "2026-02-20").count(.churned) == 0)
  }

  @Test("A cancel between a renewal's date and its message belongs to the new period")
  func cancelBeforeMessage() throws {
    var story = subscriber
    story.report(.canceled, "2026-02-10T05:00:00") { $0.transaction = 102 }
    story.report(.renewed, "2026-02-10T10:00:00", until: "2026-03-10", price: "10") {
      $0.periodStart = at("2026-02-10")
    }
    #expect(try story.facts(asOf: "2026-02-20").count(.autoRenewOff) == 1)
    #expect(try story.facts(asOf: "2026-04-01").count(.churnedVoluntary) == 1)
    story.events[1].transaction = 101
    #expect(try story.facts(asOf: "2026-04-01").count(.churnedUnknown) == 1)
  }

  @Test("An expiry with a voluntary reason is voluntary")
  func reportedVoluntary() throws {
    var story = subscriber
    story.report(.expired, "2026-02-10") { $0.reason = .voluntary }
    #expect(try story.facts(asOf: "2026-04-01").count(.churnedVoluntary) == 1)
    story.events[1].reason = .developer
    #expect(try story.facts(asOf: "2026-04-01").count(.churnedDeveloper) == 1)
  }

  @Test("The reason of a cancel withdrawn before the end does not count")
  func withdrawnReason() throws {
    for reason in [ChurnReason.priceIncrease, .developer, .voluntary] {
      var story = subscriber
      story.report(.canceled, "2026-01-20") { $0.reason = reason }
      story.report(.uncanceled, "2026-01-25")
      #expect(try story.facts(asOf: "2026-04-01").count(.churnedUnknown) == 1)
      story.report(.canceled, "2026-01-30") { $0.reason = .priceIncrease }
      #expect(try story.facts(asOf: "2026-04-01").count(.churnedPriceIncrease) == 1)
    }
    var late = subscriber
    late.report(.canceled, "2026-01-20") { $0.reason = .priceIncrease }
    late.report(.uncanceled, "2026-02-11")
    #expect(try late.facts(asOf: "2026-04-01").count(.churnedPriceIncrease) == 1)
  }

  @Test(
    "A first paid period after a proven one is first seen; a conversion is new")
  func firstSeen() throws {
    var renewal = Story()
    renewal.report(.renewed, "2026-01-10", until: "2026-02-10", price: "10")
    #expect(try renewal.facts(asOf: "2026-01-20").count(.firstSeen) == 1)
    var foreign = Story()
    foreign.report(.started, "2026-01-10", until: "2026-02-10", price: "10") {
      $0.startsLineage = false
    }
    #expect(try foreign.facts(asOf: "2026-01-20").count(.firstSeen) == 1)
    var conversion = Story()
    conversion.report(.trialConverted, "2026-01-10", until: "2026-02-10", price: "10") {
      $0.startsLineage = false
    }
    #expect(try conversion.facts(asOf: "2026-01-20").count(.new) == 1)
  }

  @Test("A counted start after a trial is first seen, unless it converts the trial")
  func countedAfterTrial() throws {
    func opening(_ start: String, counter: Int32?) throws -> [String: Int64] {
      var story = Story()
      story.report(.trialStarted, "2026-01-03", until: "2026-01-10")
      story.report(.started, start, until: "2026-07-10", price: "10") { $0.renewalCount = counter }
      let facts = try story.facts(asOf: "2026-06-20")
      return ["new": facts.count(.new), "first_seen": facts.count(.firstSeen)]
    }
    #expect(try opening("2026-06-10", counter: 3) == ["new": 0, "first_seen": 1])
    for counter in [nil, 0] as [Int32?] {
      #expect(try opening("2026-06-10", counter: counter) == ["new": 1, "first_seen": 0])
    }
    #expect(try opening("2026-01-10", counter: 1) == ["new": 1, "first_seen": 0])
  }

  @Test("A product change moves the lineage between rows once, with the end from the body")
  func upgrade() throws {
    var story = subscriber
    story.report(.upgraded, "2026-01-20", until: "2026-01-20", price: "100") {
      toYearly(&$0)
      $0.entitledUntil = at("2027-01-20")
    }
    let facts = try story.facts(asOf: "2026-06-01")
    #expect(facts.count(.transferOut, product: Story.monthly) == 1)
    #expect(facts.count(.transferIn, product: Story.yearly) == 1)
    #expect(facts.count(.churned) == 0)
  }

  @Test("A negative product change refunds the old product and is never churn")
  func refundedRemainder() throws {
    var story = subscriber
    story.report(.upgraded, "2026-01-20", until: "2026-01-20") {
      toYearly(&$0)
      $0.revenue = Revenue(usd: Amount(micros: -6_000_000), currency: 9, isProceed: false)
    }
    let facts = try story.facts(asOf: "2026-02-01")
    let refund = facts.revenue.first { $0.value.refunds == 1 }
    #expect(refund?.key.productKey.product == Story.monthly)
    #expect(refund?.value.refundsUSD.sum == usd("6"))
    #expect(facts.count(.churned) == 0)
  }

  @Test("In a stale feed, an end after the watermark's limit is not churn")
  func stale() throws {
    let story = subscriber
    let facts = try story.facts(asOf: "2026-03-20") {
      let feed = Feed(provider: .qonversion, app: 0)
      $0.watermarks = [feed: Watermark(of: feed, newest: at("2026-02-11"), begin: at("2025-01-01"))]
    }
    #expect(facts.count(.churned) == 0)
  }

  @Test("Any order of arrival gives the same subscription")
  func orderFree() throws {
    var story = subscriber
    story.report(.canceled, "2026-01-20")
    story.report(.expired, "2026-02-10")
    story.report(.started, "2026-02-10", until: "2026-03-10", price: "10")
    story.report(.refunded, "2026-02-12", price: "10")
    let facts = try story.facts(asOf: "2026-06-01")
    for turn in 0..<20 {
      story.events.swapAt(turn % story.events.count, (turn * 3 + 1) % story.events.count)
      #expect(try story.facts(asOf: "2026-06-01") == facts)
    }
  }
}
