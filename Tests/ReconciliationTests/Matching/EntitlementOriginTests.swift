import Reconciliation
import Testing
import Domain

@Suite("The subscription that an entitlement comes from")
struct EntitlementOriginTests {
  /// The yearly subscription in addition to the monthly one.
  private func yearly(
    _ id: String = "other", active: Bool = true, until end: String, started: String? = nil,
    listing transactions: [SnapshotTransaction] = []
  ) -> Entitlement {
    var right = premium(
      active: active, until: end, active ? .willRenew : .canceled, product: "yearly",
      started: started, listing: transactions)
    right.id = id
    return right
  }

  private let endedWeekly = Story.endedWeek(
    from: "2026-01-01", canceled: "2026-01-03", until: "2026-01-08")

  @Test(
    "A missing second purchase is one start, whatever its names and ends",
    arguments: ["2026-01-20", "2026-02-01", "2026-02-10", "2027-01-06"], ["a", "z"])
  func secondPurchase(end: String, id: String) {
    let scenario = Scenario(
      stories: [.monthly(renewals: 0)],
      entitlements: [
        premium(until: "2026-02-01", started: "2026-01-01"),
        yearly(id, until: end, started: "2026-01-06"),
      ], capturedAt: "2026-01-12", change: allMapped)
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.first?.product == "com.example.yearly")
    #expect(scenario.breaks.first?.expectedAt == at("2026-01-06"))
  }

  @Test("A second purchase before the first event does not affect the first purchase")
  func secondPurchaseBefore() {
    let scenario = Scenario(
      stories: [.monthly(renewals: 0)],
      entitlements: [
        premium(until: "2026-02-01", started: "2026-01-01"),
        yearly(until: "2026-11-20", started: "2025-11-20"),
      ], capturedAt: "2026-01-12", change: allMapped)
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.unmatchedEntitlements] == 1)
  }

  @Test("A reported trial is known, even if another product was bought after it")
  func trialOfAnotherProduct() {
    var story = Story.trial
    story.report(.trialCanceled, "2026-01-03", until: "2026-01-08")
    story.report(.trialExpired, "2026-01-08", until: "2026-01-08")
    story.report(
      .started, "2026-02-02", until: "2027-02-02", transaction: 101, price: 60,
      product: Story.yearly)
    var tried = premium(active: false, until: "2026-01-08", .canceled, started: "2026-01-01")
    (tried.id, tried.isTrial) = ("basic", true)
    var scenario = Scenario(
      stories: [story],
      entitlements: [tried, yearly(until: "2027-02-02", started: "2026-02-02")],
      capturedAt: "2026-06-10", change: allMapped)
    #expect(scenario.codes == [])
    scenario.stories[0].events.removeFirst(3)
    #expect(scenario.codes == ["MISSED_START"])
  }

  @Test("A listed renewal of a sandbox subscription is not missing in production")
  func sandboxRenewal() {
    var tested = Story(original: "200", environment: .sandbox)
    tested.report(.started, "2026-01-01", until: "2026-01-02", transaction: 200)
    var renewed = bought(201, .renewed, "2026-01-02", until: "2026-01-03")
    renewed.originalID = "200"
    let shown = premium(until: "2026-01-03", listing: [renewed])
    let scenario = Scenario(
      stories: [.monthly(renewals: 0), tested], entitlements: [shown], capturedAt: "2026-01-20")
    #expect(!scenario.codes.contains("MISSED_RENEWAL"))
  }

  @Test("An event that leaked into the sandbox does not move the rest of its subscription")
  func leak() {
    var leaked = Story(environment: .sandbox)
    leaked.report(.renewed, "2026-02-01", until: "2026-03-01", transaction: 101)
    let shown = premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2))
    let scenario = Scenario(
      stories: [.monthly(renewals: 2, without: [1]), leaked], entitlements: [shown],
      capturedAt: "2026-03-20")
    #expect(!scenario.codes.contains("AHEAD_OF_SNAPSHOT"))
  }

  @Test("A purchase with sandbox events is not missing in production")
  func sandboxPurchase() {
    var tested = Story(original: "200", environment: .sandbox)
    tested.report(
      .started, "2026-01-06", until: "2026-01-07", transaction: 200, product: Story.yearly)
    let scenario = Scenario(
      stories: [.monthly(renewals: 0), tested],
      entitlements: [
        premium(until: "2026-02-01", started: "2026-01-01"),
        yearly(until: "2026-01-13", started: "2026-01-06"),
      ], capturedAt: "2026-01-12", change: allMapped)
    #expect(scenario.codes == [])
  }

  @Test("Of two subscriptions, the one that nothing else explains changed its product")
  func changeBesideAnother() {
    var ended = premium(
      active: false, until: "2026-01-08", .canceled, product: "weekly", started: "2026-01-01")
    ended.id = "weeks"
    var scenario = Scenario(
      stories: [.monthly(renewals: 0), endedWeekly],
      entitlements: [ended, yearly(until: "2027-01-04", started: "2026-01-01")],
      capturedAt: "2026-02-25", change: allMapped)
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
    #expect(scenario.breaks.first?.subscription == "100")
    // The weekly one ended before the access began, even if the snapshot omits it.
    scenario.entitlements = [yearly(until: "2027-01-10", started: "2026-01-10")]
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
  }

  @Test("A product that ended early was replaced by the one that followed it")
  func replaced() {
    let scenario = Scenario(
      stories: [.monthly(renewals: 0)],
      entitlements: [
        premium(active: false, until: "2026-01-10", .canceled, started: "2026-01-01"),
        yearly(until: "2027-01-10", started: "2026-01-01"),
      ], capturedAt: "2026-01-25", change: allMapped)
    #expect(scenario.codes == ["MISSED_PRODUCT_CHANGE"])
  }

  @Test("The newest known transaction decides, and newer ones continue from it")
  func newestKnown() {
    let change = bought(300, .started, "2026-01-15", until: "2027-01-15") { $0.originalID = "300" }
    var scenario = Scenario(
      .monthly(renewals: 0),
      shown: yearly(
        until: "2027-01-15",
        listing: [bought(100, .started, "2026-01-01", until: "2026-01-15"), change]),
      at: "2026-01-20", change: allMapped)
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.first?.subscription == "300")
    #expect(scenario.breaks.first?.product == "com.example.yearly")
    // An older entitlement of the user does not replace it.
    scenario.stories.append(endedWeekly)
    scenario.entitlements?.append(
      premium(
        active: false, until: "2026-01-08", .canceled, product: "weekly",
        listing: [
          bought(200, .started, "2026-01-01", until: "2026-01-08") { $0.originalID = "200" }
        ]))
    #expect(scenario.codes == ["MISSED_START"])
  }

  @Test("An old webhook shows the subscription of its time, not a later one")
  func olderWebhook() {
    var (first, second) = (Story(original: "100"), Story(original: "500"))
    first.report(.started, "2026-01-01", until: "2026-02-01", price: 10)
    first.report(.refunded, "2026-01-20", price: -10)
    second.report(.started, "2026-06-01", until: "2026-07-01", transaction: 501, price: 10)
    func codes(_ stories: [Story]) -> [String] {
      var rules = ReconciliationSettings(fold: .init(asOf: at("2026-06-20")))
      rules.feeds = [
        Watermark(
          of: Feed(provider: .qonversion, app: 0), app: "app", newest: at("2026-06-20"),
          begin: at("2025-12-01"))
      ]
      allMapped(&rules)
      var sent = Snapshot(
        provider: .qonversion, user: "ada", capturedAt: at("2026-01-10"),
        entitlements: [premium(until: "2026-02-01", started: "2026-01-01")])
      sent.isOfWebhook = true
      var user = ReconciliationInput(
        provider: .qonversion, user: "ada",
        lineages: stories.compactMap { $0.lineage(until: at("2026-06-20")) })
      let alone = user
      user.snapshot = sent
      return reconcile([alone], webhook: user, rules: rules, checkStop: {})
        .breaks.map(\.code.rawValue)
    }
    #expect(codes([first, second]) == [])
    #expect(codes([second]) == ["MISSED_START"])
  }

  @Test("A transaction that was also sent to the sandbox is compared like the others")
  func copiedToSandbox() {
    var copy = Story(environment: .sandbox)
    copy.report(.renewed, "2026-02-01", until: "2026-03-01", transaction: 101)
    let listed = [
      bought(100, .started, "2026-01-01", until: "2026-02-01"),
      bought(101, .renewed, "2026-02-01", until: "2026-03-01", revoked: "2026-02-10"),
    ]
    let scenario = Scenario(
      stories: [.monthly(renewals: 1), copy],
      entitlements: [premium(active: false, until: "2026-02-10", .canceled, listing: listed)],
      capturedAt: "2026-02-20")
    #expect(scenario.codes.contains("MISSED_REFUND"))
    #expect(!scenario.codes.contains("AHEAD_OF_SNAPSHOT"))
  }
}
