import Testing
import Domain

@testable import Subscriptions

@Suite("Usual prices and offers")
struct PaidPricesTests {
  private let product = PricedProduct(product: Story.monthly, store: .appStore, currency: 9)

  /// A start and monthly renewals at `prices` from January 2026.
  private func story(_ prices: [String], in country: StringID = 0) -> Story {
    var story = Story()
    for (step, price) in prices.enumerated() {
      story.report(
        step == 0 ? .started : .renewed, "2026-0\(step + 1)-01", until: "2026-0\(step + 2)-01",
        price: price
      ) { $0.country = country }
    }
    return story
  }

  private func paid(_ stories: [Story]) throws -> PaidPrices {
    var prices: [PaidPrice: Int64] = [:]
    for story in stories { try story.history(asOf: "2026-12-01").book(into: &prices) }
    return PaidPrices(prices)
  }

  @Test("Half the price between two full ones is an offer, not a full price")
  func offers() throws {
    let prices = try paid([story(["10", "10", "5", "10", "12"])])
    #expect(prices.offer(of: product, full: usd("10")) == usd("5"))
    #expect(prices.firstWeek(of: usd("5"), for: product) == nil)
    #expect(prices.firstWeek(of: usd("12"), for: product) == Week(of: at("2026-05-01")))
  }

  @Test("A purchase costs the median price of one unit, and is not a renewal")
  func purchases() throws {
    var bought = Story()
    for (step, price) in ["30", "10", "12"].enumerated() {
      bought.report(.purchased, "2026-01-0\(step + 1)", price: price) {
        $0.units = step == 0 ? 3 : 1
      }
    }
    let prices = try paid([bought])
    #expect(prices.medians(of: product, around: at("2026-06-01"))[9]?.price == usd("10"))
    #expect(prices.usual(product, at: at("2026-01-02")) == nil)
  }

  @Test("A price paid in Apple's other store counts if none was paid in the store")
  func appleStores() throws {
    var mac = story(["10", "10"])
    for index in mac.events.indices { mac.events[index].store = .macAppStore }
    func price(_ stories: [Story]) throws -> Amount? {
      try paid(stories).medians(of: product, around: at("2026-02-01"))[9]?.price
    }
    #expect(try price([mac]) == usd("10"))
    #expect(try price([mac, story(["7", "7"])]) == usd("7"))
  }

  @Test("A lower price that stays, or one between two different prices, is not an offer")
  func lowerPrices() throws {
    for reported in [
      ["10", "10", "8", "8"], ["10", "5", "12"], ["5", "10", "10"], ["10", "10", "5"],
    ] {
      #expect(try paid([story(reported)]).offer(of: product, full: usd("10")) == nil, "\(reported)")
    }
  }

  @Test("An offer is known from its store, any store, or its share in another currency")
  func offersElsewhere() throws {
    let prices = try paid([story(["10", "10", "4", "10"])])
    var elsewhere = product
    elsewhere.store = .playStore
    #expect(prices.offer(of: elsewhere, full: usd("10")) == usd("4"))
    elsewhere.currency = 8
    #expect(prices.offer(of: elsewhere, full: usd("200")) == usd("80"))
    elsewhere.product = Story.yearly
    #expect(prices.offer(of: elsewhere, full: usd("10")) == nil)
  }

  @Test("The usual price is what more than half paid, of at least three around that week")
  func usual() throws {
    let two = try paid([story(["10", "10"]), story(["10", "10"])])
    #expect(two.usual(product, at: at("2026-02-01")) == nil)
    let three = try paid([story(["10", "10"]), story(["10", "10"]), story(["10", "12"])])
    #expect(three.usual(product, at: at("2026-02-01")) == usd("10"))
    #expect(three.usual(product, at: at("2026-02-20")) == usd("10"))
    #expect(three.usual(product, at: at("2026-04-20")) == nil)
    let torn = try paid(["10", "10", "12", "12"].map { story(["10", $0]) })
    #expect(torn.usual(product, at: at("2026-02-01")) == nil)
  }

  @Test("A country's price is what is paid there, or anywhere if no one there paid")
  func countries() throws {
    let (poor, rich, other): (StringID, StringID, StringID) = (30, 31, 32)
    let stories =
      (0..<4).map { _ in story(["2", "2"], in: poor) }
      + (0..<3).map { _ in story(["10", "10"], in: rich) }
    let prices = try paid(stories)
    for (country, price) in [(poor, "2"), (rich, "10"), (other, "2"), (0, "2")] {
      var sold = product
      sold.country = country
      #expect(prices.usual(sold, at: at("2026-02-01")) == usd(price))
      #expect(prices.medians(of: sold, around: at("2026-02-01"))[9]?.price == usd(price))
      #expect(prices.firstWeek(of: usd("10"), for: sold) == Week(of: at("2026-02-01")))
    }
  }

  @Test("An offer counts even if the user is in another country")
  func traveller() throws {
    var travelling = story(["10", "10", "5", "10"], in: 30)
    travelling.events[2].country = 31
    #expect(try paid([travelling]).offer(of: product, full: usd("10")) == usd("5"))
  }

  @Test("Sums do not depend on order, and unknown, sandbox and listed prices do not count")
  func sums() throws {
    let (first, second) = (story(["10", "10", "5", "10"]), story(["10", "12", "12"]))
    #expect(try paid([second, first]) == paid([first, second]))
    var odd = story(["10", "10", "5", "10"])
    for index in odd.events.indices { odd.events[index].environment = .sandbox }
    #expect(try paid([odd]) == PaidPrices())
    odd = story(["10", "10", "5", "10"])
    for index in odd.events.indices { odd.events[index].revenue = nil }
    #expect(try paid([odd]) == PaidPrices())
  }
}
