import Reconciliation
import Testing
import Domain

@Suite("Whether both sides agree that a subscription continues")
struct RenewalStateCheckTests {
  private var canceled: Story {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101)
    return story
  }

  @Test("A cancellation in the snapshot needs a cancel event")
  func cancel() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01", .canceled), at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
    #expect(scenario.breaks[0].missingEvents == 1)
    #expect(scenario.breaks[0].estimatedUSD == .zero)
    scenario.stories = [canceled]
    #expect(scenario.codes == [])
  }

  @Test("A break of the last period keeps its id when an older charge arrives late")
  func late() {
    for shown in [premium(until: "2026-04-01", .canceled), premium(until: "2026-04-03")] {
      var scenario = Scenario(.monthly(renewals: 2, without: [1]), shown: shown, at: "2026-03-20")
      let before = scenario.breaks.filter { $0.code != .missedRenewal }
      scenario.stories = [.monthly(renewals: 2)]
      #expect(before.count == 1)
      #expect(scenario.breaks.map(\.id) == before.map(\.id))
      // The same loss in the next period is another break.
      var next = shown
      next.expiresAt = shown.expiresAt.map { $0 + .days(30) }
      scenario.stories = [.monthly(renewals: 3)]
      scenario.entitlements = [next]
      scenario.capturedAt = "2026-04-20"
      #expect(scenario.breaks.count == 1)
      #expect(scenario.breaks.first?.id != before.first?.id)
    }
  }

  @Test("A cancel after the feed began is missing once per subscription, even without events")
  func untold() {
    var shown = premium(
      active: false, until: "2025-11-01", .canceled,
      listing: [
        bought(100, .started, "2025-10-01", until: "2025-11-01")
      ])
    func codes(_ canceledAt: String) -> [String] {
      shown.autoRenewOffAt = at(canceledAt)
      var second = shown
      second.id = "plus"
      return Scenario(entitlements: [shown, second], capturedAt: "2026-02-20").codes
    }
    #expect(codes("2025-12-20") == ["MISSED_CANCEL"])
    #expect(codes("2025-11-20") == [])
    #expect(codes("2025-10-20") == [])
    shown.transactions[0].revokedAt = at("2025-12-20")
    #expect(codes("2025-12-20").contains("MISSED_CANCEL") == false)
  }

  @Test("A cancel that was noticed after the snapshot is not missing, one of a later period is")
  func noticedLater() {
    var shown = premium(
      until: "2026-03-01", .canceled, listing: [bought(100, .started, "2025-10-01")])
    shown.autoRenewOffAt = at("2026-02-10")
    func codes(_ change: (inout Story) -> Void) -> [String] {
      var story = Story()
      change(&story)
      return Scenario(story, shown: shown, at: "2026-02-20", asOf: "2026-03-20").codes
    }
    #expect(codes { $0.report(.canceled, "2026-02-21", until: "2026-03-01") } == [])
    let renewed = codes {
      $0.report(.renewed, "2026-03-01", until: "2026-04-01", transaction: 101, price: 10)
      $0.report(.canceled, "2026-03-05", until: "2026-04-01", transaction: 101)
    }
    #expect(renewed.contains("MISSED_CANCEL"))
  }

  @Test(
    "Auto-renew switched off after the end means the store gave up, and needs a cancel")
  func givenUp() {
    func codes(_ off: String) -> [String] {
      var shown = premium(active: false, until: "2026-03-01", .canceled)
      shown.autoRenewOffAt = at(off)
      return Scenario(.monthly(renewals: 1), shown: shown, at: "2026-05-20").codes
    }
    #expect(codes("2026-04-01") == ["MISSED_CANCEL"])
    #expect(codes("2026-02-20") == ["MISSED_EXPIRATION"])
  }

  @Test("Expiry and refund imply the cancel")
  func implied() {
    var expired = Story.monthly(renewals: 1)
    expired.report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
    var scenario = Scenario(
      expired, shown: premium(active: false, until: "2026-03-01", .canceled), at: "2026-03-20")
    #expect(scenario.codes == [])
    var refunded = Story.monthly(renewals: 1)
    refunded.report(.refunded, "2026-02-10", transaction: 101, price: -10)
    scenario.stories = [refunded]
    #expect(scenario.codes == [])
  }

  @Test("A plan with a 12-month commitment renews after its cancel")
  func commitment() {
    var story = canceled
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: 2)
    let scenario = Scenario(story, shown: premium(until: "2026-04-01", .canceled), at: "2026-03-20")
    #expect(scenario.codes == [])
  }

  @Test("A switch-off date after the last cancel is another cancel")
  func datedCancel() {
    var story = canceled
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: 2)
    var shown = premium(until: "2026-04-01", .canceled)
    shown.autoRenewOffAt = at("2026-03-05")
    var scenario = Scenario(story, shown: shown, at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
    #expect(scenario.breaks[0].expectedAt == at("2026-03-05"))
    scenario.stories[0].report(
      .canceled, "2026-03-05T01:00:00", until: "2026-04-01", transaction: 102)
    #expect(scenario.codes == [])
    scenario.firstEventAt = "2026-03-10"
    scenario.stories = [story]
    #expect(scenario.codes == [])
  }

  @Test("An entitlement that will renew after a reported cancel is a mismatch")
  func mismatch() {
    var scenario = Scenario(canceled, shown: premium(until: "2026-03-01"), at: "2026-02-20")
    #expect(scenario.codes == ["RENEW_STATE_MISMATCH"])
    scenario.entitlements = [premium(until: "2026-03-01", .unknown)]
    #expect(scenario.codes == [])
  }

  @Test("A missing renewal explains restored renewal, but not one before the cancel")
  func explained() {
    var scenario = Scenario(canceled, shown: premium(until: "2026-04-01"), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    var story = Story.monthly(renewals: 2, without: [1])
    story.report(.canceled, "2026-03-05", until: "2026-04-01", transaction: 102)
    scenario.stories = [story]
    #expect(scenario.codes.sorted() == ["MISSED_RENEWAL", "RENEW_STATE_MISMATCH"])
  }

  @Test("A billing issue in the snapshot needs a billing event")
  func billing() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-17", .billingIssue), at: "2026-03-10")
    #expect(scenario.codes == ["MISSED_BILLING_ISSUE"])
    scenario.stories[0].report(.billingRetry, "2026-03-01", until: "2026-03-17", transaction: 101) {
      $0.graceEnd = at("2026-03-17")
    }
    #expect(scenario.codes == [])
  }

  @Test("A payment that failed during the period is dated by the latest event, and settles")
  func billingAhead() {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2027-01-01", price: 10, count: 0)
    var scenario = Scenario(
      story, shown: premium(until: "2027-01-01", .billingIssue), at: "2026-05-09")
    for moment in ["2026-05-09", "2026-09-09", "2026-12-30"] {
      scenario.capturedAt = moment
      #expect(scenario.breaks.map(\.expectedAt) == [at("2026-01-01")])
      #expect(scenario.breaks.map(\.status) == [.open])
    }
    // From here on the store collects, and the payment may just have failed.
    scenario.capturedAt = "2026-12-31T12:00:00"
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-12-31T12:00:00")])
    #expect(scenario.breaks.map(\.status) == [.pending])
    scenario.capturedAt = "2027-01-02T03:00:00"
    scenario.entitlements = [premium(until: "2027-01-10", .billingIssue)]
    #expect(scenario.breaks.map(\.expectedAt) == [at("2027-01-01")])
    #expect(scenario.breaks.map(\.status) == [.open])
  }

  @Test("A canceled and ended subscription needs an expiry event")
  func expiration() {
    let ended = [premium(active: false, until: "2026-03-01", .canceled)]
    var scenario = Scenario(stories: [canceled], entitlements: ended, capturedAt: "2026-03-20")
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    #expect(scenario.breaks[0].expectedAt == at("2026-03-01"))
    scenario.stories[0].report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
    #expect(scenario.codes == [])
  }

  @Test("Just after its end, a subscription that the snapshot says will renew has not expired")
  func expirationOrRenewal() {
    func codes(_ time: String) -> [String] {
      Scenario(canceled, shown: premium(active: false, until: "2026-03-01"), at: time).codes
    }
    #expect(codes("2026-03-01T12:00:00") == [])
    #expect(codes("2026-03-02T12:00:00") == ["MISSED_EXPIRATION"])
  }

  @Test(
    "A cancel reported after the snapshot is the one shown, unless a charge came between")
  func cancelReportedLater() {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-10T01:00:00", until: "2026-03-01", transaction: 101)
    var scenario = Scenario(
      story, shown: premium(until: "2026-03-01", .canceled), at: "2026-02-10", asOf: "2026-02-20")
    #expect(scenario.codes == [])
    scenario.stories = [.monthly(renewals: 2)]
    scenario.stories[0].report(.canceled, "2026-03-10", until: "2026-04-01", transaction: 102)
    scenario.asOf = "2026-03-20"
    #expect(scenario.codes == ["MISSED_CANCEL"])
  }

  @Test("What was reported after the snapshot explains it also when a charge has followed since")
  func reportedLaterAndCharged() {
    for (kind, shown) in [
      (EventKind.canceled, RenewState.canceled), (.billingRetry, .billingIssue),
    ] {
      var scenario = Scenario(
        .monthly(renewals: 1), shown: premium(until: "2026-03-01", shown),
        at: "2026-02-28T12:00:00", asOf: "2026-03-20")
      scenario.stories[0].report(.renewed, "2026-03-02", until: "2026-04-02", transaction: 102)
      #expect(scenario.codes.count == 1)
      scenario.stories[0].report(kind, "2026-02-28T13:00:00", until: "2026-03-01", transaction: 101)
      #expect(scenario.codes == [])
    }
  }

  @Test("A trial whose payment failed has ended once a cancel gave it up")
  func trialGivenUp() {
    var story = Story.trial
    story.report(.trialBillingRetry, "2026-01-08", until: "2026-01-08")
    var scenario = Scenario(
      story, shown: premium(active: false, until: "2026-01-08", .canceled), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    scenario.stories[0].report(.trialCanceled, "2026-02-08", until: "2026-01-08")
    #expect(scenario.codes == [])
  }

  @Test("A cancel before a new start is not a commitment of the new subscription")
  func cancelAfterRestart() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    story.report(.started, "2026-03-01", until: "2026-04-01", transaction: 101, price: 10)
    let scenario = Scenario(story, shown: premium(until: "2026-04-01", .canceled), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
  }

  @Test("Access that ended before its period was revoked, and no cancel is missing")
  func cutShort() {
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(active: false, until: "2026-02-10", .canceled),
      at: "2026-03-01T12:00:00")
    #expect(scenario.codes == ["EXPIRY_MISMATCH"])
  }

  @Test("Neither a failed payment nor an end with auto-renew on needs an expiry event")
  func noExpirationExpected() {
    var failing = canceled
    failing.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    var scenario = Scenario(
      failing, shown: premium(active: false, until: "2026-03-01", .canceled), at: "2026-03-20")
    #expect(scenario.codes == [])
    scenario.stories = [.monthly(renewals: 1)]
    scenario.entitlements = [premium(active: false, until: "2026-03-01", .unknown)]
    scenario.capturedAt = "2026-03-02T12:00:00"
    #expect(scenario.codes == [])
  }

  @Test("A refunded trial has neither a missing cancel nor expiry nor another end")
  func trialGivenBack() {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-15", transaction: 100)
    story.report(.refunded, "2026-01-05", until: "2026-01-05", transaction: 100)
    func codes(_ day: String, shown: [Entitlement]) -> [String] {
      Scenario(stories: [story], entitlements: shown, capturedAt: day).codes
    }
    let early = premium(active: false, until: "2026-01-05", .canceled)
    let atEnd = premium(active: false, until: "2026-01-15", .canceled)
    for day in ["2026-01-10", "2026-01-16T12:00:00", "2026-02-20"] {
      #expect(codes(day, shown: [early]) == [] && codes(day, shown: [atEnd]) == [])
      #expect(codes(day, shown: []) == [])
    }
    story.events.removeLast()
    #expect(codes("2026-01-10", shown: [early]) == ["EXPIRY_MISMATCH"])
    #expect(codes("2026-01-10", shown: []) == ["AHEAD_OF_SNAPSHOT"])
  }
}
