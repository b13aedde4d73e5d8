import Reconciliation
import Testing
import Domain

@Suite("Nothing is missing, although it may look so")
struct NothingLostTests {
  @Test("A subscription known only from its cancel and expiry has no missing cancel")
  func beforeTheFirstEvent() {
    var story = Story()
    story.reportEnd(canceled: "2026-01-10", until: "2026-01-18", transaction: 105)
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2026-01-18", .canceled, started: "2025-06-18"),
      at: "2026-02-20", firstEventAt: "2026-01-01")
    #expect(scenario.codes == [])
  }

  @Test("Grace that ended before the first event is neither a renewal nor a failed payment")
  func graceBeforeTheFirstEvent() {
    var story = Story()
    story.report(.canceled, "2026-02-25", until: "2025-12-22", transaction: 105)
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2025-12-28", .canceled, started: "2025-06-18"),
      at: "2026-03-20", firstEventAt: "2026-01-01")
    #expect(scenario.codes == [])
  }

  @Test("A list of purchases does not contain the grace of a failing payment")
  func graceInPurchases() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101) {
      $0.graceEnd = at("2026-03-17")
    }
    let scenario = Scenario(
      story,
      shown: premium(
        active: nil, until: "2026-03-01", .canceled, listing: monthlyTransactions(renewals: 1)),
      at: "2026-03-10")
    #expect(scenario.codes == [])
  }

  @Test("A subscription that ended by itself needs its expiry, which implies the cancel")
  func impliedCancel() {
    var scenario = Scenario(
      .monthly(renewals: 1), shown: premium(active: false, until: "2026-03-01", .canceled),
      at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_EXPIRATION"])
    scenario.stories[0].report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
    #expect(scenario.codes == [])
  }

  @Test("A change announced for the next renewal may be shown already or not")
  func announcedChange() {
    var story = Story.monthly(renewals: 1)
    story.report(.downgraded, "2026-02-10", until: "2026-03-01", transaction: 101, product: 2)
    for product in ["monthly", "yearly"] {
      let scenario = Scenario(
        story, shown: premium(until: "2026-03-01", product: product), at: "2026-02-20",
        change: allMapped)
      #expect(scenario.codes == [])
    }
  }

  @Test("A return after a lapse does not start a count if the first start was never seen")
  func comebackWithoutStart() {
    var story = Story()
    story.report(.started, "2026-01-05", until: "2026-02-05", transaction: 106, price: 10)
    story.report(.expired, "2026-02-05", until: "2026-02-05", transaction: 106)
    story.report(.started, "2026-03-05", until: "2026-04-05", transaction: 107, price: 10)
    story.report(.renewed, "2026-04-05", until: "2026-05-05", transaction: 108, price: 10, count: 6)
    let scenario = Scenario(
      story, shown: premium(until: "2026-05-05", started: "2025-06-05"), at: "2026-04-20",
      firstEventAt: "2026-01-01")
    #expect(scenario.codes == [])
  }

  @Test("A missing return under a known id does not start a count")
  func missingComeback() {
    var story = Story()
    story.report(.renewed, "2026-03-05", until: "2026-04-05", transaction: 107, price: 10, count: 6)
    let listed = [
      bought(100, .started, "2025-06-05", until: "2025-07-05"),
      bought(106, .started, "2026-02-05", until: "2026-03-05"),
      bought(107, .renewed, "2026-03-05", until: "2026-04-05"),
    ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-05", count: 6, listing: listed), at: "2026-03-20",
      firstEventAt: "2026-01-01")
    #expect(scenario.codes == ["MISSED_START"])
  }

  @Test("A higher price that starts with a renewal is not a break")
  func priceChange() {
    var story = Story.monthly(renewals: 3)
    for index in 2...3 { story.events[index].revenue?.usd = Amount(micros: 12_000_000) }
    let scenario = Scenario(
      story,
      shown: premium(until: "2026-05-01", count: 3, listing: monthlyTransactions(renewals: 3)),
      at: "2026-04-20")
    #expect(scenario.codes == [])
  }

  @Test("An upgrade that refunds the rest of the old period is no break and no missing refund")
  func upgradeWithRefund() {
    var story = Story.monthly(renewals: 0)
    story.report(.upgraded, "2026-01-20", transaction: 100, price: -4, product: Story.yearly)
    story.report(
      .upgraded, "2026-01-20T00:00:01", until: "2027-01-20", transaction: 101, price: 90,
      product: Story.yearly)
    var listed = [
      bought(100, .started, "2026-01-01", until: "2026-02-01", revoked: "2026-01-20"),
      bought(101, .started, "2026-01-20", until: "2027-01-20"),
    ]
    var scenario = Scenario(
      story, shown: premium(until: "2027-01-20", product: "yearly", listing: listed),
      at: "2026-02-20", change: allMapped)
    #expect(scenario.codes == [])
    listed[0].revokedAt = nil
    scenario.entitlements = [premium(until: "2027-01-20", product: "yearly", listing: listed)]
    #expect(scenario.codes == [])
  }

  @Test("Family-shared and granted access is never missing")
  func sharedAndGranted() {
    let shared = bought(100, .started, "2026-01-01", until: "2026-02-01") {
      $0.grant = .familySharing
    }
    var granted = premium(until: "2026-03-01", nil, started: "2026-01-01")
    granted.grant = .manual
    let scenario = Scenario(
      entitlements: [premium(until: "2026-02-01", listing: [shared]), granted],
      capturedAt: "2026-01-20")
    #expect(scenario.codes == [])
  }

  @Test("A snapshot older than a charge, or of the same moment, proves nothing about it")
  func olderSnapshot() {
    for captured in ["2026-02-28", "2026-03-01"] {
      let scenario = Scenario(
        .monthly(renewals: 2),
        shown: premium(until: "2026-03-01", listing: monthlyTransactions(renewals: 1)),
        at: captured, asOf: "2026-03-20")
      #expect(scenario.codes == [], "\(captured)")
    }
  }

  @Test("A lineage that another user holds, too, is checked once")
  func judgedOnce() {
    let story = Story.monthly(renewals: 3, without: [2])
    let lineages = [story.lineage(until: at("2026-04-20"))].compactMap(\.self)
    func codes() -> [String] {
      let user = ReconciliationInput(provider: .qonversion, user: "ada", lineages: lineages)
      let rules = ReconciliationSettings(fold: .init(asOf: at("2026-04-20")))
      return reconcile(user, rules: rules, checkStop: {}).breaks.map(\.code.rawValue)
    }
    #expect(codes() == ["MISSED_RENEWAL"])
    lineages[0].isHeldByAnotherUser = true
    #expect(codes() == [])
  }

  @Test("Reconciliation stops before each check when asked to")
  func stops() throws {
    struct Stop: Error {}
    let user = ReconciliationInput(provider: .qonversion, user: "ada")
    let rules = ReconciliationSettings(fold: .init(asOf: at("2026-04-20")))
    func looks(before: Int) throws -> (alone: Int, beside: Int) {
      var looks = 0
      func look() throws {
        looks += 1
        if looks > before { throw Stop() }
      }
      _ = try reconcile(user, rules: rules, checkStop: look)
      let alone = looks
      _ = try reconcile([user], webhook: user, rules: rules, checkStop: look)
      return (alone, looks - alone)
    }
    let all = try looks(before: .max)
    #expect(all.alone > 15 && all.beside > 15)
    for before in [0, all.alone - 1, all.alone, all.alone + all.beside - 1] {
      #expect(throws: Stop.self) { try looks(before: before) }
    }
  }
}
