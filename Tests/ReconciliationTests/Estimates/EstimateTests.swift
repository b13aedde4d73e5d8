import Reconciliation
import Testing
import Subscriptions
import Domain

@Suite("A missing charge is estimated from similar charges")
struct EstimateTests {
  /// A monthly subscription from January 2026 with `prices`; nil was never reported.
  private func reported(_ prices: [Int64?], counted: Bool = false) -> Story {
    var story = Story()
    for (step, price) in prices.enumerated() {
      guard let price else { continue }
      story.report(
        step == 0 ? .started : .renewed, month(step + 1), until: month(step + 2),
        transaction: 100 + Int64(step), price: price, count: counted ? Int32(step) : nil)
    }
    return story
  }

  /// What others paid.
  private func prices(_ stories: [[Int64?]]) throws -> PaidPrices {
    var prices: [PaidPrice: Int64] = [:]
    for story in stories {
      try SubscriptionHistory(
        events: reported(story).events, rules: FoldSettings(asOf: at("2027-01-01"))
      )
      .book(into: &prices)
    }
    return PaidPrices(prices)
  }

  /// The estimates, in dollars, of listed charges that the story lacks.
  private func estimates(
    of story: [Int64?], offers: Set<Int> = [], others: [[Int64?]] = []
  ) throws -> [Int64?] {
    let listed = story.indices.map { step in
      let kind: SnapshotTransactionKind =
        offers.contains(step)
        ? (step == 0 ? .introStarted : .introRenewed) : step == 0 ? .started : .renewed
      return bought(100 + step, kind, month(step + 1), until: month(step + 2))
    }
    let paid = try prices(others)
    var scenario = Scenario(
      reported(story), shown: premium(until: month(story.count + 1), listing: listed),
      at: month(story.count) + "T12:00:00")
    scenario.change = { $0.prices = paid }
    return scenario.breaks.map { $0.estimatedUSD.map { $0.micros / 1_000_000 } }
  }

  @Test("A charge after an offer is estimated at the full price, not at the offer's")
  func afterOffer() throws {
    #expect(try estimates(of: [10, 10, 5, nil, 10], offers: [2]) == [10])
    #expect(try estimates(of: [10, 5, nil], offers: [1]) == [10])
  }

  @Test("A missing offer is estimated at what others paid for one; otherwise it is unknown")
  func offers() throws {
    #expect(try estimates(of: [10, nil, 10], offers: [1], others: [[10, 10, 4, 10]]) == [4])
    #expect(try estimates(of: [10, nil, 10], offers: [1]) == [nil])
  }

  @Test("Without others' offers, an offer is estimated from one of the same lineage")
  func ownOffer() throws {
    #expect(try estimates(of: [10, 10, 6, 10, nil, 10], offers: [2, 4]) == [6])
  }

  @Test("After an offer, the price of others is the estimate; without others, the offer's price")
  func onlyOffer() throws {
    #expect(try estimates(of: [1, nil], offers: [0]) == [1])
    let others = Array(repeating: [1, 10, 10] as [Int64?], count: 3)
    #expect(try estimates(of: [1, nil], offers: [0], others: others) == [10])
  }

  @Test("Without kinds, a charge lower than both its neighbours is not used as the price")
  func dips() {
    let story = reported([10, 5, 10, nil, 10])
    var scenario = Scenario(story, shown: premium(until: "2026-06-01", count: 4), at: "2026-05-20")
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    scenario.stories = [reported([10, 10, 5, nil, 10])]
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
  }

  @Test("Between two prices, the new one applies from the week in which anyone paid it")
  func priceRise() throws {
    let late: [[Int64?]] = [[10, 10, 10, 12, 12]]
    #expect(try estimates(of: [10, 10, nil, 12, 12], others: late) == [10])
    let early: [[Int64?]] = [[10, 10, 12, 12, 12]]
    #expect(try estimates(of: [10, 10, nil, 12, 12], others: early) == [12])
    #expect(try estimates(of: [10, 10, nil, 12, 12]) == [10])
  }

  @Test("A new price applies from the week in which it was first paid in any store")
  func priceRiseElsewhere() throws {
    let week = Week(of: at("2026-02-25"))
    var rise = PaidPrice(
      product: PricedProduct(product: Story.monthly, store: .playStore, currency: 9),
      week: week, price: Amount(micros: 12_000_000), full: nil)
    func estimate() -> [Amount?] {
      var scenario = Scenario(
        reported([10, 10, nil, 12], counted: true), shown: nil, at: "2026-04-10")
      scenario.change = { $0.prices = PaidPrices([rise: 1]) }
      return scenario.breaks.map(\.estimatedUSD)
    }
    #expect(estimate() == [Amount(micros: 12_000_000)])
    rise.product.currency = 8
    #expect(estimate() == [Amount(micros: 10_000_000)])
  }

  @Test("With charges on one side only, a price rise that most others had applies")
  func displacedPrice() throws {
    let risen = Array(repeating: [10, 10, 10, 12] as [Int64?], count: 3)
    #expect(try estimates(of: [10, 10, 10, nil], others: risen) == [12])
    #expect(try estimates(of: [nil, nil, nil, 12], others: risen).suffix(1) == [10])
    // Constant prices of others do not apply to a user with a different price.
    let other = Array(repeating: [12, 12, 12, 12] as [Int64?], count: 3)
    #expect(try estimates(of: [10, 10, 10, nil], others: other) == [10])
  }

  @Test("Two low charges in a row are offers if others had such an offer")
  func twoOffers() throws {
    func estimate(_ others: [[Int64?]]) throws -> [Amount?] {
      let paid = try prices(others)
      var scenario = Scenario(
        reported([10, 5, nil, 5, 10], counted: true), shown: nil, at: "2026-05-10")
      scenario.change = { $0.prices = paid }
      return scenario.breaks.map(\.estimatedUSD)
    }
    #expect(try estimate([[10, 10, 5, 10]]) == [Amount(micros: 10_000_000)])
    #expect(try estimate([]) == [Amount(micros: 5_000_000)])
  }

  @Test("A purchase without events is estimated at the median of others in that month")
  func withoutEvents() throws {
    let listed = bought(900, .started, "2026-03-01", until: "2026-04-01") {
      $0.originalID = "900"
    }
    let entitlement = premium(until: "2026-04-01", listing: [listed])
    func money(_ others: [[Int64?]]) throws -> [Break] {
      let paid = try prices(others)
      let day = CurrencyDay(currency: 9, day: CivilCalendar.utc.day(of: at("2026-03-01")))
      let rate = try #require(ExchangeRate(usd: 2, local: 1))
      var scenario = Scenario(entitlements: [entitlement], capturedAt: "2026-03-20")
      scenario.change = { rules in
        (rules.prices, rules.rates) = (paid, ExchangeRates([day: [rate: 3]]))
        for word in ["com.example.monthly", "2", "3", "4", "5", "6", "7", "8", "EUR"] {
          _ = rules.strings.symbol(word)
        }
      }
      return scenario.breaks
    }
    let others = try money([[9, 9, 10], [9, 9, 10], [9, 9, 12]])
    #expect(others.map(\.estimatedUSD) == [Amount(micros: 20_000_000)])
    #expect(others.map(\.basis) == [.provider])
    #expect(try money([]).map(\.estimatedUSD) == [nil])
  }

  @Test("A first charge is estimated from others in its country, otherwise in any country")
  func country() throws {
    let rate = try #require(ExchangeRate(usd: 2, local: 1))
    let day = CurrencyDay(currency: 9, day: CivilCalendar.utc.day(of: at("2026-01-08")))
    func estimate(in country: StringID) -> [Amount?] {
      var story = Story()
      story.report(.trialStarted, "2026-01-01", until: "2026-01-08") { $0.country = country }
      var scenario = Scenario(story, shown: nil, at: "2026-01-12")
      scenario.change = { rules in
        func paid(_ price: Int64, _ country: StringID) -> PaidPrice {
          PaidPrice(
            product: PricedProduct(
              product: Story.monthly, store: .appStore, currency: 9, country: country),
            week: Week(of: at("2026-01-05")), price: Amount(micros: price * 1_000_000), full: nil)
        }
        rules.prices = PaidPrices([paid(1, 30): 4, paid(10, 31): 3])
        rules.rates = ExchangeRates([day: [rate: 3]])
        for word in ["com.example.monthly", "2", "3", "4", "5", "6", "7", "8", "EUR"] {
          _ = rules.strings.symbol(word)
        }
      }
      return scenario.breaks.map(\.estimatedUSD)
    }
    #expect(estimate(in: 30) == [Amount(micros: 2_000_000)])
    #expect(estimate(in: 31) == [Amount(micros: 20_000_000)])
    #expect(estimate(in: 32) == [Amount(micros: 2_000_000)])
  }

  @Test("The exchange rate is that of the due day if three charges show it")
  func exchangeRate() throws {
    var scenario = Scenario(
      reported([10, 10, nil, 10], counted: true), shown: nil, at: "2026-04-10")
    let day = CurrencyDay(currency: 9, day: CivilCalendar.utc.day(of: at("2026-03-02")))
    let rate = try #require(ExchangeRate(usd: 11, local: 10))
    scenario.change = { $0.rates = ExchangeRates([day: [rate: 3]]) }
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 11_000_000)])
    scenario.change = { $0.rates = ExchangeRates([day: [rate: 2]]) }
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
  }

  @Test("A price in an event that names the charge takes precedence over similar charges")
  func namedPrice() throws {
    var story = reported([10, 10])
    story.report(.canceled, "2026-03-10", until: "2026-04-01", transaction: 102) {
      $0.periodStart = at("2026-03-01")
      $0.price = Price(local: Amount(micros: 5_000_000), usd: Amount(micros: 5_000_000))
    }
    var scenario = Scenario(story, shown: nil, at: "2026-03-20")
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 5_000_000)])
    scenario.stories[0].events[2].price = nil
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
  }

  @Test("A product without charges is estimated from the price book")
  func listed() throws {
    var scenario = Scenario(.trial, shown: nil, at: "2026-01-12")
    #expect(scenario.breaks.map(\.estimatedUSD) == [nil])
    scenario.change = { $0.listAtSeven("com.example.monthly") }
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 7_000_000)])
    #expect(scenario.breaks.map(\.basis) == [.priceBook])
  }

  @Test("A base plan without events is estimated at its product's listed price, others are not")
  func listedProduct() {
    let listed = bought(900, .started, "2026-03-01", until: "2026-04-01") {
      $0.originalID = "900"
    }
    func estimates(_ product: String) -> [Amount?] {
      var scenario = Scenario(
        entitlements: [premium(until: "2026-04-01", listing: [listed])], capturedAt: "2026-03-20")
      scenario.change = {
        $0.listAtSeven("pro")
        $0.products = ["monthly": [product]]
      }
      return scenario.breaks.map(\.estimatedUSD)
    }
    #expect(estimates("pro:month") == [Amount(micros: 7_000_000)])
    #expect(estimates("prot") == [nil])
  }

  @Test("A start cheaper than later renewals is not used for them; another start is")
  func starts() throws {
    #expect(try estimates(of: [3, nil, 10]) == [10])
    #expect(try estimates(of: [10, nil, 10]) == [10])
    #expect(try estimates(of: [3, nil]) == [3])
  }

  @Test("A missing product change is estimated at the price of the new product")
  func productBegun() {
    var story = reported([3])
    story.report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10,
      product: Story.yearly)
    let listed = [
      bought(100, .started, "2026-01-01", until: "2026-02-01"),
      bought(101, .started, "2026-02-01", until: "2026-03-01"),
      bought(102, .renewed, "2026-03-01", until: "2026-04-01"),
    ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-01", product: "yearly", listing: listed),
      at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.map(\.product) == ["com.example.yearly"])
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
  }

  @Test("A free charge is not the price of later ones, although it has no currency")
  func free() {
    var story = Story.monthly(renewals: 4, without: [3])
    story.events[2].revenue = Revenue(
      local: .zero, usd: .zero, currency: 0, isProceed: false, rate: Amount(micros: 70_000_000))
    let scenario = Scenario(story, shown: nil, at: "2026-05-20")
    #expect(scenario.breaks.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
  }
}
