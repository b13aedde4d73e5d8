import Reconciliation
import Testing
import Subscriptions
@testable import Domain

@Suite("Events that a provider does not send are not missing")
struct OtherProviderTests {
  private func scenario(
    _ provider: Provider, _ story: Story, _ entitlements: [Entitlement]?, at capturedAt: String,
    store: Store = .appStore
  ) -> Scenario {
    var reported = story
    for index in reported.events.indices { reported.events[index].store = store }
    return Scenario(
      stories: [reported], entitlements: entitlements, capturedAt: capturedAt, provider: provider)
  }

  private func shown(until end: String, listing: [SnapshotTransaction] = []) -> Entitlement {
    var shown = premium(until: end, product: "com.example.monthly", listing: listing)
    shown.store = .unknown
    return shown
  }

  @Test("FLOBUK's renewals without users are not missing in any store but Play")
  func flobuk() {
    let story = Story.monthly(renewals: 0, counted: false)
    let later = [shown(until: "2026-05-01")]
    #expect(scenario(.flobuk, story, later, at: "2026-04-20").codes == [])
    #expect(scenario(.flobuk, story, [], at: "2026-01-20").codes == [])
    let play = scenario(.flobuk, story, later, at: "2026-04-20", store: .playStore)
    #expect(play.codes == ["MISSED_RENEWAL"])
    #expect(play.breaks[0].missingEvents == 3)
  }

  @Test("For a period that both sides know, FLOBUK's snapshot is compared in every store")
  func flobukRunning() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.events[0].created = at("2026-01-01")
    var canceled = shown(until: "2026-02-01")
    canceled.renewState = .canceled
    #expect(scenario(.flobuk, story, [canceled], at: "2026-01-20").codes == ["MISSED_CANCEL"])
    #expect(scenario(.flobuk, story, [canceled], at: "2026-02-20").codes == [])
  }

  @Test("FLOBUK's oldest bodies, without creation time, are of charges: no other event is missing")
  func flobukChargesOnly() {
    let story = Story.monthly(renewals: 0, counted: false)
    for state in [RenewState.canceled, .billingIssue] {
      var later = shown(until: "2026-02-01")
      later.renewState = state
      #expect(scenario(.flobuk, story, [later], at: "2026-01-20").codes == [])
      later.isActive = false
      let ended = scenario(.flobuk, story, [later], at: "2026-02-20", store: .playStore)
      #expect(ended.codes == [])
    }
  }

  @Test("An end computed from a product's length is as imprecise as its charge's time")
  func derivedEnd() {
    let story = Story.monthly(renewals: 1, counted: false)
    func codes(_ provider: Provider, endedAt end: String, at now: String) -> [String] {
      var ended = shown(until: end)
      (ended.isActive, ended.renewState) = (false, .willRenew)
      return scenario(provider, story, [ended], at: now).codes
    }
    #expect(codes(.purple, endedAt: "2026-02-28T22:00:00", at: "2026-02-28T23:00:00") == [])
    let early = codes(.purple, endedAt: "2026-02-20", at: "2026-02-28T23:00:00")
    #expect(early == ["AHEAD_OF_SNAPSHOT"])
    let unended = codes(.purple, endedAt: "2026-03-01", at: "2026-02-28T23:00:00")
    #expect(unended == ["AHEAD_OF_SNAPSHOT"])
    let sent = codes(.iaptic, endedAt: "2026-02-28T22:00:00", at: "2026-02-28T23:00:00")
    #expect(sent == ["EXPIRY_MISMATCH"])
  }

  @Test("A product change that names a renewal of another time does not report that renewal")
  func namedByChange() {
    func codes(changedAt: String) -> [String] {
      var story = Story.monthly(renewals: 1, counted: false)
      story.report(.downgraded, changedAt, transaction: 102, product: Story.yearly) {
        $0.previousProduct = Story.monthly
      }
      let listed = monthlyTransactions(renewals: 2)
      return scenario(
        .purple, story, [shown(until: "2026-04-01", listing: listed)], at: "2026-03-20"
      ).codes
    }
    #expect(codes(changedAt: "2026-03-10") == ["MISSED_RENEWAL"])
    #expect(codes(changedAt: "2026-03-01") == [])
  }

  @Test("Renewals before the app's first event are in the counter and not missing")
  func beforeOurTime() {
    let story = Story.monthly(renewals: 1, counted: false)
    let earlier = [
      bought(98, .started, "2025-03-01", until: "2025-04-01"),
      bought(99, .renewed, "2025-04-01", until: "2025-05-01"),
    ]
    func counting(_ listed: [SnapshotTransaction]) -> [String] {
      var shown = shown(until: "2026-03-01", listing: listed + monthlyTransactions(renewals: 1))
      shown.renewsCount = 3
      return scenario(.purple, story, [shown], at: "2026-02-20").codes
    }
    #expect(counting(earlier) == [])
    #expect(counting([]) == ["MISSED_RENEWAL"])
  }

  @Test("Purple's product changes leave open which product is shown")
  func changes() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(.upgraded, "2026-01-10", product: Story.yearly) {
      $0.previousProduct = Story.monthly
    }
    story.report(.downgraded, "2026-02-10") { $0.previousProduct = Story.yearly }
    func codes(_ product: String) -> [String] {
      let shown = premium(until: "2027-01-10", product: product)
      return scenario(.purple, story, [shown], at: "2026-03-20").codes
    }
    #expect(codes("com.example.yearly").contains("MISSED_PRODUCT_CHANGE") == false)
    #expect(codes("com.example.weekly").contains("MISSED_PRODUCT_CHANGE"))
  }

  /// A start that the snapshot shows as refunded.
  private var refunded: Entitlement {
    premium(
      active: false, until: "2026-01-10", .canceled, product: "com.example.monthly",
      listing: [bought(100, .started, month(1), until: month(2), revoked: "2026-01-10")])
  }

  @Test("Purple does not send refunds of subscriptions, but sends those of purchases")
  func purpleRefund() {
    let story = Story.monthly(renewals: 0, counted: false)
    let found = scenario(.purple, story, [refunded], at: "2026-01-20")
    #expect(found.codes == [])
    #expect(found.outcome.counts[.refundsNotSent] == 1)
    var purchase = Story(original: "700")
    purchase.report(.purchased, "2026-01-05", transaction: 700)
    var coins = bought(700, .oneTime, "2026-01-05", revoked: "2026-01-10")
    coins.originalID = "700"
    let given = scenario(
      .purple, purchase, [Entitlement(id: "coins", transactions: [coins])], at: "2026-01-20")
    #expect(given.codes == ["MISSED_REFUND"])
  }

  @Test("FLOBUK does not send refunds, so none is missing")
  func flobukRefund() {
    let story = Story.monthly(renewals: 0, counted: false)
    let found = scenario(.flobuk, story, [refunded], at: "2026-01-20")
    #expect(!found.codes.contains("MISSED_REFUND"))
    #expect(found.outcome.counts[.refundsNotSent] == 1)
  }

  @Test("Purple's product changes have the transaction of the new period and no money")
  func purpleChange() {
    var story = Story.monthly(renewals: 0, counted: false)
    let listed =
      monthlyTransactions(renewals: 0) + [bought(101, .started, "2026-01-20", until: "2027-01-20")]
    let yearly = premium(until: "2027-01-20", product: "com.example.yearly", listing: listed)
    #expect(scenario(.purple, story, [yearly], at: "2026-02-20").codes == ["MISSED_START"])
    story.report(.upgraded, "2026-01-20", transaction: 101, product: Story.yearly)
    #expect(scenario(.purple, story, [yearly], at: "2026-02-20").codes == [])
  }

  @Test("An end that Purple never sent is not a mismatch; a later one still proves a renewal")
  func purpleEnds() {
    let story = Story.monthly(renewals: 0, counted: false)
    #expect(
      scenario(.purple, story, [shown(until: "2026-01-31T22:00:00")], at: "2026-01-20").codes == [])
    #expect(
      scenario(.purple, story, [shown(until: "2026-03-01")], at: "2026-02-20").codes
        == ["MISSED_RENEWAL"])
  }

  @Test("iaptic's last purchase of a product is compared by transaction, or else by end")
  func iaptic() {
    let story = Story.monthly(renewals: 1, counted: false)
    let last = bought(102, .unknown, "2026-03-01", until: "2026-04-01")
    let newer = [shown(until: "2026-04-01", listing: [last])]
    #expect(scenario(.iaptic, story, newer, at: "2026-03-20").codes == ["MISSED_RENEWAL"])
    let older = [shown(until: "2026-04-01")]
    #expect(scenario(.iaptic, story, older, at: "2026-03-20").codes == ["MISSED_RENEWAL"])
    let reported = Story.monthly(renewals: 2, counted: false)
    #expect(scenario(.iaptic, reported, newer, at: "2026-03-20").codes == [])
    #expect(scenario(.iaptic, reported, older, at: "2026-03-20").codes == [])
  }

  @Test("An end of iaptic's that no message reported is a missing expiry, not a cancel")
  func iapticEnd() {
    let story = Story.monthly(renewals: 1, counted: false)
    var ended = shown(until: "2026-03-01")
    (ended.isActive, ended.renewState) = (false, .canceled)
    let scenario = scenario(.iaptic, story, [ended], at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    #expect(scenario.breaks[0].expectedAt == at("2026-03-01"))
    (ended.isActive, ended.expiresAt) = (true, at("2026-03-01"))
    #expect(self.scenario(.iaptic, story, [ended], at: "2026-02-20").codes == ["MISSED_CANCEL"])
  }

  @Test(
    "Only Qonversion reports every end, so other providers' silence is no break",
    arguments: [
      Provider.flobuk, .iaptic, .purple,
    ])
  func silence(of provider: Provider) {
    let story = Story.monthly(renewals: 1, counted: false)
    #expect(scenario(provider, story, nil, at: "2026-03-20").codes == [])
  }

  @Test("A purchase that iaptic's first bodies may have ended undated is not ahead of the snapshot")
  func emptiedWithoutDate() {
    var story = Story.monthly(renewals: 0, counted: false)
    func outcome(undated: Bool) -> ReconciliationResult {
      var scenario = scenario(.iaptic, story, [], at: "2026-01-20")
      scenario.change = { $0.hasUndatedCollections = undated }
      return scenario.outcome
    }
    #expect(outcome(undated: true).breaks.map(\.code) == [.aheadOfSnapshot])
    for index in story.events.indices { story.events[index].transaction = 0 }
    #expect(outcome(undated: false).breaks.map(\.code) == [.aheadOfSnapshot])
    #expect(outcome(undated: true).breaks.isEmpty)
    #expect(outcome(undated: true).counts[.endsWithoutDate] == 1)
  }

  @Test("The purchase of a former product does not contradict the current one")
  func leftBehind() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(
      .started, "2026-02-01", until: "2027-02-01", transaction: 101, product: Story.yearly)
    let old = premium(
      active: false, until: "2026-02-01", .canceled, product: "com.example.monthly")
    #expect(scenario(.iaptic, story, [old], at: "2027-03-01").codes == [])
    #expect(scenario(.iaptic, story, [old], at: "2026-03-01").codes == ["AHEAD_OF_SNAPSHOT"])
    let other = premium(
      active: false, until: "2026-01-20", .canceled, product: "com.example.monthly")
    #expect(scenario(.iaptic, story, [other], at: "2027-03-01").codes.contains("PRODUCT_MISMATCH"))
  }

  @Test("An end at which a missing purchase replaced the product is that one loss")
  func replacedUnseen() {
    let story = Story.monthly(renewals: 0, counted: false)
    let old = premium(
      active: false, until: "2026-01-20", .canceled, product: "com.example.monthly",
      listing: [bought(100, .unknown, "2026-01-01", until: "2026-01-20")])
    func codes(newFrom start: String) -> [String] {
      let sale = bought(200, .unknown, start, until: "2027-01-20") { $0.originalID = "200" }
      let new = premium(until: "2027-01-20", product: "com.example.yearly", listing: [sale])
      return scenario(.iaptic, story, [old, new], at: "2026-01-25").codes
    }
    #expect(codes(newFrom: "2026-01-20") == ["MISSED_START"])
    #expect(codes(newFrom: "2026-01-22") == ["EXPIRY_MISMATCH", "MISSED_START"])
  }

  @Test("A loss at Purple is one break, although its events name no original transaction")
  func purpleLoss() {
    var story = Story(original: "103")
    for step in [0, 1, 3] {
      story.report(
        step == 0 ? .started : .renewed, month(step + 1), until: month(step + 2),
        transaction: 100 + Int64(step))
    }
    var shown = premium(
      until: "2026-05-01", product: "com.example.monthly",
      listing: monthlyTransactions(renewals: 3))
    shown.renewsCount = 3
    let lost = scenario(.purple, story, [shown], at: "2026-04-20")
    #expect(lost.codes == ["MISSED_RENEWAL"])
    #expect(lost.breaks.map(\.transaction) == ["102"])
    #expect(lost.breaks.map(\.subscription) == ["100"])
  }

  @Test("A Purple trial that ended without an expiry is missing it at the end shown")
  func purpleTrial() {
    var story = Story()
    story.report(.trialStarted, "2026-01-01")
    story.report(.trialCanceled, "2026-01-03")
    let trial = bought(100, .trialStarted, "2026-01-01", until: "2026-01-08")
    let shown = premium(
      active: false, until: "2026-01-08", .canceled, product: "com.example.monthly",
      listing: [trial])
    #expect(scenario(.purple, story, [shown], at: "2026-01-20").codes == ["MISSED_EXPIRATION"])
    story.report(.trialExpired, "2026-01-08")
    #expect(scenario(.purple, story, [shown], at: "2026-01-20").codes == [])
  }
}
