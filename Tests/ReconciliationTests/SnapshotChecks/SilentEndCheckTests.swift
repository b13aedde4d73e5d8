import Reconciliation
import Testing
import Subscriptions
import Domain

@Suite("Events that should have happened by calendar")
struct SilentEndCheckTests {
  @Test("Silence after an end with auto-renew is a missing renewal, worth a similar one")
  func renewal() {
    var scenario = Scenario(.monthly(renewals: 1), shown: nil, at: "2026-03-03T03:00:00")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    let found = scenario.breaks[0]
    #expect(found.status == .open)
    #expect(found.expectedAt == at("2026-03-01"))
    #expect(found.settlesAt == at("2026-03-02T03:00:00"))
    #expect(found.evidenceExpiresAt == at("2026-03-08"))
    #expect(found.missingEvents == 1)
    #expect(found.estimatedUSD == Amount(micros: 10_000_000))
    #expect(found.evidence.contains("2026-03-01T00:00:00Z"))
    scenario.capturedAt = "2026-03-03T02:59:59"
    #expect(scenario.codes == [])
  }

  @Test("When the next renewal is overdue, too, it is a missing expiry with the same id")
  func expiration() {
    var scenario = Scenario(.monthly(renewals: 1), shown: nil, at: "2026-03-20")
    let before = scenario.breaks
    scenario.capturedAt = "2026-04-03"
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    #expect(scenario.breaks.map(\.id) == before.map(\.id))
    #expect(scenario.breaks.map(\.estimatedUSD) == [nil])
  }

  @Test("Nothing follows what a product change replaced with another subscription, as Play does")
  func replaced() {
    func codes(
      _ shown: [Entitlement]?, previous product: StringID, price: Int64? = 20
    ) -> [String] {
      var next = Story(original: "200")
      next.report(
        .upgraded, "2026-01-20", until: "2026-06-20", transaction: 200, price: price,
        product: Story.yearly
      ) { $0.previousProduct = product }
      return Scenario(
        stories: [.monthly(renewals: 0), next], entitlements: shown,
        capturedAt: shown == nil ? "2026-02-20" : "2026-01-25", asOf: "2026-02-20",
        change: allMapped
      ).codes
    }
    let access = premium(until: "2026-06-20", product: "yearly", started: "2026-01-01")
    #expect(codes(nil, previous: Story.monthly) == [])
    #expect(codes([access], previous: Story.monthly) == [])
    #expect(codes(nil, previous: 3) == ["MISSED_RENEWAL"])
    #expect(codes([access], previous: 3) == ["AHEAD_OF_SNAPSHOT"])
    // The charge of a change that was not charged may be missing.
    #expect(codes(nil, previous: Story.monthly, price: nil).contains("MISSED_RENEWAL"))
  }

  @Test("Nothing follows what a missing start replaced if the snapshot shows only the new purchase")
  func replacedUnseen() {
    func codes(startedOn day: String) -> [String] {
      var next = Story(original: "200")
      next.report(
        .renewed, "2026-03-10", until: "2026-04-10", transaction: 201, price: 20,
        product: Story.yearly)
      return Scenario(
        stories: [.monthly(renewals: 1), next],
        entitlements: [premium(until: "2026-04-10", product: "yearly", started: day)],
        capturedAt: "2026-03-20", asOf: "2026-03-20", change: allMapped
      ).codes
    }
    #expect(codes(startedOn: "2026-02-10") == ["MISSED_START"])
    #expect(codes(startedOn: "2026-03-05") == ["MISSED_RENEWAL", "MISSED_START"])
  }

  @Test("A missing refund of an older charge does not explain silence")
  func olderRefund() {
    var listed = monthlyTransactions(renewals: 1)
    listed[0].revokedAt = at("2026-02-10")
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01", listing: listed),
      at: "2026-02-20", asOf: "2026-03-20")
    #expect(scenario.codes == ["MISSED_REFUND", "MISSED_RENEWAL"])
  }

  @Test("A credit for the old product in an upgrade does not explain silence")
  func credit() {
    var story = Story.monthly(renewals: 1)
    story.report(
      .upgraded, "2026-02-10", until: "2026-02-10", transaction: 300, price: -4,
      product: Story.yearly
    ) { $0.previousProduct = Story.monthly }
    #expect(Scenario(story, shown: nil, at: "2026-03-20").codes == ["MISSED_RENEWAL"])
  }

  @Test("Silence after a trial is its missing conversion")
  func conversion() {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08") {
      $0.price = Price(local: Amount(micros: 9_000_000), usd: Amount(micros: 10_000_000))
    }
    var scenario = Scenario(story, shown: nil, at: "2026-01-12")
    #expect(scenario.codes == ["MISSED_CONVERSION"])
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    scenario.stories[0].report(.trialCanceled, "2026-01-05", until: "2026-01-08")
    #expect(scenario.codes == [])
  }

  @Test(
    "A snapshot before the gap has passed neither hides silence nor names the missing event",
    arguments: ["2026-02-20", "2026-03-01T01:00:00", "2026-03-01T23:59:59"])
  func shown(_ moment: String) {
    var scenario = Scenario(
      stories: [.monthly(renewals: 1)], entitlements: [], capturedAt: moment, asOf: "2026-03-20")
    let isOn = at(moment) < at("2026-03-01")
    for shown in Self.over(isOn) {
      scenario.entitlements = shown
      #expect(scenario.codes == ["MISSED_RENEWAL"])
      #expect(scenario.outcome.churnInDoubt.count == 1)
    }
    scenario.entitlements = []
    #expect(scenario.codes == [isOn ? "AHEAD_OF_SNAPSHOT" : "MISSED_RENEWAL"])
  }

  @Test("A later snapshot without access shows a missing expiry, with the same id and worth 0")
  func shownOver() {
    var scenario = Scenario(.monthly(renewals: 1), shown: nil, at: "2026-03-20")
    let silent = scenario.breaks
    #expect(silent.map(\.code) == [.missedRenewal])
    scenario.asOf = "2026-03-20"
    scenario.capturedAt = "2026-03-02"
    for shown in Self.over(false) + [[]] {
      scenario.entitlements = shown
      #expect(scenario.codes == ["MISSED_EXPIRATION"])
      #expect(scenario.breaks.map(\.id) == silent.map(\.id))
      #expect(scenario.breaks.map(\.estimatedUSD) == [.zero])
      #expect(scenario.breaks.map(\.severity) == [.low])
      #expect(scenario.outcome.churnInDoubt.count == 1)
    }
  }

  private static func over(_ isOn: Bool) -> [[Entitlement]] {
    [
      [premium(active: isOn, until: "2026-03-01")],
      [premium(active: isOn, until: "2026-03-01", nil)],
      [premium(active: nil, until: "2026-03-01", listing: monthlyTransactions(renewals: 1))],
    ]
  }

  @Test("An entitlement of a new subscription that lists the silent one shows its expiry")
  func followed() {
    var next = Story(original: "200")
    next.report(.started, "2026-03-10", until: "2026-04-10", transaction: 200, price: 10)
    let bought200 = bought(200, .started, "2026-03-10", until: "2026-04-10") {
      $0.originalID = "200"
    }
    var scenario = Scenario(
      stories: [.monthly(renewals: 1), next],
      entitlements: [
        premium(until: "2026-04-10", listing: monthlyTransactions(renewals: 1) + [bought200])
      ], capturedAt: "2026-03-19", asOf: "2026-03-20")
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    // The entitlement may belong to both.
    scenario.entitlements = [premium(until: "2026-04-10")]
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }

  @Test("An unreported cancel in the snapshot explains the silence after it")
  func canceledUnreported() {
    let scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01", .canceled), at: "2026-02-20",
      asOf: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CANCEL"])
  }

  @Test("Only a snapshot after the end can show which event is missing")
  func snapshot() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(until: "2026-03-01"), at: "2026-02-20",
      asOf: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    scenario.capturedAt = "2026-03-19"
    scenario.entitlements = [premium(active: false, until: "2026-03-01", .canceled)]
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    #expect(scenario.breaks[0].evidence.contains("the snapshot shows"))
  }

  @Test("An end that another check explains is not reported twice")
  func consumed() {
    let scenario = Scenario(
      .monthly(renewals: 1),
      shown: premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2)),
      at: "2026-03-01T12:00:00", asOf: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].transaction == "102")
  }

  @Test("If a whole feed is silent, single ends prove nothing")
  func stale() throws {
    let events = Story.monthly(renewals: 1).events
    var rules = FoldSettings(asOf: at("2026-03-20"))
    let feed = Feed(provider: .qonversion, app: 0)
    rules.watermarks[feed] = Watermark(
      of: feed, newest: at("2026-02-20"), begin: at("2025-12-01"))
    let history = try SubscriptionHistory(events: events, rules: rules)
    #expect(history.state?.unansweredEnd == nil)
    #expect(!history.provesMissingEvent(since: Instant(milliseconds: .max)))
  }

  @Test("A change that names the replaced product without its base plan replaces it")
  func replacedBasePlan() {
    var old = Story(original: "300")
    old.report(
      .started, "2026-01-10", until: "2026-02-10", transaction: 300, price: 10, product: 4)
    var new = Story(original: "400")
    new.report(
      .upgraded, "2026-01-25", until: "2026-02-25", transaction: 400, price: 20,
      product: Story.yearly
    ) { $0.previousProduct = 5 }
    #expect(Scenario(stories: [old, new], entitlements: nil, capturedAt: "2026-02-20").codes == [])
  }
}
