import Reconciliation
import Testing
import Subscriptions
@testable import Domain

@Suite("What other providers do not send is no break")
struct OtherProviderTests {
  private func scenario(
    _ provider: Provider, _ story: Story, _ entitlements: [Entitlement]?, at capturedAt: String,
    store: Store = .appStore
  ) -> Scenario {
    var reported = story
    for index in reported.events.indices {
      reported.events[index].provider = provider
      reported.events[index].store = store
    }
    return Scenario(
      stories: [reported], entitlements: entitlements, capturedAt: capturedAt, provider: provider)
  }

  private func shown(until end: String, listing: [SnapshotTransaction] = []) -> Entitlement {
    var shown = premium(until: end, product: "com.example.monthly", listing: listing)
    shown.store = .unknown
    return shown
  }

  @Test("FLOBUK's renewals without user make no subscription of another store than Play silent")
  func flobuk() {
    let story = Story.monthly(renewals: 0, counted: false)
    let later = [shown(until: "2026-05-01")]
    #expect(scenario(.flobuk, story, later, at: "2026-04-20").codes == [])
    #expect(scenario(.flobuk, story, [], at: "2026-01-20").codes == [])
    let play = scenario(.flobuk, story, later, at: "2026-04-20", store: .playStore)
    #expect(play.codes == ["MISSED_RENEWAL"])
    #expect(play.breaks[0].missingEvents == 3)
  }

  @Test("What FLOBUK shows of a period that both sides know is compared in every store")
  func flobukRunning() {
    let story = Story.monthly(renewals: 0, counted: false)
    var canceled = shown(until: "2026-02-01")
    canceled.renewState = .canceled
    #expect(scenario(.flobuk, story, [canceled], at: "2026-01-20").codes == ["MISSED_CANCEL"])
    #expect(scenario(.flobuk, story, [canceled], at: "2026-02-20").codes == [])
  }

  @Test("An end that follows from a product's length is as inexact as the time of its charge")
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

  @Test("A change of product that names a renewal of another time does not report that renewal")
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

  @Test("Renewals of before the first event of the app are in a counter, and missed by nobody")
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

  @Test("Purple's changes of product leave open which of their products is shown")
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

  @Test("Purple has no word for the refund of a subscription, but for that of a purchase")
  func purpleRefund() {
    var listed = monthlyTransactions(renewals: 0)
    listed[0].revokedAt = at("2026-01-10")
    let story = Story.monthly(renewals: 0, counted: false)
    let refunded = scenario(
      .purple, story,
      [
        premium(
          active: false, until: "2026-01-10", .canceled, product: "com.example.monthly",
          listing: listed)
      ], at: "2026-01-20")
    #expect(refunded.codes == [])
    #expect(refunded.outcome.counts[.refundsNeverTold] == 1)
    var purchase = Story(original: "700")
    purchase.report(.purchased, "2026-01-05", transaction: 700)
    var coins = bought(700, .oneTime, "2026-01-05", revoked: "2026-01-10")
    coins.originalID = "700"
    let given = scenario(
      .purple, purchase, [Entitlement(id: "coins", transactions: [coins])], at: "2026-01-20")
    #expect(given.codes == ["MISSED_REFUND"])
  }

  @Test("FLOBUK has no word for a refund of anything, so none is waited for")
  func flobukRefund() {
    var listed = monthlyTransactions(renewals: 0)
    listed[0].revokedAt = at("2026-01-10")
    let refunded = scenario(
      .flobuk, Story.monthly(renewals: 0, counted: false),
      [
        premium(
          active: false, until: "2026-01-10", .canceled, product: "com.example.monthly",
          listing: listed)
      ], at: "2026-01-20")
    #expect(!refunded.codes.contains("MISSED_REFUND"))
    #expect(refunded.outcome.counts[.refundsNeverTold] == 1)
  }

  @Test("Purple's changes of product carry the transaction of the new period, and no money")
  func purpleChange() {
    var story = Story.monthly(renewals: 0, counted: false)
    let listed =
      monthlyTransactions(renewals: 0) + [bought(101, .started, "2026-01-20", until: "2027-01-20")]
    let yearly = premium(until: "2027-01-20", product: "com.example.yearly", listing: listed)
    #expect(scenario(.purple, story, [yearly], at: "2026-02-20").codes == ["MISSED_START"])
    story.report(.upgraded, "2026-01-20", transaction: 101, product: Story.yearly)
    #expect(scenario(.purple, story, [yearly], at: "2026-02-20").codes == [])
  }

  @Test("An end that Purple never sent is no mismatch; a later one still proves a renewal")
  func purpleEnds() {
    let story = Story.monthly(renewals: 0, counted: false)
    #expect(
      scenario(.purple, story, [shown(until: "2026-01-31T22:00:00")], at: "2026-01-20").codes == [])
    #expect(
      scenario(.purple, story, [shown(until: "2026-03-01")], at: "2026-02-20").codes
        == ["MISSED_RENEWAL"])
  }

  @Test("iaptic's last purchase of a product is judged by its transaction, and by its end alone")
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

  @Test(
    "Only Qonversion reports every end: silence of the others is none",
    arguments: [
      Provider.flobuk, .iaptic, .purple,
    ])
  func silence(of provider: Provider) {
    let story = Story.monthly(renewals: 1, counted: false)
    #expect(scenario(provider, story, nil, at: "2026-03-20").codes == [])
  }

  @Test("What iaptic's first bodies may have ended without a date is ahead of no snapshot")
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

  @Test("The purchase of a product that was left behind says nothing of the one that is held")
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

  @Test("An end at which a purchase that never came took its place is that one loss")
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

  @Test("A loss of Purple's is one break, though its events name no original transaction")
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

  @Test("A trial of Purple's that ended without its expiry is missed at the end that is shown")
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
