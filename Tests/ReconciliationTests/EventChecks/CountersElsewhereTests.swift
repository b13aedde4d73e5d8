import Reconciliation
import Testing
import Domain

@Suite("A counter that spans several subscriptions")
struct CountersElsewhereTests {
  /// A subscription of two paid months, canceled and ended.
  private var first: Story {
    var story = Story.monthly(renewals: 1)
    story.reportEnd(canceled: "2026-02-20", until: "2026-03-01", transaction: 101)
    return story
  }

  /// A separate later subscription with one more paid month than `renewals`.
  private func second(renewals: Int = 1) -> Story {
    var story = Story(original: "300")
    for step in 0...renewals {
      story.report(
        step == 0 ? .started : .renewed, month(step + 5), until: month(step + 6),
        transaction: 300 + Int64(step), price: 10, count: Int32(step))
    }
    return story
  }

  private var listed: [SnapshotTransaction] {
    monthlyTransactions(renewals: 1)
      + (0...1).map { step in
        bought(300 + step, step == 0 ? .started : .renewed, month(step + 5), until: month(step + 6))
        { $0.originalID = "300" }
      }
  }

  private func missing(
    _ stories: [Story], count: Int32, until end: String = "2026-07-01",
    listing: [SnapshotTransaction] = [], on day: String = "2026-06-14"
  ) -> [Int64] {
    Scenario(
      stories: stories, entitlements: [premium(until: end, count: count, listing: listing)],
      capturedAt: day
    ).breaks.filter { $0.code == .missedRenewal }.map(\.missingEvents)
  }

  @Test("A counter of two subscriptions has no gap, with a full, partial or empty list")
  func twoSubscriptions() {
    for listing in [listed, Array(listed.suffix(2)), []] {
      #expect(missing([first, second()], count: 3, listing: listing) == [])
      // A count beyond both is missing.
      #expect(missing([first, second()], count: 4, listing: listing) == [1])
    }
  }

  @Test("A listed payment that is missing is identified by its id and not counted again")
  func listedLoss() {
    var later = second()
    later.events.removeLast()
    #expect(missing([first, later], count: 3, listing: listed) == [1])
  }

  @Test("A later end means as many charges as the counter exceeds both subscriptions")
  func laterEnd() {
    let (end, day) = ("2026-08-01", "2026-07-14")
    #expect(missing([first, second()], count: 4, until: end, on: day) == [1])
    #expect(missing([first, second()], count: 2, until: end, on: day) == [1])
  }

  @Test("A counter is not shared with a subscription of another entitlement")
  func parallel() {
    var other = Story(original: "300")
    other.report(
      .started, "2026-02-01", until: "2027-02-01", transaction: 300, price: 90,
      product: Story.yearly)
    var shown = premium(until: "2027-02-01", product: "yearly", count: 1)
    shown.id = "plus"
    let scenario = Scenario(
      stories: [.monthly(renewals: 5), other],
      entitlements: [premium(until: "2026-07-01", count: 5), shown], capturedAt: "2026-06-14",
      change: { $0.products["yearly"] = ["com.example.yearly"] })
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }

  @Test(
    "A list of all payments explains its counter, even for a start before the first event")
  func head() {
    var story = Story()
    story.report(.renewed, "2026-04-01", until: "2026-05-01", transaction: 103, price: 10, count: 2)
    let all = monthlyTransactions(renewals: 3)
    let scenario = Scenario(
      story, shown: premium(until: "2026-05-01", count: 3, listing: all), at: "2026-04-20",
      firstEventAt: "2026-03-20")
    #expect(scenario.codes == [])
  }

  @Test("What a counter adds to a listed charge was due after it")
  func afterListed() {
    let scenario = Scenario(
      .monthly(renewals: 3, without: [1, 2]),
      shown: premium(until: "2026-03-01", listing: monthlyTransactions(renewals: 1)),
      at: "2026-02-20", asOf: "2026-04-20")
    #expect(scenario.codes == ["MISSED_RENEWAL", "MISSED_RENEWAL"])
    #expect(Set(scenario.breaks.map(\.expectedAt)) == [at("2026-02-01"), at("2026-03-01")])
    #expect(Set(scenario.breaks.map(\.id)).count == 2)
  }
}
