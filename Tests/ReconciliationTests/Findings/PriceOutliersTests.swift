import Domain
import Subscriptions
import Testing

@testable import Reconciliation

@Suite("Prices compared with what others paid in the same country")
struct PriceOutliersTests {
  private static let (poor, rich): (StringID, StringID) = (30, 31)

  private func paid(_ price: Int64, in country: StringID, by count: Int64) -> [PaidPrice: Int64] {
    [
      PaidPrice(
        product: PricedProduct(
          product: Story.monthly, store: .appStore, currency: 9, country: country),
        week: Week(of: at("2026-03-01")),
        price: Amount(micros: price * 1_000_000), full: nil): count
    ]
  }

  /// The breaks of a subscription that paid `prices` from January on, among others that pay 1 in
  /// one country and 10 in the other.
  private func codes(
    _ prices: [Int64], in country: StringID, beside others: Int64 = 20,
    listing listed: Int64? = nil, first: EventKind = .started, firsts: Int64 = 0,
    _ change: (inout Event) -> Void = { _ in }
  ) throws -> [String] {
    var story = Story()
    for (step, price) in prices.enumerated() {
      story.report(
        step == 0 ? first : .renewed, month(step + 1), until: month(step + 2),
        transaction: 100 + Int64(step), price: price
      ) {
        $0.country = country
        if step == 0 { change(&$0) }
      }
    }
    var rules = ReconciliationSettings(fold: FoldSettings(asOf: at(month(prices.count + 1))))
    if let listed {
      rules.fold.prices.add(
        PriceBook.Price(currency: 9, validFrom: at("2026-01-01"), local: Amount(micros: listed)),
        store: .appStore, product: Story.monthly)
    }
    var all: [PaidPrice: Int64] = [:]
    try SubscriptionHistory(events: story.events, rules: rules.fold).book(into: &all)
    var bought = paid(10, in: Self.rich, by: firsts)
    if let key = bought.keys.first {
      bought = [PaidPrice(product: key.product, week: nil, price: key.price, full: nil): firsts]
    }
    for more in [bought, paid(1, in: Self.poor, by: others), paid(10, in: Self.rich, by: others)] {
      all.merge(more) { $0 + $1 }
    }
    let lineage = try #require(story.lineage(until: rules.fold.asOf))
    return PriceOutliers(all).breaks(in: lineage, story.events, rules: rules).map(\.code.rawValue)
  }

  @Test("A price that is usual in one country is an outlier where others pay a tenth")
  func country() throws {
    #expect(try codes([1, 10, 1], in: Self.poor) == ["PRICE_OUTLIER"])
    #expect(try codes([10, 10, 10], in: Self.rich) == [])
  }

  @Test("A price in the price book is not an outlier")
  func listed() throws {
    #expect(try codes([1, 10, 1], in: Self.poor, listing: 10_000_000) == [])
    #expect(try codes([1, 10, 1], in: Self.poor, listing: 9_000_000) == ["PRICE_OUTLIER"])
  }

  @Test(
    "First charges and purchases are compared with others, and only higher ones are outliers",
    arguments: [EventKind.started, .trialConverted, .resubscribed, .purchased])
  func firsts(kind: EventKind) throws {
    func codes(
      _ prices: [Int64], beside firsts: Int64, listing: Int64? = nil,
      _ change: (inout Event) -> Void = { _ in }
    ) throws -> [String] {
      try self.codes(
        prices, in: Self.rich, beside: 0, listing: listing, first: kind, firsts: firsts, change)
    }
    #expect(try codes([1000], beside: 20) == ["PRICE_OUTLIER"])
    #expect(try codes([1000], beside: 18) == [])
    #expect(try codes([1000, 10], beside: 3) == ["PRICE_OUTLIER"])
    #expect(try codes([1000, 1000], beside: 20) == [])
    for price: Int64 in [0, 1, 40] { #expect(try codes([price], beside: 20) == []) }
    #expect(try codes([1000], beside: 20, listing: 1_000_000_000) == [])
    #expect(try codes([1000], beside: 20) { $0.offer = 7 } == [])
    #expect(try codes([1000], beside: 20) { $0.units = 100 } == [])
  }

  @Test("Three renewals are enough for a usual price, two are not")
  func fewRenewals() throws {
    #expect(try codes([10, 10, 10, 1000], in: Self.rich, beside: 0) == ["PRICE_OUTLIER"])
    #expect(try codes([10, 10, 10, 0], in: Self.rich, beside: 0) == ["PRICE_OUTLIER"])
    #expect(try codes([10, 10, 1000], in: Self.rich, beside: 0) == [])
    #expect(try codes([10, 10, 10, 40], in: Self.rich, beside: 0) == [])
  }
}
