import Reconciliation
import Testing
import Domain

@Suite("Subscriptions and entitlements that only one side has")
struct PresenceCheckTests {
  @Test("An active subscription, absent or inactive in the snapshot, is ahead of the snapshot")
  func ahead() {
    var scenario = Scenario(
      stories: [.monthly(renewals: 1)], entitlements: [], capturedAt: "2026-02-20")
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT"])
    scenario.entitlements = [premium(active: false, .canceled)]
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT"])
    scenario.entitlements = [premium(active: false, until: "2026-03-01", .canceled)]
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT"])
    scenario.entitlements = [premium(until: "2026-03-01")]
    #expect(scenario.codes == [])
  }

  @Test("A refund reported after the snapshot explains the missing access")
  func refundReportedLater() {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-20T00:00:05", transaction: 101, price: -10)
    var scenario = Scenario(
      stories: [story], entitlements: [], capturedAt: "2026-02-20", asOf: "2026-02-21")
    #expect(scenario.codes == [])
    scenario.entitlements = [premium(active: false, until: "2026-02-20", .canceled)]
    #expect(scenario.codes == [])
  }

  @Test("An entitlement that ended early is one break before and after the paid end")
  func endedEarly() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(active: false, until: "2026-02-10", .canceled),
      at: "2026-02-20")
    let before = scenario.breaks
    #expect(before.map(\.code) == [.expiryMismatch])
    scenario.capturedAt = "2026-03-20"
    #expect(scenario.breaks.map(\.code) == [.expiryMismatch])
    #expect(scenario.breaks.map(\.id) == before.map(\.id))
  }

  @Test("A snapshot need not contain an ended lineage")
  func ended() {
    let scenario = Scenario(
      stories: [.monthly(renewals: 1)], entitlements: [], capturedAt: "2026-03-02T12:00:00")
    #expect(scenario.codes == [])
  }

  @Test("An account transfer is no break")
  func transfer() {
    var story = Story.monthly(renewals: 1)
    story.user = "bob"
    #expect(Scenario(stories: [story], entitlements: [], capturedAt: "2026-02-20").codes == [])
  }

  @Test("A new subscription missing from the snapshot is pending at first")
  func fresh() {
    let scenario = Scenario(
      stories: [.monthly(renewals: 0)], entitlements: [], capturedAt: "2026-01-01T10:00:00")
    #expect(scenario.breaks.map(\.status) == [.pending])
  }

  @Test("A snapshot user without any events is one break")
  func eventsAbsent() {
    var second = premium(until: "2026-03-01", started: "2026-01-05")
    second.id = "extra"
    var scenario = Scenario(
      entitlements: [premium(until: "2026-03-01", started: "2026-01-01"), second],
      capturedAt: "2026-02-20")
    #expect(scenario.codes == ["EVENTS_ABSENT"])
    #expect(scenario.breaks[0].user == "ada")
    #expect(scenario.breaks[0].severity == .medium)
    scenario.entitlements = [premium(until: "2026-03-01", started: "2025-03-01")]
    #expect(scenario.breaks.map(\.severity) == [.info])
    scenario.entitlements = [premium(active: false, until: "2025-11-01", started: "2025-10-01")]
    #expect(scenario.codes == [])
    var granted = premium(started: "2026-01-01")
    granted.grant = .manual
    scenario.entitlements = [granted]
    #expect(scenario.codes == [])
    scenario.entitlements = []
    #expect(scenario.codes == [])
  }

  @Test("The events of a user without any are expected a period before the end shown")
  func eventsAbsentByLength() {
    func found(_ end: String, _ length: PeriodLength?) -> Break? {
      Scenario(
        entitlements: [premium(until: end)], capturedAt: "2026-06-15T03:00:00",
        change: { $0.lengths["com.example.monthly"] = length }
      ).breaks.first { $0.code == .eventsAbsent }
    }
    let fresh = found("2026-07-15T02:40:00", .months(1))
    #expect(fresh?.expectedAt == at("2026-06-15T02:40:00"))
    #expect(fresh?.status == .pending)
    #expect(found("2026-07-10", .months(1))?.status == .open)
    // Not without a length, and not with one that does not fit.
    for length in [nil, .days(7)] as [PeriodLength?] {
      #expect(found("2026-07-15T02:40:00", length)?.expectedAt == nil)
      #expect(found("2026-07-15T02:40:00", length)?.status == .open)
    }
  }

  @Test("A FLOBUK purchase without any event may be older than the feed, and is information")
  func mayBeOlder() {
    for end in ["2026-03-01", nil] as [String?] {
      let scenario = Scenario(
        entitlements: [premium(until: end, product: "com.example.monthly")],
        capturedAt: "2026-02-20", provider: .flobuk,
        change: { $0.lengths["com.example.monthly"] = .months(1) })
      #expect(scenario.codes == ["EVENTS_ABSENT"])
      #expect(scenario.breaks[0].severity == .info)
      #expect(scenario.breaks[0].evidence.contains("it may have begun before the first event"))
    }
  }

  @Test("An ended listed purchase without events is a missing expiry, not absent events")
  func missingEnd() {
    let old = [bought(100, .started, "2025-10-10", until: "2025-12-10")]
    var scenario = Scenario(
      entitlements: [premium(active: false, until: "2025-12-10", .canceled, listing: old)],
      capturedAt: "2026-02-20")
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    #expect(scenario.breaks[0].subscription == "100")
    scenario.entitlements = [premium(active: false, until: "2025-11-30", .canceled, listing: old)]
    #expect(scenario.codes == [])
    for active in [true, false] {
      scenario.entitlements = [
        premium(active: active, until: "2025-12-10", .billingIssue, listing: old)
      ]
      #expect(!scenario.codes.contains("MISSED_EXPIRATION"), "the store still collects")
    }
  }

  @Test("A start that arrived later than the snapshot, with the shown date, is not missing")
  func bookedLater() {
    var story = Story()
    story.report(.started, "2026-01-02", until: "2026-02-01", price: 10) {
      $0.periodStart = at("2026-01-01")
    }
    let shown = premium(until: "2026-02-01", started: "2026-01-01")
    let scenario = Scenario(story, shown: shown, at: "2026-01-01T12:00:00", asOf: "2026-01-20")
    #expect(scenario.codes == [])
  }

  @Test("An entitlement that fits several lineages is counted and proves nothing")
  func unmatched() {
    var other = Story.monthly(renewals: 1)
    other.original = "200"
    let scenario = Scenario(
      stories: [.monthly(renewals: 1), other],
      entitlements: [premium(until: "2026-09-01", product: "unmapped")],
      capturedAt: "2026-02-20")
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.unmatchedEntitlements] == 1)
  }

  @Test("Without transactions, access in one store may come from a subscription in another")
  func oneEntitlementOfTwo() {
    var other = Story(original: "200")
    other.report(.started, "2026-01-20", until: "2026-03-20", transaction: 200, price: 10) {
      ($0.store, $0.product) = (.playStore, Story.yearly)
    }
    var shown = premium(until: "2026-03-20", product: "both")
    shown.store = .playStore
    var scenario = Scenario(
      stories: [.monthly(renewals: 1), other], entitlements: [shown], capturedAt: "2026-02-20"
    ) { $0.products = ["both": ["com.example.monthly", "com.example.yearly"]] }
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.unmatchedEntitlements] == 1)
    scenario.change = { $0.products = ["both": ["com.example.yearly"]] }
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT"])
    // A user cannot hold a product twice in one store.
    scenario.change = { $0.products = ["both": ["com.example.monthly", "com.example.yearly"]] }
    scenario.stories[1].events[0].store = .appStore
    scenario.entitlements?[0].store = .appStore
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT"])
    // Inactive, it matches no other subscription.
    shown = premium(active: false, until: "2026-01-20", .canceled, product: "both")
    shown.store = .playStore
    scenario = Scenario(.monthly(renewals: 1), shown: shown, at: "2026-02-20") {
      $0.products = ["both": ["com.example.monthly"]]
    }
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT"])
  }

  @Test("An entitlement of another product in another store hides no missing access")
  func otherProductAndStore() {
    func codes(_ product: String, _ store: Store) -> [String] {
      var shown = premium(until: "2026-03-10", product: product)
      shown.store = store
      return Scenario(
        stories: [.monthly(renewals: 1)], entitlements: [shown], capturedAt: "2026-02-20",
        change: allMapped
      ).codes
    }
    #expect(codes("yearly", .playStore) == ["AHEAD_OF_SNAPSHOT"])
    #expect(codes("monthly", .playStore) == [])
    #expect(codes("unmapped", .playStore) == [])
    #expect(codes("yearly", .appStore) == ["MISSED_PRODUCT_CHANGE"])
  }

  @Test("An active grant may replace a purchase in the snapshot, unless its product differs")
  func grantInPlace() {
    func codes(_ product: String, active: Bool) -> [String] {
      var granted = premium(active: active, nil, product: product)
      granted.grant = .manual
      return Scenario(.monthly(renewals: 1), shown: granted, at: "2026-02-20", change: allMapped)
        .codes
    }
    #expect(codes("", active: true) == [])
    #expect(codes("monthly", active: true) == [])
    #expect(codes("yearly", active: true) == ["AHEAD_OF_SNAPSHOT"])
    #expect(codes("", active: false) == ["AHEAD_OF_SNAPSHOT"])
  }

  @Test("A lifetime purchase of the same entitlement may hide a subscription")
  func lifetime() {
    func codes(active: Bool) -> [String] {
      let shown = premium(active: active, nil, product: "lifetime", started: "2026-02-10")
      return Scenario(.monthly(renewals: 1), shown: shown, at: "2026-02-20", change: allMapped)
        .codes
    }
    #expect(codes(active: true) == [])
    #expect(codes(active: false) == ["AHEAD_OF_SNAPSHOT"])
  }

  @Test("An entitlement that lists another lineage's purchase does not belong to this one")
  func otherLineage() {
    let other = bought(700, .started, "2026-02-01", until: "2026-03-01") { $0.originalID = "700" }
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01", listing: [other]), at: "2026-02-20"
    )
    #expect(scenario.codes == ["AHEAD_OF_SNAPSHOT", "MISSED_START"])
  }

  @Test("Without events, a user's app is the one that sells such a product in that store")
  func presumedApp() {
    var scenario = Scenario(
      entitlements: [
        premium(
          until: "2026-02-10",
          listing: [bought(100, .started, "2026-01-10", until: "2026-02-10")])
      ], capturedAt: "2026-01-20")
    func codes(sold: [(app: String, store: Store, product: String)]) -> [String] {
      scenario.change = { rules in
        rules.feeds.append(
          Watermark(
            of: Feed(provider: .qonversion, app: 0), app: "later", newest: at("2026-01-20"),
            begin: at("2026-01-15")))
        rules.sold = Set(
          sold.map {
            SoldProduct(
              provider: .qonversion, app: $0.app, store: $0.store, product: $0.product)
          })
      }
      return scenario.codes
    }
    let ours = (app: "app", store: Store.appStore, product: "com.example.monthly")
    let later = (app: "later", store: Store.appStore, product: "com.later.monthly")
    // If nothing identifies the app, every app must have begun.
    #expect(codes(sold: []) == [])
    #expect(codes(sold: [ours, later]) == ["MISSED_START"])
    #expect(scenario.breaks[0].app == "app")
    #expect(codes(sold: [ours, (app: "later", store: .appStore, product: ours.product)]) == [])
    scenario.entitlements?[0].product = "unmapped"
    #expect(codes(sold: [ours, later]) == [])
    #expect(
      codes(sold: [ours, (app: "later", store: .playStore, product: "p")]) == ["MISSED_START"])
  }

  @Test("Without an app, a missing start waits for the feeds that can report it")
  func unknownApp() {
    func status(newest: String) -> [BreakStatus] {
      let listed = [bought(100, .started, "2026-01-10", until: "2026-02-10")]
      return Scenario(
        entitlements: [premium(until: "2026-02-10", listing: listed)], capturedAt: "2026-01-20",
        watermark: newest
      ) {
        $0.feeds.append(
          Watermark(
            of: Feed(provider: .qonversion, app: 0), app: "other", newest: at("2026-01-05"),
            begin: at("2025-12-01")))
      }.breaks.map(\.status)
    }
    #expect(status(newest: "2026-01-20") == [.open])
    #expect(status(newest: "2026-01-10T06:00:00") == [.pending])
  }

  @Test("A purchase after the snapshot does not hide a start that the snapshot shows")
  func laterPurchase() {
    var coins = Story(original: "900")
    coins.report(.purchased, "2026-02-24", transaction: 900, price: 5, product: 3)
    let scenario = Scenario(
      coins, shown: premium(until: "2026-03-01", started: "2026-02-01"), at: "2026-02-20",
      asOf: "2026-03-10")
    #expect(scenario.codes == ["MISSED_START"])
  }
}
