import Testing
import Vocabulary

@testable import Timeline

@Suite("Charges whose amounts only the price list knows")
struct ListedPriceTests {
  private static let euro: Symbol = 11
  private static let pound: Symbol = 12

  /// A month of a product listed at 9.99 euros and 10.80 dollars, and what is given back of it.
  private func life(
    _ refund: Revenue?, currency: Symbol = 0, listed: [PriceBook.Price]? = nil
  ) throws -> Life {
    var feed = Telling(.iaptic)
    feed.tell(.started, "2026-01-10") {
      $0.periodEnd = at("2026-02-10")
      $0.revenue = currency == 0 ? nil : Revenue(currency: currency, isProceed: false)
    }
    feed.tell(.refunded, "2026-01-12") { $0.revenue = refund }
    var rules = Rules(asOf: at("2026-01-20"))
    let euros = PriceBook.Price(
      currency: Self.euro, validFrom: at("2026-01-01"), local: usd("9.99"), usd: usd("10.80"),
      rate: usd("85"))
    for price in listed ?? [euros] {
      rules.prices.add(price, store: .unknown, product: Telling.monthly)
    }
    return try #require(try lives(of: feed.events, rules: rules).first)
  }

  private func facts(_ life: Life) throws -> BookedLives { try BookedLives([life]) }

  @Test("A refund of the listed amount is whole, whatever it is in US dollars")
  func whole() throws {
    for dollars in ["10.80", "11"] {
      let refund = Revenue(local: usd("9.99"), usd: usd(dollars), currency: Self.euro)
      let facts = try facts(life(refund))
      #expect(facts.total(\.refundsUSD) == "10.80" && facts.total(\.proceedsUSD) == "0.00")
      #expect(facts.revenue.keys.allSatisfy { $0.basis == .priceBook })
      #expect(facts.days(.churnedRefund) == ["2026-01-12"])
    }
  }

  @Test("A refund of less than the listed amount is money alone")
  func partial() throws {
    let facts = try facts(
      life(Revenue(local: usd("4"), usd: usd("4.30"), currency: Self.euro)))
    #expect(facts.total(\.refundsLocal) == "4.00" && facts.total(\.refundsUSD) == "4.30")
    #expect(facts.days(.churnedRefund).isEmpty)
  }

  @Test("A refund in another currency than the listed one is told, and not booked in its row")
  func foreign() throws {
    let part = try life(Revenue(local: usd("4"), usd: usd("5.10"), currency: Self.pound))
    #expect(part.findings.map(\.code) == [.currencyMismatch])
    let refunds = try facts(part).revenue.filter { $0.value.refunds != 0 }
    #expect(refunds.keys.map(\.currency) == [Self.euro])
    #expect(refunds.values.map(\.refundsLocal.unknown) == [1])
    #expect(refunds.values.map(\.refundsUSD.sum) == [usd("5.10")])
  }
}
