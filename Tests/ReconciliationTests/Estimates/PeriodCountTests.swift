import Reconciliation
import Testing
import Domain

@Suite("The number of charges that an end proves")
struct PeriodCountTests {
  @Test(
    "A cancel after the end and grace in the snapshot prove an unreported failed payment")
  func gaveUp() {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-04-20", until: "2026-03-01", transaction: 101)
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2026-03-17", .canceled), at: "2026-05-20")
    #expect(scenario.codes == ["MISSED_BILLING_ISSUE"])
    #expect(scenario.breaks[0].expectedAt == at("2026-03-01"))
  }

  @Test("A failing payment of a missing period is one missing renewal, not its grace")
  func unseenPeriodFails() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-04-01", until: "2026-04-01", transaction: 102) {
      $0.graceEnd = at("2026-04-17")
    }
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-17", .billingIssue), at: "2026-04-10")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].missingEvents == 1)
  }

  @Test("Access during a failed payment is grace, which in Play may last a month in any period")
  func longGrace() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-31", .billingIssue), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_BILLING_ISSUE"])
    scenario.entitlements = [premium(until: "2026-04-16", .billingIssue)]
    #expect(scenario.codes == ["MISSED_BILLING_ISSUE", "MISSED_RENEWAL"])
    scenario.entitlements = [premium(until: "2026-04-17", .billingIssue)]
    scenario.capturedAt = "2026-04-10"
    let renewal = scenario.breaks.first { $0.code == .missedRenewal }
    #expect(renewal?.missingEvents == 1)
  }

  @Test("A store that gave up after the grace ended did not charge for that time")
  func graceGivenUp() {
    var story = Story.monthly(renewals: 1, counted: false)
    story.report(.billingRetry, "2026-03-01", transaction: 101)
    story.report(.endedInvoluntarily, "2026-04-05", transaction: 101)
    for end in ["2026-03-17", "2026-03-29"] {
      let shown = premium(active: false, until: end, .canceled, product: "com.example.monthly")
      #expect(Scenario(story, shown: shown, at: "2026-04-20", provider: .purple).codes == [])
    }
  }

  @Test("A purchase long after a trial expired is a new start")
  func afterExpiredTrial() {
    var story = Story.trial
    story.report(.trialCanceled, "2026-01-03", until: "2026-01-08")
    story.report(.trialExpired, "2026-01-08", until: "2026-01-08")
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-10", started: "2026-03-10"), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks[0].expectedAt == at("2026-03-10"))
  }

  @Test("A missing change to a shorter period is one break, whatever end is shown")
  func shorterPeriod() {
    var story = Story()
    story.report(
      .started, "2026-01-01", until: "2027-01-01", price: 90, product: Story.yearly)
    let scenario = Scenario(story, shown: premium(until: "2026-03-10"), at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
  }

  @Test("A missing upgrade is dated by the end it began, in any part of a period")
  func upgrade() {
    for day in ["05", "25"] {
      let scenario = Scenario(
        .monthly(renewals: 0), shown: premium(until: "2026-02-\(day)", product: "plus"),
        at: "2026-01-\(day)T12:00:00"
      ) {
        $0.products["plus"] = ["com.example.plus"]
        $0.lengths = ["com.example.plus": .months(1)]
      }
      #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
      #expect(scenario.breaks.first?.expectedAt == at("2026-01-\(day)"))
      #expect(scenario.breaks.first?.product == "com.example.plus")
      #expect(scenario.breaks.first?.status == .pending)
    }
  }

  @Test("Where charges share an id, a later end proves one that a snapshot lists by it")
  func sharedID() {
    func codes(_ store: Store) -> [String] {
      var story = Story.monthly(renewals: 0)
      story.events = story.events.map {
        var event = $0
        event.store = store
        return event
      }
      var shown = premium(
        until: "2026-03-01", listing: [bought(100, .unknown, "2026-02-01", until: "2026-03-01")])
      shown.store = store
      return Scenario(story, shown: shown, at: "2026-02-20", provider: .iaptic).codes
    }
    #expect(codes(.stripe) == ["MISSED_RENEWAL"])
    #expect(codes(.playStore) == ["EXPIRY_MISMATCH"])
  }

  @Test(
    "A change in the snapshot that a slightly later event reports is not missing")
  func reportedLater() {
    func codes(_ kind: EventKind, _ shown: Entitlement, by moment: String) -> [String] {
      var story = Story.monthly(renewals: 1)
      let isRenewal = kind == .renewed
      story.report(
        kind, moment, until: isRenewal ? "2026-04-01" : "2026-03-01",
        transaction: isRenewal ? 102 : 101, price: isRenewal ? 10 : nil)
      return Scenario(story, shown: shown, at: "2026-03-01T00:00:02", asOf: "2026-03-01T12:00:00")
        .codes
    }
    let later = "2026-03-01T00:00:05"
    #expect(codes(.renewed, premium(until: "2026-04-01"), by: later) == [])
    #expect(codes(.billingRetry, premium(until: "2026-03-17", .billingIssue), by: later) == [])
    let failing = premium(active: false, until: "2026-03-01", .billingIssue)
    #expect(codes(.billingRetry, failing, by: later) == [])
    #expect(codes(.canceled, premium(until: "2026-04-01", .canceled), by: later).count == 1)
  }

  @Test("After an announced change of product, an end counts periods of the configured length")
  func announced() {
    var story = Story.monthly(renewals: 0)
    story.report(.downgraded, "2026-01-20", until: "2026-02-01", product: 3)
    func missing(_ length: PeriodLength?) -> [Int64] {
      let shown = premium(until: "2026-02-22", product: "weekly")
      var scenario = Scenario(story, shown: shown, at: "2026-02-20")
      scenario.change = {
        allMapped(&$0)
        if let length { $0.lengths["com.example.weekly"] = length }
      }
      return scenario.breaks.map(\.missingEvents)
    }
    #expect(missing(.days(7)) == [3])
    #expect(missing(nil) == [1])
  }

  @Test("An offer's short period does not turn one lost charge into many")
  func shortOffer() {
    var story = Story()
    story.report(.started, "2026-05-01", until: "2026-05-08", price: 1)
    func missing(_ shown: Entitlement, _ length: PeriodLength? = nil) -> [Int64] {
      var scenario = Scenario(story, shown: shown, at: "2026-07-01")
      scenario.change = { if let length { $0.fold.periods[Story.monthly] = length } }
      return scenario.breaks.map(\.missingEvents)
    }
    // The year shown would end in weeks that have not begun yet.
    #expect(missing(premium(until: "2027-05-08")) == [1])
    #expect(missing(premium(until: "2026-07-08")) == [9])
    #expect(missing(premium(until: "2026-07-08", count: 2)) == [2])
    #expect(missing(premium(until: "2026-07-08"), .months(1)) == [2])
    #expect(missing(premium(until: "2027-05-08"), .months(12)) == [1])
  }

  @Test(
    "A purchase after a reported end is one start, whatever was reported since")
  func reportedEnd() {
    var lapsed = Story.monthly(renewals: 0)
    lapsed.reportEnd(canceled: "2026-01-20", until: "2026-02-01")
    lapsed.reportEnd(canceled: "2026-05-01", until: "2026-05-20", transaction: 102)
    var refunded = Story.monthly(renewals: 0)
    refunded.report(.refunded, "2026-01-10", price: 10)
    for (story, shown) in [
      (lapsed, premium(active: false, until: "2026-05-20", .canceled, started: "2026-01-01")),
      (refunded, premium(until: "2026-06-10")),
    ] {
      let found = Scenario(story, shown: shown, at: "2026-05-25").breaks
      #expect(found.map(\.code) == [.missedStart])
      #expect(found.map(\.missingEvents) == [1])
      // A month before the end shown.
      #expect(found.allSatisfy { ($0.expectedAt ?? at("2026-01-01")) > at("2026-04-18") })
    }
  }

  @Test("A renewal that was followed by its own expiry is not a new start")
  func expiredLater() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.canceled, "2026-02-10", transaction: 101)
    story.report(.expired, "2026-03-01", transaction: 101)
    let scenario = Scenario(
      story,
      shown: premium(active: false, until: "2026-03-01", product: "com.example.monthly", count: 1),
      at: "2026-03-20", provider: .purple)
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }

  @Test("After a billing retry, only the fewest fitting renewals are missing")
  func recovered() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    let scenario = Scenario(story, shown: premium(until: "2026-04-16"), at: "2026-04-10")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].missingEvents == 1)
  }

  @Test("A different product with a later end is a product change of unknown length")
  func otherProduct() {
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2027-02-10", product: "yearly"),
      at: "2026-04-10", change: allMapped)
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
    #expect(scenario.breaks[0].missingEvents == 1)
    #expect(scenario.breaks[0].product == "com.example.yearly")
  }

  @Test("An expiry can be missing together with a conversion; each loss is a break")
  func twoLosses() {
    var story = Story.trial
    story.report(.canceled, "2026-01-20", until: "2026-02-08", transaction: 101)
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2026-02-08", .canceled), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CONVERSION", "MISSED_EXPIRATION"])
  }

  @Test("A mapped product that fits no lineage was bought without an event")
  func missingStart() {
    var story = Story()
    story.original = "900"
    story.report(.purchased, "2026-01-05", transaction: 900, price: 5, product: 3)
    var scenario = Scenario(
      story, shown: premium(until: "2026-03-01", started: "2026-02-01"), at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_START"])
    scenario.entitlements = [premium(until: "2026-03-01", product: "other", started: "2026-02-01")]
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.unmatchedEntitlements] == 1)
  }

  @Test("A missing renewal is worth as much as the charge before it")
  func neighbour() {
    var story = Story()
    for (step, price) in [(0, 10), (1, 10), (3, 12)] as [(Int, Int64)] {
      story.report(
        step == 0 ? .started : .renewed, month(step + 1), until: month(step + 2),
        transaction: 100 + Int64(step), price: price, count: Int32(step))
    }
    let scenario = Scenario(story, shown: nil, at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].estimatedUSD == Amount(micros: 10_000_000))
  }
}
