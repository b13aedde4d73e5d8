import Testing
import Domain

@testable import Subscriptions

@Suite("Charges with amounts from the price book alone")
struct ListedPriceTests {
  private static let euro: StringID = 11
  private static let pound: StringID = 12

  /// A month of a product listed at 9.99 euros and 10.80 dollars, with a refund.
  private func history(
    _ refund: Revenue?, currency: StringID = 0, listed: [PriceBook.Price]? = nil
  ) throws -> SubscriptionHistory {
    var feed = StateFeed(.iaptic)
    feed.report(.started, "2026-01-10") {
      $0.periodEnd = at("2026-02-10")
      $0.revenue = currency == 0 ? nil : Revenue(currency: currency, isProceed: false)
    }
    feed.report(.refunded, "2026-01-12") { $0.revenue = refund }
    var rules = FoldSettings(asOf: at("2026-01-20"))
    let euros = PriceBook.Price(
      currency: Self.euro, validFrom: at("2026-01-01"), local: usd("9.99"), usd: usd("10.80"),
      rate: usd("85"))
    for price in listed ?? [euros] {
      rules.prices.add(price, store: .unknown, product: StateFeed.monthly)
    }
    return try #require(try histories(of: feed.events, rules: rules).first)
  }

  private func facts(_ history: SubscriptionHistory) throws -> BookedHistories {
    try BookedHistories([history])
  }

  @Test("A refund of the listed amount is a whole refund, whatever its US dollars")
  func whole() throws {
    for dollars in ["10.80", "11"] {
      let refund = Revenue(local: usd("9.99"), usd: usd(dollars), currency: Self.euro)
      let facts = try facts(history(refund))
      #expect(facts.total(\.refundsUSD) == "10.80" && facts.total(\.proceedsUSD) == "0.00")
      #expect(facts.revenue.keys.allSatisfy { $0.basis == .priceBook })
      #expect(facts.days(.churnedRefund) == ["2026-01-12"])
    }
  }

  @Test("If a charge has no currency, the price that began last counts in its own currency")
  func latest() throws {
    let dollars = PriceBook.Price(validFrom: at("2025-01-01"), usd: usd("10"))
    let euros = PriceBook.Price(
      currency: Self.euro, validFrom: at("2026-01-01"), local: usd("12"), usd: usd("13"))
    for listed in [[dollars, euros], [euros, dollars]] {
      #expect(try facts(history(nil, listed: listed)).total(\.refundsUSD) == "13.00")
    }
  }

  @Test("A refund below the listed amount is only money")
  func partial() throws {
    let facts = try facts(
      history(Revenue(local: usd("4"), usd: usd("4.30"), currency: Self.euro)))
    #expect(facts.total(\.refundsLocal) == "4.00" && facts.total(\.refundsUSD) == "4.30")
    #expect(facts.days(.churnedRefund).isEmpty)
  }

  @Test("A refund in another currency is reported, and its local amount is not booked")
  func foreign() throws {
    let part = try history(Revenue(local: usd("4"), usd: usd("5.10"), currency: Self.pound))
    #expect(part.findings.map(\.code) == [.currencyMismatch])
    #expect(
      part.findings.first?.evidence
        == "the refund of 2026-01-12T00:00:00Z (4.00 local, 5.10 USD) is in another currency than "
        + "its charge of 2026-01-10T00:00:00Z (9.99 local, 10.80 USD); the refund's local amount "
        + "is not booked")
    let refunds = try facts(part).revenue.filter { $0.value.refunds != 0 }
    #expect(refunds.keys.map(\.currency) == [Self.euro])
    #expect(refunds.values.map(\.refundsLocal.unknown) == [1])
    #expect(refunds.values.map(\.refundsUSD.sum) == [usd("5.10")])
  }

  @Test("The report of a refund in another currency omits absent amounts")
  func foreignWords() throws {
    func words(_ refund: Revenue) throws -> String? { try history(refund).findings.first?.evidence }
    let start = "the refund of 2026-01-12T00:00:00Z"
    let middle =
      " is in another currency than its charge of 2026-01-10T00:00:00Z (9.99 local, 10.80 USD)"
    let back = "; the charge is given back as it was booked"
    #expect(try words(Revenue(currency: Self.pound)) == start + middle + back)
    let whole = Revenue(local: usd("9"), usd: usd("10.80"), currency: Self.pound)
    #expect(try words(whole) == start + " (9.00 local, 10.80 USD)" + middle + back)
    let part = Revenue(usd: usd("2"), currency: Self.pound)
    #expect(try words(part) == start + " (2.00 USD)" + middle)
  }

  @Test("A charge with a currency uses the price in that currency, and no other")
  func currency() throws {
    let euros = PriceBook.Price(
      currency: Self.euro, validFrom: at("2026-01-02"), local: usd("9.99"), usd: usd("10.80"))
    let pounds = PriceBook.Price(
      currency: Self.pound, validFrom: at("2026-01-01"), local: usd("8.99"), usd: usd("11.50"))
    let any = PriceBook.Price(validFrom: at("2026-01-01"), usd: usd("12"))
    func row(_ listed: [PriceBook.Price]) throws -> (RevenueKey, RevenueSums)? {
      let facts = try facts(history(nil, currency: Self.pound, listed: listed))
      #expect(facts.revenue.count == 2)
      return facts.revenue.first { $0.value.charges == 1 }
    }
    let paid = try #require(try row([euros, pounds, any]))
    #expect(paid.0.currency == Self.pound && paid.1.grossUSD.sum == usd("11.50"))
    let unknown = try #require(try row([euros]))
    #expect(unknown.0.currency == Self.pound && unknown.0.basis == AmountBasis.none)
    let other = try #require(try row([euros, any]))
    #expect(other.0.currency == Self.pound && other.1.grossUSD.sum == usd("12"))
  }

  @Test("A charge without a currency uses the price that began last, in any currency")
  func noCurrency() throws {
    let facts = try facts(history(nil))
    #expect(Set(facts.revenue.keys.map(\.currency)) == [Self.euro])
    #expect(facts.total(\.grossUSD) == "10.80" && facts.total(\.refundsUSD) == "10.80")
  }

  @Test("The listed price is for one unit: several units cost a multiple")
  func units() throws {
    let price = PriceBook.Price(validFrom: at("2026-01-01"), local: usd("1"), usd: usd("1.10"))
    var feed = StateFeed(.iaptic)
    feed.report(.purchased, "2026-01-10") { $0.units = 3 }
    feed.report(.purchaseRefunded, "2026-01-12")
    let facts = try feed.facts(asOf: "2026-01-20") {
      $0.prices.add(price, store: .unknown, product: StateFeed.monthly)
    }
    #expect(facts.total(\.grossLocal) == "3.00" && facts.total(\.grossUSD) == "3.30")
    #expect(facts.total(\.refundsUSD) == "3.30")
  }

  @Test("The first of a purchase's states with an amount gives the charge")
  func laterAmount() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-10", 1, until: "2026-02-10") { event, _ in
      event.revenue = Revenue(currency: Self.pound, isProceed: false)
    }
    feed.show("2026-01-11", 1, until: "2026-02-10") { event, _ in
      event.revenue = Revenue(local: usd("8.99"), currency: Self.pound, isProceed: false)
    }
    let facts = try feed.facts(asOf: "2026-01-20")
    #expect(facts.total(\.grossLocal) == "8.99")
  }
}
