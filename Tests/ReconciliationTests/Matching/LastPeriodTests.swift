import Reconciliation
import Subscriptions
import Testing
import Domain

@Suite("A lineage's last period compared with its entitlement")
struct LastPeriodTests {
  @Test("The grace of a missing charge keeps the subscription active, and proves no other charge")
  func inGrace() throws {
    var story = Story.monthly(renewals: 1)
    for (kind, day) in [(EventKind.billingRetry, "2026-04-01"), (.canceled, "2026-05-20")] {
      story.report(kind, day, until: "2026-04-01", transaction: 102) {
        $0.periodStart = at("2026-03-01")
        $0.graceEnd = at("2026-04-29")
      }
    }
    let state = try #require(story.lineage(until: at("2026-06-15"))?.state)
    #expect(state.churned.map(\.at) == [at("2026-04-29")])
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2026-04-29", .canceled), at: "2026-06-15")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }

  @Test("Ends within a minute agree; two minutes apart are a mismatch")
  func tolerance() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01T00:01:00"), at: "2026-02-20")
    #expect(scenario.codes == [])
    scenario.entitlements = [premium(until: "2026-03-01T00:02:00")]
    #expect(scenario.codes == ["EXPIRY_MISMATCH"])
    scenario.entitlements = [premium(until: "2026-02-25")]
    #expect(scenario.codes == ["EXPIRY_MISMATCH"])
  }

  @Test("An end that the last event reports agrees, though it is earlier by less than the gap")
  func reportedEarlier() {
    func codes(_ end: String) -> [String] {
      var story = Story.monthly(renewals: 1)
      story.report(.canceled, "2026-02-10", until: end, transaction: 101)
      return Scenario(story, shown: premium(until: end, .canceled), at: "2026-02-20").codes
    }
    #expect(codes("2026-02-28T21:00:00") == [])
    #expect(codes("2026-02-25") == ["EXPIRY_MISMATCH"])
  }

  @Test("Access past the last known end proves as many renewals as fit")
  func renewals() {
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-06-01"), at: "2026-05-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].missingEvents == 3)
    #expect(scenario.breaks[0].expectedAt == at("2026-03-01"))
    #expect(scenario.breaks[0].estimatedUSD == Amount(micros: 30_000_000))
  }

  @Test("An early renewal is found before the old period is over")
  func earlyRenewal() {
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-04-01"), at: "2026-02-28T12:00:00")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].status == .pending)
  }

  @Test("While a payment fails, access without a sent end is assumed, and may have ended")
  func assumedAccess() {
    func codes(until end: String) -> [String] {
      var story = Story.monthly(renewals: 1, counted: false)
      story.report(.graceEntered, "2026-03-01", transaction: 101)
      return Scenario(
        story, shown: premium(active: false, until: end, .billingIssue), at: "2026-03-20",
        provider: .purple
      ).codes
    }
    #expect(codes(until: "2026-03-01") == [])
    #expect(codes(until: "2026-03-17") == [])
    #expect(codes(until: "2026-02-10") == ["AHEAD_OF_SNAPSHOT"])
  }

  @Test("If all charges arrived, a later end is a different end of the same period")
  func extended() {
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-20", count: 1), at: "2026-03-10")
    #expect(scenario.codes == ["EXPIRY_MISMATCH"])
  }

  @Test("Access after a trial proves a missing conversion")
  func conversion() {
    let scenario = Scenario(.trial, shown: premium(until: "2026-02-08"), at: "2026-01-20")
    #expect(scenario.codes == ["MISSED_CONVERSION"])
  }

  @Test("A subscription without a start that began after the feed has a missing start")
  func start() {
    var story = Story()
    story.report(.canceled, "2026-01-20", until: "2026-02-01")
    var scenario = Scenario(
      story, shown: premium(until: "2026-02-01", .canceled, started: "2026-01-01"), at: "2026-01-25"
    )
    #expect(scenario.codes == ["MISSED_START"])
    scenario.firstEventAt = "2026-01-15"
    #expect(scenario.codes == [])
  }

  @Test("A subscription bought again after its end did not renew")
  func restart() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-20", until: "2026-02-01")
    let scenario = Scenario(
      story, shown: premium(until: "2026-07-10", started: "2026-06-10"), at: "2026-06-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks[0].missingEvents == 1)
  }

  @Test("An event newer than the snapshot does not contradict it")
  func olderSnapshot() {
    let scenario = Scenario(
      .monthly(renewals: 4), shown: premium(until: "2026-03-01", count: 1), at: "2026-02-20",
      asOf: "2026-05-20")
    #expect(scenario.codes == [])
  }

  @Test("For a failing payment, the snapshot's end is the end of its grace")
  func grace() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101) {
      $0.graceEnd = at("2026-03-17")
    }
    var scenario = Scenario(
      story, shown: premium(until: "2026-03-17", .billingIssue), at: "2026-03-10")
    #expect(scenario.codes == [])
    scenario.entitlements = [premium(until: "2026-03-25", .billingIssue)]
    #expect(scenario.codes == ["EXPIRY_MISMATCH"])
  }

  @Test("An end later by less than most of a period is that of a grace that nothing reported")
  func unreportedGrace() {
    let shown = premium(active: false, until: "2026-03-17", .canceled)
    var scenario = Scenario(.monthly(renewals: 1), shown: shown, at: "2026-04-10")
    #expect(scenario.codes == ["EXPIRY_MISMATCH"])
    for renewals in [1, 0] {
      // With the last renewal missing, too, the cancel of its transaction names it.
      scenario.stories = [.monthly(renewals: renewals)]
      scenario.stories[0].report(.canceled, "2026-04-05", until: "2026-03-01", transaction: 101)
      let lost = renewals == 0 ? ["MISSED_RENEWAL"] : []
      #expect(scenario.codes.sorted() == ["MISSED_BILLING_ISSUE"] + lost)
    }
  }

  @Test("What is bought after the store gave up a failed payment is one new start")
  func afterGivingUp() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    story.report(.canceled, "2026-04-30", until: "2026-03-01", transaction: 101)
    let scenario = Scenario(story, shown: premium(until: "2026-07-10"), at: "2026-06-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.map(\.missingEvents) == [1])
  }

  @Test("A different mapped product is a missing change, or one that the snapshot lacks")
  func products() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01", product: "yearly"),
      at: "2026-02-20")
    #expect(scenario.codes == [])
    scenario.change = { $0.products["yearly"] = ["com.example.yearly"] }
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
    scenario.stories[0].report(
      .upgraded, "2026-02-10", until: "2027-02-10", transaction: 102, price: 90,
      product: Story.yearly)
    scenario.entitlements = [premium(until: "2027-02-10")]
    #expect(scenario.codes == ["PRODUCT_MISMATCH"])
  }

  @Test("A charge lost before the last one does not hide a later product change")
  func productAfterOlderLoss() {
    let scenario = Scenario(
      .monthly(renewals: 2, without: [1]), shown: premium(until: "2026-04-01", product: "yearly"),
      at: "2026-03-20", change: { $0.products["yearly"] = ["com.example.yearly"] })
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE", "MISSED_RENEWAL"])
  }

  @Test("Access that is still on after its refund is a mismatch, whatever its end")
  func refundedButActive() {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-10", transaction: 101, price: -10)
    var listed = monthlyTransactions(renewals: 1)
    var scenario = Scenario(story, shown: premium(until: "2026-03-01"), at: "2026-02-20")
    for shown in [
      premium(until: "2026-03-01"), premium(until: "2026-03-03"), premium(until: "2026-02-25"),
      premium(until: "2026-03-01", listing: listed),
    ] {
      scenario.entitlements = [shown]
      #expect(scenario.codes == ["EXPIRY_MISMATCH"])
    }
    // Inactive with any end; a list of purchases, which has only paid ends; a refund that both
    // sides report, of access that another purchase continues.
    listed[1].revokedAt = at("2026-02-10")
    for shown in [
      premium(active: false, until: "2026-03-01"), premium(active: nil, until: "2026-03-01"),
      premium(until: "2026-03-20", listing: listed),
    ] {
      scenario.entitlements = [shown]
      #expect(scenario.codes == [])
    }
  }

  @Test("A later period after a refund is a missing renewal")
  func renewedAfterRefund() {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-10", transaction: 101, price: -10)
    let scenario = Scenario(story, shown: premium(until: "2026-04-01"), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }
}
