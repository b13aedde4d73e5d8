import Domain
import Reconciliation
import Testing

@Suite("A first charge that cannot be the first")
struct FirstChargeCheckTests {
  private func scenario(_ story: Story, since first: String = "2025-10-01") -> Scenario {
    var scenario = Scenario(story, shown: nil, at: "2026-03-20")
    scenario.firstEventAt = first
    return scenario
  }

  @Test("Renewal 1 proves a start one period earlier with its amount")
  func start() throws {
    let breaks = scenario(.monthly(renewals: 2, without: [0])).breaks
    #expect(breaks.map(\.code) == [.missedStart])
    let found = try #require(breaks.first)
    #expect(found.expectedAt == at("2026-01-01"))
    #expect(found.estimatedUSD == Amount(micros: 10_000_000))
    #expect(found.evidence.contains("renewal 1"))
  }

  @Test("A snapshot whose subscription began before the feed explains the missing start")
  func begunBefore() {
    for (started, codes) in [("2025-01-02", []), ("2026-01-01", ["MISSED_START"])] {
      var known = scenario(.monthly(renewals: 2, without: [0]))
      known.entitlements = [premium(until: "2026-04-01", started: started)]
      #expect(known.codes == codes)
    }
  }

  @Test("Renewal 2 proves the start and a renewal")
  func several() {
    #expect(
      scenario(.monthly(renewals: 2, without: [0, 1])).codes == ["MISSED_RENEWAL", "MISSED_START"])
  }

  @Test("Without a counter, a transaction that is not the original one proves an earlier charge")
  func uncounted() {
    func breaks(_ transaction: Int64, since first: String = "2025-10-01") -> [Break] {
      var story = Story()
      story.report(
        .renewed, "2026-02-01", until: "2026-03-01", transaction: transaction, price: 10)
      story.report(.expired, "2026-03-01", until: "2026-03-01", transaction: transaction)
      return scenario(story, since: first).breaks
    }
    #expect(breaks(101).map(\.code) == [.missedStart])
    #expect(breaks(101).map(\.expectedAt) == [at("2026-01-01")])
    #expect(breaks(101, since: "2025-12-02").map(\.code) == [.missedRenewal])
    #expect(breaks(101, since: "2026-01-15").isEmpty)
    #expect(breaks(100).isEmpty)
  }

  /// A renewal in March by iaptic; its state dates the first purchase.
  private func renewed(boughtOn day: String) -> Scenario {
    var story = Story()
    story.report(.renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10) {
      var state = Observation()
      state.firstPurchasedAt = at(day)
      $0.observation = state
    }
    var known = scenario(story)
    known.provider = .iaptic
    return known
  }

  @Test("A state with the date of the first purchase proves the start and whole-period renewals")
  func bought() {
    func breaks(_ bought: String) -> [Break] {
      renewed(boughtOn: bought).breaks.sorted { $0.code.rawValue < $1.code.rawValue }
    }
    #expect(breaks("2026-01-01").map(\.code) == [.missedRenewal, .missedStart])
    #expect(breaks("2026-01-01").map(\.expectedAt) == [at("2026-02-01"), at("2026-01-01")])
    #expect(breaks("2026-01-10").map(\.code) == [.missedStart])
    #expect(breaks("2026-02-22").map(\.estimatedUSD) == [.zero])
    #expect(breaks("2025-09-01").isEmpty)
    #expect(breaks("2026-03-01").isEmpty)
  }

  @Test("A list of only the newest purchase hides neither the start before it nor that it was free")
  func newestListed() {
    for (start, codes) in [
      ("2026-01-01", ["MISSED_RENEWAL", "MISSED_START"]), ("2026-02-22", ["MISSED_START"]),
    ] {
      var known = renewed(boughtOn: start)
      let events = known.breaks
      let newest = ReconciliationTests.bought(102, .unknown, "2026-03-01", until: "2026-04-01")
      known.entitlements = [
        premium(
          until: "2026-04-01", product: "com.example.monthly", started: start, listing: [newest])
      ]
      #expect(known.codes == codes)
      #expect(known.breaks.map(\.estimatedUSD) == events.map(\.estimatedUSD))
      #expect(known.breaks.map(\.expectedAt) == events.map(\.expectedAt))
    }
  }

  @Test("Only charges after the first event of the feed are missing")
  func beforeFeed() {
    let story = Story.monthly(renewals: 5, without: [0, 1, 2, 3])
    var later = scenario(story, since: "2026-03-15")
    later.capturedAt = "2026-06-20"
    #expect(later.codes == [])
    later.firstEventAt = "2026-02-15"
    #expect(later.breaks.map(\.code) == [.missedRenewal])
    #expect(later.breaks.map(\.missingEvents) == [2])
  }

  @Test("A renewal soon after the feed began may follow a billing retry before it")
  func retryBeforeFeed() {
    #expect(scenario(.monthly(renewals: 2, without: [0]), since: "2025-12-10").codes == [])
  }

  @Test("A failed payment before the first charge explains the charge")
  func retrySeen() {
    var story = Story.monthly(renewals: 2, without: [0])
    story.report(.billingRetry, "2026-01-20", until: "2025-10-20") {
      $0.periodStart = at("2025-09-20")
    }
    #expect(scenario(story).codes == [])
  }

  @Test("A start after an end, and a change of product, prove nothing")
  func others() {
    for kind in [EventKind.started, .resubscribed, .upgraded] {
      var story = Story()
      story.report(kind, "2026-03-01", until: "2026-04-01", transaction: 105, price: 10)
      #expect(scenario(story).codes == [], "\(kind)")
    }
  }

  @Test("A conversion proves its free trial if the trial must have begun after the feed")
  func trial() {
    var story = Story()
    story.report(.trialConverted, "2026-03-01", until: "2026-04-01", transaction: 101, price: 10)
    let found = scenario(story).breaks
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.estimatedUSD) == [.zero])
    #expect(scenario(story, since: "2026-02-20").codes == [])
    story.report(.trialStarted, "2026-02-20", until: "2026-03-01", transaction: 100)
    #expect(scenario(story).codes == [])
  }

  @Test("The start that a snapshot shows is the same break")
  func shown() {
    var scenario = scenario(.monthly(renewals: 2, without: [0]))
    let alone = scenario.breaks.map(\.id)
    scenario.entitlements = [premium(until: "2026-04-01", started: "2026-01-01", count: 2)]
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.map(\.id) == alone)
  }
}
