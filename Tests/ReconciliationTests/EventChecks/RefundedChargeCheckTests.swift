import Reconciliation
import Testing
@testable import Domain
import Subscriptions

@Suite("A refund whose charge is missing")
struct RefundedChargeCheckTests {
  private func story(refunding transaction: Int64, charged: String) -> Story {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-20", transaction: transaction, price: -10) {
      $0.periodStart = at(charged)
    }
    return story
  }

  @Test("A refund of a charge that arrived is not a break")
  func known() {
    let scenario = Scenario(
      story(refunding: 101, charged: "2026-02-01"), shown: nil, at: "2026-03-20")
    #expect(scenario.codes == [])
  }

  @Test(
    "A refunded trial was not a charge, unless money was refunded", arguments: [nil, 0, -10])
  func trial(price: Int64?) {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-15", transaction: 100)
    story.report(.refunded, "2026-01-03", transaction: 100, price: price)
    story.report(.trialExpired, "2026-01-15", transaction: 100)
    let scenario = Scenario(story, shown: nil, at: "2026-03-20")
    #expect(scenario.codes == (price == -10 ? ["MISSED_START"] : []))
  }

  @Test("A refund of an unknown transaction proves a charge, dated and priced by the refund")
  func unknown() {
    let scenario = Scenario(
      story(refunding: 555, charged: "2026-02-15"), shown: nil, at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].transaction == "555")
    #expect(scenario.breaks[0].expectedAt == at("2026-02-15"))
    #expect(scenario.breaks[0].estimatedUSD == Amount(micros: 10_000_000))
  }

  @Test("A refund that does not date its renewal is of the unpaid time before it: one loss")
  func undated() {
    func breaks(_ story: Story, refunding transaction: Int64, _ day: String) -> [Break] {
      var story = story
      story.report(.refunded, day, transaction: transaction, price: -10) { $0.periodStart = nil }
      return Scenario(story, shown: premium(active: false, until: day, .canceled), at: "2026-09-20")
        .breaks
    }
    let between = breaks(
      .monthly(renewals: 3, without: [1], counted: false), refunding: 101, "2026-02-20"
    ).filter { $0.code.isCharge }
    #expect(between.map(\.expectedAt) == [at("2026-02-01")])
    #expect(between.map(\.transaction) == ["101"])
    let last = breaks(.monthly(renewals: 1, counted: false), refunding: 102, "2026-03-10")
    #expect(last.map(\.code) == [.missedRenewal])
    #expect(last.map(\.expectedAt) == [at("2026-03-01")])
  }

  @Test("The refund is the minimum estimate, unless exchange rates explain the difference")
  func least() {
    func estimate(_ price: Int64, of refunded: Int64) -> [Int64?] {
      var story = Story()
      story.report(.started, "2026-01-01", until: "2026-02-01", price: price)
      story.report(.refunded, "2026-02-20", transaction: 101, price: -refunded) {
        $0.periodStart = at("2026-02-01")
      }
      return Scenario(story, shown: nil, at: "2026-03-20").breaks
        .map { $0.estimatedUSD.map { $0.micros / 1_000_000 } }
    }
    #expect(estimate(100, of: 104) == [100])
    #expect(estimate(100, of: 106) == [106])
  }

  @Test("A refunded charge proves the renewals before it, unless something ended or failed before")
  func between() {
    func found(_ change: (inout Story) -> Void = { _ in }) -> [String] {
      var story = Story.monthly(renewals: 1)
      change(&story)
      story.report(.refunded, "2026-05-10", transaction: 555, price: -10) {
        $0.periodStart = at("2026-05-01")
      }
      let scenario = Scenario(story, shown: nil, at: "2026-05-20")
      return scenario.breaks.map { "\($0.missingEvents) \($0.expectedAt?.text ?? "")" }.sorted()
    }
    #expect(found() == ["1 2026-05-01T00:00:00Z", "2 2026-03-01T00:00:00Z"])
    #expect(
      found { $0.report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101) }.count == 1)
    #expect(found { $0.report(.billingRetry, "2026-03-01", transaction: 101) }.count == 1)
    let counted = found {
      $0.report(.renewed, "2026-03-01", until: "2026-05-01", transaction: 102, price: 20)
    }
    #expect(counted == ["1 2026-05-01T00:00:00Z"])
  }

  @Test("A charge before the app's first event is not missing, and explains no silence")
  func prehistory() {
    var story = story(refunding: 555, charged: "2025-11-15")
    func scenario() -> Scenario {
      Scenario(story, shown: nil, at: "2026-03-20")
    }
    #expect(scenario().codes == ["MISSED_RENEWAL"])
    #expect(scenario().breaks[0].expectedAt == at("2026-03-01"))
    story.report(.expired, "2026-03-01")
    #expect(scenario().codes == [])
    #expect(scenario().outcome.counts[.beforeFirstEvent] == 1)
  }

  @Test("A refund of the original transaction proves the start")
  func start() {
    var story = Story()
    story.report(.refunded, "2026-02-20", price: -10) { $0.periodStart = at("2026-02-01") }
    #expect(Scenario(story, shown: nil, at: "2026-03-20").codes == ["MISSED_START"])
  }

  @Test("A refund of a one-time purchase proves a purchase, whatever its id")
  func oneTime() {
    for transaction in [Int64(100), 555] {
      var story = Story()
      story.report(.purchaseRefunded, "2026-02-20", transaction: transaction, price: -10) {
        $0.periodStart = at("2026-02-01")
      }
      let scenario = Scenario(story, shown: nil, at: "2026-03-20")
      #expect(scenario.codes == ["MISSED_PURCHASE"], "\(transaction)")
    }
  }

  @Test("A snapshot that lists the refunded transaction adds no second break")
  func listed() {
    let transactions = [
      bought(100, .started, "2026-01-01", until: "2026-02-01"),
      bought(101, .renewed, "2026-02-01", until: "2026-03-01", revoked: "2026-02-20"),
    ]
    var story = Story.monthly(renewals: 0)
    story.report(.refunded, "2026-02-20", transaction: 101, price: -10)
    let scenario = Scenario(
      story, shown: premium(active: false, until: "2026-02-20", .canceled, listing: transactions),
      at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }

  @Test("A refund whose charge is missing hides no missing cancel of a later missing charge")
  func followed() {
    var story = Story.monthly(renewals: 0)
    story.report(.refunded, "2026-02-20", transaction: 101, price: -10) {
      $0.periodStart = at("2026-02-01")
    }
    var listed = monthlyTransactions(renewals: 2)
    listed[1].revokedAt = at("2026-02-20")
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-01", .canceled, listing: listed), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CANCEL", "MISSED_RENEWAL", "MISSED_RENEWAL"])
  }

  @Test("A refunded charge is a conversion only if it was paid within the gap after the trial")
  func afterTrial() {
    func codes(chargedAt day: String) -> [String] {
      var story = Story.trial
      story.report(.trialExpired, "2026-01-08", until: "2026-01-08")
      story.report(.refunded, "2026-03-20", transaction: 555, price: -10) {
        $0.periodStart = at(day)
      }
      return Scenario(story, shown: nil, at: "2026-04-20").codes
    }
    #expect(codes(chargedAt: "2026-01-08") == ["MISSED_CONVERSION"])
    #expect(codes(chargedAt: "2026-03-01") == ["MISSED_START"])
  }

  @Test("A refund of a purchase before the feed proves no product change")
  func refundOfOld() {
    var story = Story()
    story.report(.refunded, "2026-02-10", transaction: 100, price: -10) {
      $0.periodStart = at("2025-11-01")
    }
    func codes(changed day: String) -> [String] {
      Scenario(
        story,
        shown: premium(
          until: "2026-11-20", product: "yearly",
          listing: [
            bought(100, .started, "2025-11-01", until: "2025-11-20"),
            bought(101, .renewed, day, until: "2026-11-20"),
          ]), at: "2026-03-20", change: { $0.products["yearly"] = ["com.example.yearly"] }
      ).codes
    }
    #expect(codes(changed: "2025-11-20") == [])
    #expect(codes(changed: "2026-02-20") == ["MISSED_RENEWAL"])
  }

  @Test("The missing charge is for the refunded product and costs at least the refund")
  func givenBack() {
    func found(_ prices: [Int64], _ product: StringID) -> [Break] {
      var story = Story.monthly(renewals: 1)
      for (step, price) in prices.enumerated() {
        story.report(
          .refunded, "2026-02-2\(step)", transaction: 555, price: -price, product: product
        ) { $0.periodStart = at("2026-02-15") }
      }
      let scenario = Scenario(story, shown: nil, at: "2026-03-20")
      #expect(scenario.codes == ["MISSED_RENEWAL"])
      return scenario.breaks
    }
    let yearly = found([20], Story.yearly)
    #expect(yearly.map(\.product) == ["com.example.yearly"])
    #expect(yearly.map(\.estimatedUSD) == [Amount(micros: 20_000_000)])
    #expect(found([3, 4], Story.yearly).map(\.estimatedUSD) == [Amount(micros: 7_000_000)])
    #expect(found([3, 4], Story.monthly).map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    #expect(found([6, 6], Story.monthly).map(\.estimatedUSD) == [Amount(micros: 12_000_000)])
  }

  @Test("A listed charge still costs what its refund reports", arguments: [nil, 50])
  func listedAndGivenBack(usual: Int64?) {
    var story = Story(original: "700")
    if let usual { story.report(.purchased, "2026-01-02", transaction: 699, price: usual - 20) }
    story.report(
      .purchaseRefunded, "2026-01-20", transaction: 700, price: -50, product: Story.yearly)
    var purchase = bought(700, .oneTime, "2026-01-10", revoked: "2026-01-20")
    purchase.originalID = "700"
    let scenario = Scenario(
      story, shown: Entitlement(id: "coins", transactions: [purchase]), at: "2026-02-20")
    #expect(scenario.codes == ["MISSED_PURCHASE"])
    #expect(scenario.breaks.map(\.product) == ["com.example.yearly"])
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 50_000_000)])
    #expect(scenario.breaks.map(\.basis) == [.provider])
  }

  @Test("A missing purchase is estimated from others; US dollars need no exchange rate")
  func purchasePrice() {
    func estimate(in currency: String) -> [Amount?] {
      var purchase = Story(original: "700")
      purchase.report(.purchaseRefunded, "2026-02-10", transaction: 700)
      var scenario = Scenario(purchase, shown: nil, at: "2026-03-20")
      scenario.change = { rules in
        let paid = PaidPrice(
          product: PricedProduct(product: Story.monthly, store: .appStore, currency: 9),
          week: nil, price: Amount(micros: 5_000_000), full: nil)
        rules.prices = PaidPrices([paid: 4])
        for word in ["com.example.monthly", "2", "3", "4", "5", "6", "7", "8", currency] {
          _ = rules.strings.symbol(word)
        }
      }
      #expect(scenario.codes == ["MISSED_PURCHASE"])
      return scenario.breaks.map(\.estimatedUSD)
    }
    #expect(estimate(in: "USD") == [Amount(micros: 5_000_000)])
    #expect(estimate(in: "EUR") == [nil])
  }
}
