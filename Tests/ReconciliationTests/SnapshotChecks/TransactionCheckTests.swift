import Reconciliation
import Testing
@testable import Domain

@Suite("A transaction in a snapshot without its event")
struct TransactionCheckTests {
  @Test("Transactions with all their charges are not a break")
  func complete() {
    let scenario = Scenario(
      .monthly(renewals: 2),
      shown: premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2)),
      at: "2026-03-20")
    #expect(scenario.codes == [])
  }

  @Test("A missing start, renewal or purchase is named by the transaction's own type")
  func names() {
    var scenario = Scenario(
      .monthly(renewals: 2, without: [1]),
      shown: premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2)),
      at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.first?.transaction == "101")
    #expect(scenario.breaks.first?.subscription == "100")
    #expect(scenario.breaks.first?.product == "com.example.monthly")
    #expect(scenario.breaks.first?.estimatedUSD == Amount(micros: 10_000_000))
    #expect(scenario.breaks.first?.basis == .provider)
    scenario.stories = [.monthly(renewals: 2, without: [0])]
    #expect(scenario.codes == ["MISSED_START"])
    scenario.stories = []
    scenario.entitlements = [
      Entitlement(id: "coins", transactions: [bought(100, .oneTime, "2026-02-01")])
    ]
    #expect(scenario.codes == ["MISSED_PURCHASE"])
  }

  @Test("A transaction in two entitlements belongs to the subscription that one of them names")
  func originalOfOneListing() {
    let alone = SnapshotTransaction(
      id: "101", kind: .renewed, at: at("2026-02-01"), expiresAt: at("2026-03-01"))
    var named = alone
    named.originalID = "100"
    for pair in [[alone, named], [named, alone]] {
      var entitlements = pair.map { premium(until: "2026-03-01", listing: [$0]) }
      entitlements[1].id = "second"
      let scenario = Scenario(
        stories: [.monthly(renewals: 0)], entitlements: entitlements, capturedAt: "2026-02-20")
      #expect(scenario.codes == ["MISSED_RENEWAL"])
      #expect(scenario.breaks.map(\.subscription) == ["100"])
    }
  }

  @Test("A missing renewal is worth another renewal, not the offer of the start")
  func estimatedByRenewals() {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: 5, count: 0)
    story.report(.renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10, count: 2)
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-01", listing: monthlyTransactions(renewals: 2)),
      at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.first?.estimatedUSD == Amount(micros: 10_000_000))
  }

  @Test("A missing trial start is worth nothing, and the next charge is a conversion")
  func trial() {
    let trial = bought(100, .trialStarted, "2026-01-01", until: "2026-01-08")
    let paid = bought(101, .started, "2026-01-08", until: "2026-02-08")
    let scenario = Scenario(
      entitlements: [premium(until: "2026-02-08", listing: [trial, paid])], capturedAt: "2026-01-20"
    )
    #expect(scenario.codes == ["MISSED_CONVERSION", "MISSED_START"])
    let start = scenario.breaks.first { $0.code == .missedStart }
    #expect(start?.estimatedUSD == .zero)
    #expect(start?.severity == .info)
    #expect(scenario.breaks.first { $0.code == .missedConversion }?.estimatedUSD == nil)
  }

  @Test("An id that only a cancel has is still missing its charge")
  func otherKinds() {
    var story = Story.monthly(renewals: 1, without: [1])
    story.report(.canceled, "2026-02-10", until: "2026-03-01", transaction: 101)
    let scenario = Scenario(
      story,
      shown: premium(until: "2026-03-01", .canceled, listing: monthlyTransactions(renewals: 1)),
      at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].evidence.contains("none is its charge"))
  }

  @Test("Of purchases without a type, the first is the start and later ones are renewals")
  func untyped() {
    let purchases = (0...2).map { step in
      premium(
        active: nil, until: month(step + 2), nil,
        listing: [bought(100 + step, .unknown, month(step + 1), until: month(step + 2))])
    }
    var scenario = Scenario(entitlements: purchases, capturedAt: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL", "MISSED_RENEWAL", "MISSED_START"])
    scenario.stories = [.monthly(renewals: 1)]
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    scenario.entitlements = [
      Entitlement(
        id: "9", transactions: [bought(900, .unknown, "2026-02-01") { $0.originalID = "" }])
    ]
    scenario.stories = []
    #expect(scenario.codes == ["MISSED_PURCHASE"])
    #expect(scenario.breaks[0].subscription == "900")
  }

  @Test("Sandbox, family-shared and granted transactions are counted and never missing")
  func excluded() {
    var granted = premium(until: "2026-04-01", listing: [bought(7, .started, "2026-02-01")])
    granted.grant = .manual
    var shared = granted
    shared.grant = .familySharing
    let scenario = Scenario(
      entitlements: [
        granted, shared,
        premium(listing: [bought(1, .started, "2026-02-01") { $0.environment = .sandbox }]),
        premium(listing: [bought(2, .started, "2026-02-01") { $0.grant = .familySharing }]),
      ], capturedAt: "2026-03-20")
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.manualGrants] == 1)
    #expect(scenario.outcome.counts[.familyShares] == 2)
    #expect(scenario.outcome.counts[.sandbox] == 1)
  }

  @Test("A transaction with sandbox events is in the sandbox, even if the snapshot does not say so")
  func sandboxByEvents() {
    var story = Story(environment: .sandbox)
    story.report(.started, "2026-02-01", until: "2026-02-02")
    let scenario = Scenario(
      story, shown: premium(active: nil, nil, listing: [bought(100, .unknown, "2026-02-01")]),
      at: "2026-03-20")
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.sandbox] == 1)
  }

  @Test("Transactions before the app's first event are not missing")
  func beforeFirstEvent() {
    var story = Story()
    for step in 2...3 {
      story.report(
        .renewed, month(step), until: month(step + 1), transaction: 99 + Int64(step), price: 10,
        count: Int32(step - 1))
    }
    let scenario = Scenario(
      story,
      shown: premium(until: "2026-04-01", count: 2, listing: monthlyTransactions(renewals: 2)),
      at: "2026-03-20", firstEventAt: "2026-01-15")
    #expect(scenario.codes == [])
    #expect(scenario.outcome.counts[.beforeFirstEvent] == 1)
  }

  @Test("A revoked transaction without a refund event is a missing refund of its price")
  func revoked() {
    var transactions = monthlyTransactions(renewals: 1)
    transactions[1].revokedAt = at("2026-02-10")
    var scenario = Scenario(
      .monthly(renewals: 1),
      shown: premium(active: false, until: "2026-02-10", .canceled, listing: transactions),
      at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_REFUND"])
    #expect(scenario.breaks[0].estimatedUSD == Amount(micros: -10_000_000))
    scenario.stories[0].report(.refunded, "2026-02-10", transaction: 101, price: -10)
    #expect(scenario.codes == [])
  }

  @Test("A missing refund of an older period is only money, and hides no missing cancel")
  func revokedBefore() {
    var transactions = monthlyTransactions(renewals: 1)
    transactions[0].revokedAt = at("2026-02-10")
    func codes(_ renewal: RenewState) -> [String] {
      Scenario(
        .monthly(renewals: 1), shown: premium(until: "2026-03-01", renewal, listing: transactions),
        at: "2026-02-20"
      ).codes
    }
    #expect(codes(.willRenew) == ["MISSED_REFUND"])
    #expect(codes(.canceled).sorted() == ["MISSED_CANCEL", "MISSED_REFUND"])
  }

  @Test("A missing refund is only money if the list shows a later charge, missing too")
  func revokedBeforeMissing() {
    var transactions = monthlyTransactions(renewals: 2)
    transactions[1].revokedAt = at("2026-02-10")
    let scenario = Scenario(
      .monthly(renewals: 1),
      shown: premium(until: "2026-04-01", .canceled, listing: transactions), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CANCEL", "MISSED_REFUND", "MISSED_RENEWAL"])
  }

  /// A monthly subscription and its second purchase in June, which took over its original id.
  private func movedHistory(original: String) -> Scenario {
    var story = Story(original: original)
    story.report(.started, "2026-01-01", until: "2026-02-01", transaction: 100, price: 10)
    story.report(.started, "2026-06-01", until: "2026-07-01", transaction: 300, price: 10)
    let second = bought(300, .started, "2026-06-01", until: "2026-07-01") { $0.originalID = "300" }
    return Scenario(
      story,
      shown: premium(until: "2026-07-01", listing: monthlyTransactions(renewals: 1) + [second]),
      at: "2026-06-10")
  }

  @Test("A listed transaction belongs to its own original id, whatever was bought later")
  func ownOriginal() {
    let (before, after) = (movedHistory(original: "100"), movedHistory(original: "300"))
    #expect(after.codes == ["MISSED_RENEWAL"])
    #expect(after.breaks.map(\.subscription) == ["100"])
    #expect(after.breaks.map(\.id) == before.breaks.map(\.id))
    // Its period covers the end of the first purchase.
    #expect(after.outcome.churnInDoubt.map(\.at) == [at("2026-02-01")])
  }

  @Test("An entitlement's product is that of its newest transaction")
  func productOfOlder() {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: 10)
    story.report(
      .started, "2026-04-01", until: "2027-04-01", transaction: 300, price: 60,
      product: Story.yearly)
    let newer = bought(300, .started, "2026-04-01", until: "2027-04-01") { $0.originalID = "300" }
    let scenario = Scenario(
      story,
      shown: premium(
        until: "2027-04-01", product: "yearly",
        listing: monthlyTransactions(renewals: 1) + [newer]),
      at: "2026-04-10", change: { $0.products = ["yearly": ["com.example.yearly"]] })
    #expect(scenario.breaks.map(\.product) == ["com.example.monthly"])
  }

  @Test("A listed transaction without type is free if an event reports its trial")
  func trialByEvent() {
    for kind in [EventKind.trialCanceled, .trialBillingRetry, .trialExpired] {
      var story = Story()
      story.report(kind, "2026-01-08", until: "2026-01-08") { $0.periodStart = at("2026-01-01") }
      let listed = bought(100, .unknown, "2026-01-01", until: "2026-01-08")
      let breaks = Scenario(
        story, shown: premium(active: nil, until: "2026-01-08", listing: [listed]), at: "2026-01-10"
      ).breaks.filter { $0.code.isCharge }
      #expect(breaks.map(\.code) == [.missedStart])
      #expect(breaks.map(\.estimatedUSD) == [.zero])
    }
  }

  @Test("A free purchase listed after a payment is one free renewal, and no trial")
  func freeRenewal() {
    let listed = monthlyTransactions(renewals: 3).map { sold in
      var sold = sold
      sold.kind = sold.id == "102" ? .free : .unknown
      return sold
    }
    let scenario = Scenario(
      .monthly(renewals: 3, without: [2]), shown: premium(until: "2026-05-01", listing: listed),
      at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks.map(\.estimatedUSD) == [.zero])
  }

  @Test("A list that names the price decides what a missing charge was worth")
  func listedPrice() {
    func worth(_ currency: String) -> [Amount?] {
      let listed = monthlyTransactions(renewals: 1).map { sold in
        var sold = sold
        (sold.price, sold.currency) = (Amount(micros: 4_990_000), currency)
        return sold
      }
      return Scenario(
        .monthly(renewals: 1, without: [1]), shown: premium(until: "2026-03-01", listing: listed),
        at: "2026-02-20"
      ).breaks.map(\.estimatedUSD)
    }
    #expect(worth("USD") == [Amount(micros: 4_990_000)])
    // Without an exchange rate, it is that of another charge.
    #expect(worth("SEK") == [Amount(micros: 10_000_000)])
  }

  @Test("A trial may be a charge of a provider that marks no trials")
  func unmarkedTrial() {
    let listed = [bought(100, .trialStarted, "2026-01-01", until: "2026-02-01")]
    for (provider, codes) in [(Provider.flobuk, []), (.qonversion, ["MISSED_START"])] {
      let scenario = Scenario(
        .monthly(renewals: 0), shown: premium(until: "2026-02-01", listing: listed),
        at: "2026-01-20", provider: provider)
      #expect(scenario.codes == codes)
    }
  }
}
