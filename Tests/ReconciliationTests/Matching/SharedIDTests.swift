import Reconciliation
import Testing
import Subscriptions
import Domain

@Suite("An id is unique only within its store, and compared by bytes")
struct SharedIDTests {
  /// The app, store and id of a subscription.
  private struct Home: Sendable {
    var app = "app"
    var store = Store.appStore
    var original = "100"

    var lineage: Int64 {
      lineageKey(
        provider: .qonversion, app: app, environment: .production, store: store,
        original: original)
    }
  }

  /// Two homes that only look alike.
  private static let counterparts: [[Home]] = [
    [Home(), Home(store: .playStore)], [Home(), Home(app: "other")],
    [Home(original: "caf\u{e9}"), Home(original: "cafe\u{301}")],
  ]

  private func moved(_ story: Story, to home: Home) -> Story {
    var moved = story
    (moved.original, moved.app) = (home.original, home.app)
    for index in moved.events.indices {
      moved.events[index].store = home.store
      moved.events[index].lineage = home.lineage
    }
    return moved
  }

  /// Both stories of one user, each in its own home.
  private func scenario(
    _ first: Story, _ second: Story, in homes: [Home], capturedAt: String,
    _ entitlements: [Entitlement]? = nil
  ) -> Scenario {
    var scenario = Scenario(
      stories: [moved(first, to: homes[0]), moved(second, to: homes[1])],
      entitlements: entitlements, capturedAt: capturedAt)
    let asOf = at(capturedAt)
    scenario.change = { rules in
      allMapped(&rules)
      rules.feeds = ["app", "other"].map {
        Watermark(
          of: Feed(provider: .qonversion, app: 0), app: $0, newest: asOf, begin: at("2025-12-01"))
      }
    }
    return scenario
  }

  /// A monthly subscription from February whose first renewal, in March, is missing.
  private var holed: Story {
    var story = Story()
    story.report(.started, "2026-02-01", until: "2026-03-01", transaction: 200, price: 10, count: 0)
    {
      $0.startsLineage = true
    }
    story.report(
      .renewed, "2026-04-01", until: "2026-05-01", transaction: 202, price: 10, count: 2)
    return story
  }

  @Test("A gap in one counter is separate from a gap in the other", arguments: counterparts.indices)
  func gaps(index: Int) {
    let found = scenario(
      .monthly(renewals: 3, without: [2]), holed, in: Self.counterparts[index],
      capturedAt: "2026-04-15")
    #expect(found.codes == ["MISSED_RENEWAL", "MISSED_RENEWAL"])
  }

  @Test("A gap in one does not explain the silence of the other", arguments: counterparts.indices)
  func silence(index: Int) {
    let found = scenario(
      .monthly(renewals: 0), holed, in: Self.counterparts[index], capturedAt: "2026-04-15")
    #expect(found.codes == ["MISSED_EXPIRATION", "MISSED_RENEWAL"])
  }

  @Test("A gap in one casts no doubt on the end of the other", arguments: counterparts.indices)
  func doubts(index: Int) {
    var ended = Story.monthly(renewals: 1)
    ended.reportEnd(canceled: "2026-02-20", until: "2026-03-01", transaction: 101)
    let found = scenario(ended, holed, in: Self.counterparts[index], capturedAt: "2026-04-15")
    #expect(found.codes == ["MISSED_RENEWAL"])
    let doubted = found.outcome.churnInDoubt.map(\.lineage)
    #expect(doubted == [Self.counterparts[index][1].lineage])
  }

  @Test(
    "A snapshot of one does not confirm the other", arguments: counterparts.indices)
  func presence(index: Int) {
    var yearly = Story()
    yearly.report(
      .started, "2026-01-05", until: "2027-01-05", transaction: 300, price: 90, count: 0,
      product: Story.yearly)
    var shown = premium(until: "2027-01-05", product: "yearly")
    shown.store = Self.counterparts[index][1].store
    let found = scenario(
      .monthly(renewals: 0), yearly, in: Self.counterparts[index], capturedAt: "2026-01-15", [shown]
    )
    #expect(found.codes == ["AHEAD_OF_SNAPSHOT"])
    #expect(found.breaks.map(\.product) == ["com.example.monthly"])
  }

  @Test("A charge that arrived without an id is the one listed at its time")
  func unnamed() {
    var story = Story.monthly(renewals: 2, counted: false)
    for index in story.events.indices { story.events[index].transaction = 0 }
    func codes(_ renewals: Int) -> [String] {
      Scenario(
        story,
        shown: premium(
          until: month(renewals + 2), listing: monthlyTransactions(renewals: renewals)),
        at: "2026-03-10"
      ).codes
    }
    #expect(codes(2) == [])
    story.events.remove(at: 1)
    #expect(codes(2) == ["MISSED_RENEWAL"])
  }

  @Test("What a family member or the sandbox paid for says nothing about the user's own purchase")
  func notBought() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    let changes: [(inout SnapshotTransaction) -> Void] = [
      { $0.grant = .familySharing }, { $0.environment = .sandbox },
    ]
    for change in changes {
      let other = bought(700, .started, "2026-03-01", until: "2026-04-01") {
        $0.originalID = "700"
        change(&$0)
      }
      var shown = premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 0) + [other])
      shown.renewsCount = 1
      #expect(Scenario(story, shown: shown, at: "2026-03-20").codes == [])
    }
  }
}
