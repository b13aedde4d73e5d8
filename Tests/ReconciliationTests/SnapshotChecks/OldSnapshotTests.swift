import Reconciliation
import Testing
import Domain

@Suite("A snapshot older than an event proves and hides nothing about it")
struct OldSnapshotTests {
  /// A scenario whose only snapshot precedes the first event of `story`.
  private func scenario(_ story: Story, _ entitlements: [Entitlement] = []) -> Scenario {
    Scenario(
      stories: [story], entitlements: entitlements, capturedAt: "2025-12-20", asOf: "2026-08-01")
  }

  /// Expects the same breaks of a story with and without the old snapshot.
  private func expectSame(_ old: Scenario, _ codes: [String]) {
    var without = old
    (without.entitlements, without.capturedAt) = (nil, old.asOf ?? old.capturedAt)
    #expect(old.codes == codes)
    #expect(old.breaks == without.breaks)
    #expect(old.outcome.churnInDoubt == without.outcome.churnInDoubt)
  }

  @Test("A counter jump is open despite a snapshot from before the subscription")
  func counter() {
    let old = scenario(.monthly(renewals: 6, without: [4]))
    expectSame(old, ["MISSED_RENEWAL"])
    #expect(old.breaks[0].status == .open)
  }

  @Test("A silent end is open despite such a snapshot, and its churn is doubtful")
  func silence() {
    let old = scenario(.monthly(renewals: 1))
    expectSame(old, ["MISSED_EXPIRATION"])
    #expect(old.outcome.churnInDoubt.count == 1)
  }

  @Test("The refund of a missing charge is open despite such a snapshot")
  func refund() {
    var story = Story.monthly(renewals: 6)
    story.report(.refunded, "2026-07-20", transaction: 555, price: -10) {
      $0.periodStart = at("2026-07-15")
    }
    let old = scenario(story)
    expectSame(old, ["MISSED_RENEWAL"])
    #expect(old.breaks[0].transaction == "555")
  }

  @Test("A break that events prove settles with the events, not with an old snapshot")
  func settles() {
    var old = scenario(.monthly(renewals: 6, without: [4]), [premium(until: "2026-02-01")])
    old.capturedAt = "2026-01-20"
    #expect(old.codes == ["MISSED_RENEWAL"])
    #expect(old.breaks[0].status == .open)
    old.watermark = "2026-05-01T12:00:00"
    #expect(old.breaks[0].status == .pending)
    var story = Story.monthly(renewals: 6)
    story.report(.refunded, "2026-07-20", transaction: 555, price: -10) {
      $0.periodStart = at("2026-07-15")
    }
    (old.stories, old.watermark) = ([story], nil)
    #expect(old.breaks.map(\.status) == [.open])
  }

  @Test("A break that the snapshot proves waits for the delivery window from its capture")
  func waits() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-04-01"), at: "2026-03-01T12:00:00",
      asOf: "2026-03-20")
    scenario.entitlements = [
      premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2))
    ]
    #expect(scenario.breaks.map(\.status) == [.pending])
  }

  @Test("A list or a counter from before a loss does not hide it")
  func newerLosses() {
    func expect(_ story: Story, _ shown: Entitlement, on day: String, _ codes: [String]) {
      var old = scenario(story, [shown])
      (old.capturedAt, old.firstEventAt) = (day, "2026-01-15")
      expectSame(old, codes)
      #expect(old.breaks.allSatisfy { ($0.expectedAt ?? at(day)) > at(day) })
    }
    let listed = [bought(100, .started, "2026-01-01", until: "2026-02-01")]
    let counted = Story.monthly(renewals: 6, without: [0, 1, 2])
    expect(
      counted, premium(until: "2026-02-01", listing: listed), on: "2026-01-20", ["MISSED_RENEWAL"])
    var free = Story.monthly(renewals: 6, without: [3], counted: false)
    free.report(.expired, "2026-08-01", until: "2026-08-01", transaction: 106)
    expect(free, premium(until: "2026-03-01", count: 1), on: "2026-02-20", ["MISSED_RENEWAL"])
    var refunded = Story.monthly(renewals: 1)
    refunded.report(.refunded, "2026-04-10", transaction: 103, price: -10) {
      $0.periodStart = at("2026-04-01")
    }
    expect(
      refunded, premium(until: "2026-03-01", listing: monthlyTransactions(renewals: 1)),
      on: "2026-02-20", ["MISSED_RENEWAL", "MISSED_RENEWAL"])
  }

  @Test("A listed transaction after the capture time explains the snapshot's end and counter")
  func listedAhead() {
    let shown = premium(
      until: "2026-03-01", count: 1, listing: monthlyTransactions(renewals: 1))
    var scenario = Scenario(.monthly(renewals: 0), shown: shown, at: "2026-01-31T20:00:00")
    // At as-of its event cannot be known yet.
    #expect(scenario.codes == [])
    scenario.asOf = "2026-02-01T03:00:00"
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-02-01")])
    #expect(scenario.breaks.map(\.status) == [.pending])
    let id = scenario.breaks.map(\.id)
    // If the event stays missing, the next snapshot opens the same break.
    (scenario.capturedAt, scenario.asOf) = ("2026-02-10", nil)
    #expect(scenario.breaks.map(\.status) == [.open])
    #expect(scenario.breaks.map(\.id) == id)
    scenario.stories = [.monthly(renewals: 1)]
    (scenario.capturedAt, scenario.asOf) = ("2026-01-31T20:00:00", "2026-02-01T03:00:00")
    #expect(scenario.codes == [])
  }

  @Test("A listed purchase whose event is newer than the snapshot is not of an older subscription")
  func purchaseReportedLater() {
    var ended = Story()
    ended.report(.started, "2026-01-01", until: "2026-02-01", price: 10)
    ended.reportEnd(canceled: "2026-01-05", until: "2026-02-01")
    var next = Story(original: "200")
    next.report(
      .started, "2026-02-10T10:00:20", until: "2027-02-10", transaction: 200, price: 60,
      product: Story.yearly)
    var again = bought(200, .started, "2026-02-10T10:00:00", until: "2027-02-10")
    again.originalID = "200"
    let listed = [bought(100, .started, "2026-01-01", until: "2026-02-01"), again]
    var scenario = Scenario(
      stories: [ended, next],
      entitlements: [premium(until: "2027-02-10", product: "yearly", listing: listed)],
      capturedAt: "2026-02-10T10:00:19", asOf: "2026-02-20", change: allMapped)
    #expect(scenario.codes == [])
    // Without the event, the list proves the purchase.
    scenario.stories = [ended]
    #expect(scenario.codes == ["MISSED_START"])
  }

  @Test("A listed revocation after the capture time explains the snapshot's end")
  func revokedAhead() {
    var listed = monthlyTransactions(renewals: 0)
    listed[0].revokedAt = at("2026-01-20T21:00:00")
    var shown = premium(active: false, until: "2026-01-20", .canceled, listing: listed)
    shown.expiresAt = listed[0].revokedAt
    var scenario = Scenario(.monthly(renewals: 0), shown: shown, at: "2026-01-20T20:00:00")
    #expect(scenario.codes == [])
    scenario.asOf = "2026-01-21"
    #expect(scenario.codes == ["MISSED_REFUND"])
    #expect(scenario.breaks.map(\.status) == [.pending])
  }

  @Test("A charge that arrived after the snapshot explains its end, whatever followed")
  func chargeReportedLater() {
    var story = Story.monthly(renewals: 0, counted: false)
    var scenario = Scenario(
      story, shown: premium(until: "2026-03-01"), at: "2026-02-15", asOf: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    story.report(.renewed, "2026-03-01", until: "2026-04-01", transaction: 102)
    scenario.stories = [story]
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    story.report(.renewed, "2026-02-20", until: "2026-03-01", transaction: 101)
    scenario.stories = [story]
    #expect(scenario.codes == [])
  }

  @Test("A product change reported after the snapshot is the one that it shows")
  func changeReportedLater() {
    var story = Story.monthly(renewals: 0)
    var scenario = Scenario(
      story, shown: premium(until: "2027-01-20", product: "yearly"), at: "2026-01-19T23:00:00",
      asOf: "2026-01-25", change: { $0.products["yearly"] = ["com.example.yearly"] })
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
    story.report(
      .upgraded, "2026-01-20", until: "2027-01-20", transaction: 101, price: 90,
      product: Story.yearly)
    scenario.stories = [story]
    #expect(scenario.codes == [])
  }

  @Test("A listed transaction that a later event reports is not missing")
  func listed() {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: 10, count: 0) {
      $0.periodStart = at("2025-12-19")
    }
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    let listed = [bought(100, .started, "2025-12-19", until: "2026-02-01")]
    expectSame(scenario(story, [premium(until: "2026-02-01", listing: listed)]), [])
  }

  @Test("A listed charge whose period a newer state shows with another end contradicts nothing")
  func movedLater() {
    func codes(_ provider: Provider, until end: String = "2026-02-13") -> [String] {
      var story = Story.monthly(renewals: 0, counted: false)
      story.report(
        .renewed, "2026-02-01T02:00:00", until: end, transaction: 101, price: 10)
      let listed = [bought(101, .renewed, "2026-02-01", until: "2026-03-01")]
      return Scenario(
        story, shown: premium(until: "2026-03-01", listing: listed), at: "2026-02-01T01:00:00",
        asOf: "2026-02-14", provider: provider, change: allMapped
      ).codes
    }
    #expect(codes(.iaptic) == [])
    #expect(codes(.iaptic, until: "2026-03-08") == [])
    #expect(codes(.qonversion) == ["EXPIRY_MISMATCH"])
  }

  @Test("A later renewal explains why a snapshot shows auto-renew on after a cancel")
  func renewedAfterCancel() {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101)
    var scenario = Scenario(
      story, shown: premium(until: "2026-03-01"), at: "2026-02-20", asOf: "2026-03-05")
    #expect(scenario.codes == ["RENEW_STATE_MISMATCH"])
    scenario.stories[0].report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: 2)
    #expect(scenario.codes == [])
    // A new purchase does not: the subscription had ended as the cancel said.
    scenario.stories = [story]
    scenario.stories[0].report(
      .started, "2026-03-03", until: "2026-04-03", transaction: 102, price: 10)
    #expect(scenario.codes == ["RENEW_STATE_MISMATCH"])
  }

  @Test("A cancel that the snapshot dates is known, although it was withdrawn since")
  func withdrawnCancel() {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-05", until: "2026-03-01", transaction: 101)
    story.report(.uncanceled, "2026-02-07", until: "2026-03-01", transaction: 101)
    var shown = premium(until: "2026-03-01", .canceled)
    shown.autoRenewOffAt = at("2026-02-05")
    var scenario = Scenario(story, shown: shown, at: "2026-02-20", provider: .iaptic)
    #expect(scenario.codes == [])
    shown.autoRenewOffAt = at("2026-02-09")
    scenario.entitlements = [shown]
    #expect(scenario.codes == ["MISSED_CANCEL"])
  }

  @Test("An earlier end that the snapshot shows first is pending until its event can arrive")
  func earlierEnd() {
    func status(capturedAt: String) -> [BreakStatus] {
      Scenario(
        .monthly(renewals: 1), shown: premium(active: false, until: "2026-02-20", .canceled),
        at: capturedAt
      ).breaks.filter { $0.code == .expiryMismatch }.map(\.status)
    }
    #expect(status(capturedAt: "2026-02-20T02:00:00") == [.pending])
    #expect(status(capturedAt: "2026-02-25") == [.open])
  }
}
