import Domain
import Reconciliation
import Subscriptions
import Testing

@Suite("Dates in a snapshot of Qonversion's SDK")
struct PurchaseDateCheckTests {
  /// Start and one renewal; the snapshot shows the end of the renewal.
  private func scenario(
    _ story: Story = .monthly(renewals: 1, counted: false), asOf: String = "2026-02-20",
    listing transactions: [SnapshotTransaction] = [],
    _ change: (inout Entitlement) -> Void
  ) -> Scenario {
    var shown = premium(until: "2026-03-01", listing: transactions)
    change(&shown)
    return Scenario(story, shown: shown, at: asOf)
  }

  @Test("A purchase date after the last known charge proves a missing one; its own date does not")
  func lastPurchase() {
    var found = scenario { $0.lastPurchasedAt = at("2026-02-10") }.breaks
    #expect(found.map(\.code) == [.missedRenewal])
    #expect(found.map(\.expectedAt) == [at("2026-02-10")])
    #expect(found.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    found = scenario { $0.lastPurchasedAt = at("2026-02-01T10:00:00") }.breaks
    #expect(found.isEmpty)
  }

  @Test("A later end and a last purchase date are one loss with one id")
  func oneLoss() {
    let byEnd = scenario(asOf: "2026-03-20") { $0.expiresAt = at("2026-04-01") }.breaks
    let both = scenario(asOf: "2026-03-20") {
      $0.expiresAt = at("2026-04-01")
      $0.lastPurchasedAt = at("2026-03-01")
    }.breaks
    #expect(both.map(\.code) == [.missedRenewal])
    #expect(both.map(\.id) == byEnd.map(\.id))
  }

  @Test("A start that the snapshot dates is free if a cancel or expiry is of a trial")
  func trialNoticed() {
    var story = Story()
    for (kind, day) in [(EventKind.trialCanceled, "2026-01-03"), (.trialExpired, "2026-01-08")] {
      story.report(kind, day, until: "2026-01-08") { $0.periodStart = nil }
    }
    story.report(.started, "2026-02-01", until: "2026-03-01", transaction: 101, price: 10)
    let found = scenario(story) { $0.startedAt = at("2026-01-01") }.breaks
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.estimatedUSD) == [.zero])
  }

  @Test("A listed transaction at the purchase date is that purchase")
  func listed() {
    let story = Story.monthly(renewals: 1, without: [1])
    let all = [
      bought(100, .started, "2026-01-01", until: "2026-02-01"),
      bought(101, .renewed, "2026-02-01", until: "2026-03-01"),
    ]
    let found = scenario(story, listing: all) { $0.lastPurchasedAt = at("2026-02-01") }.breaks
    #expect(found.map(\.transaction) == ["101"])
  }

  @Test("A dated trial without events is a missing start without an amount")
  func trial() {
    var found = scenario { $0.trialStartedAt = at("2025-12-25") }.breaks
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.estimatedUSD) == [.zero])
    // Before the feed began, nothing is missing.
    found = scenario { $0.trialStartedAt = at("2025-11-25") }.breaks
    #expect(found.isEmpty)
    var story = Story()
    story.report(.trialStarted, "2025-12-25", until: "2026-01-01", transaction: 99)
    story.events += Story.monthly(renewals: 1, counted: false).events
    #expect(scenario(story) { $0.trialStartedAt = at("2025-12-25") }.breaks.isEmpty)
  }

  @Test("The first purchase dates the start if nothing else does")
  func firstPurchase() {
    let story = Story.monthly(renewals: 2, without: [0], counted: false)
    let found = scenario(story) { $0.firstPurchasedAt = at("2026-01-01") }.breaks
    #expect(found.contains { $0.code == .missedStart && $0.expectedAt == at("2026-01-01") })
    #expect(scenario(story) { $0.firstPurchasedAt = at("2025-11-01") }.breaks.isEmpty)
  }

  @Test("A first purchase before the start that arrived is missing, unless it precedes the feed")
  func beforeStart() {
    func found(_ first: String) -> [Break] {
      scenario {
        ($0.startedAt, $0.firstPurchasedAt) = (at("2026-01-01"), at(first))
      }.breaks
    }
    #expect(found("2025-12-10").map(\.code) == [.missedStart])
    #expect(found("2025-12-10").map(\.expectedAt) == [at("2025-12-10")])
    #expect(found("2025-12-10").map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    #expect(found("2025-11-10").map(\.status) == [.resolved])
    #expect(found("2025-11-10").map(\.missingEvents) == [0])
    #expect(found("2025-11-10").first?.evidence.contains("first_seen") == true)
    #expect(found("2026-01-01").isEmpty)
  }

  @Test("A first purchase in another subscription of the user is known")
  func elsewhere() {
    var scenario = scenario { $0.firstPurchasedAt = at("2025-12-05") }
    scenario.stories.append(
      .endedWeek(from: "2025-12-05", canceled: "2025-12-06", until: "2025-12-12"))
    #expect(scenario.codes == [])
  }

  @Test("Access that began again after a lapse is dated by its own start, not the first purchase")
  func startedAgain() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-20", until: "2026-02-01")
    var shown = premium(until: "2026-07-10", started: "2026-05-10")
    shown.firstPurchasedAt = at("2026-01-01")
    var found = Scenario(story, shown: shown, at: "2026-06-20").breaks
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.expectedAt) == [at("2026-05-10")])
    #expect(found.map(\.missingEvents) == [2])
    // The first purchase was before the feed, the start and not the renewal of the present access
    // was lost.
    story = Story()
    story.report(.renewed, "2026-06-10", until: "2026-07-10", transaction: 105, price: 10)
    shown.firstPurchasedAt = at("2025-11-01")
    found = Scenario(story, shown: shown, at: "2026-06-20", firstEventAt: "2026-05-01").breaks
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.expectedAt) == [at("2026-05-10")])
  }

  @Test("The first purchase of several subscriptions was of the one whose start is unknown")
  func startedBefore() {
    var story = Story(original: "200")
    story.report(.started, "2026-05-10", until: "2026-06-10", transaction: 200, price: 10)
    var shown = premium(until: "2026-06-10", started: "2026-05-10")
    shown.firstPurchasedAt = at("2026-01-01")
    var scenario = Scenario(story, shown: shown, at: "2026-05-20")
    #expect(scenario.breaks.map(\.subscription) == ["200"])
    var older = Story()
    older.report(.renewed, "2026-02-01", until: "2026-03-01", transaction: 101, price: 10, count: 1)
    older.reportEnd(canceled: "2026-02-20", until: "2026-03-01", transaction: 101)
    scenario.stories.append(older)
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.map(\.subscription) == ["100"])
  }

  @Test("A cache older than the last charge before its capture proves no end; a current one does")
  func stale() {
    let old = bought(100, .started, "2026-01-01", until: "2026-02-01")
    func codes(_ lastPurchase: String?) -> [String] {
      scenario(listing: [old]) {
        $0.isActive = false
        $0.expiresAt = at("2026-02-01")
        $0.renewState = .canceled
        $0.lastPurchasedAt = lastPurchase.map { at($0) }
      }.codes
    }
    #expect(codes("2026-01-01") == [])
    #expect(codes("2026-02-01") != [] && codes(nil) != [])
  }

  @Test("A purchase that no counter counts explains its end and its product")
  func uncounted() {
    var story = Story()
    story.report(.started, "2026-02-12", until: "2026-03-12", price: 10, count: 0)
    var shown = premium(until: "2027-03-01", product: "yearly", started: "2026-02-12", count: 0)
    shown.lastPurchasedAt = at("2026-03-01")
    let found = Scenario(story, shown: shown, at: "2026-03-10", change: allMapped).breaks
    #expect(found.map(\.code) == [.missedProductChange])
    #expect(found.map(\.expectedAt) == [at("2026-03-01")])
    #expect(found.map(\.product) == ["com.example.yearly"])
  }
}
