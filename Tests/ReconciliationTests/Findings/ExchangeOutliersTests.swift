import TestSupport
import Testing
import Subscriptions
import Domain

@testable import Reconciliation

@Suite("US dollars compared with what others paid for the same currency")
struct ExchangeOutliersTests {
  private static let euro: StringID = 20
  private let rules = ReconciliationSettings(fold: FoldSettings(asOf: at("2026-06-01")))

  /// Charges of 10 euros, each in its own lineage, with day and dollars.
  private func codes(_ charges: [(day: String, micros: Int64)]) throws -> [[Break]] {
    let stories = charges.enumerated().map { index, charge in
      var story = Story(original: String(200 + index))
      story.report(
        .started, charge.day, until: "2026-05-20", transaction: Int64(200 + index), price: 10
      ) {
        $0.revenue?.currency = Self.euro
        $0.revenue?.usd = Amount(micros: charge.micros)
      }
      return story
    }
    var rates = ExchangeRates()
    for story in stories {
      var quotes: [ExchangeRates.Quote: Int64] = [:]
      try SubscriptionHistory(events: story.events, rules: rules.fold).book(into: &quotes)
      rates.add(ExchangeRates(quotes))
    }
    let outliers = ExchangeOutliers(rates)
    return try stories.map { story in
      let lineage = try #require(story.lineage(until: rules.fold.asOf))
      let found = outliers.breaks(in: lineage, story.events, rules: rules)
      #expect(story.events.contains(where: outliers.mayInclude) == !found.isEmpty)
      #expect(found.isEmpty || !outliers.isEmpty)
      return found
    }
  }

  @Test("More than 5 % off the median of nearby days is a break; 5 % is not")
  func threshold() throws {
    let usual: [(day: String, micros: Int64)] = [
      ("2026-02-01", 11_000_000), ("2026-02-04", 11_000_000),
    ]
    let off = try codes(usual + [("2026-02-03", 11_560_000)])
    #expect(off.map { $0.map(\.code) } == [[], [], [.fxOutlier]])
    #expect(off[2][0].estimatedUSD == Amount(micros: 560_000))
    #expect(off[2][0].status == .open)
    #expect(off[2][0].evidence.contains("11.00 USD"))
    #expect(try codes(usual + [("2026-02-03", 11_550_000)]).flatMap(\.self).isEmpty)
  }

  @Test("The median of an even number of charges is the mean of the middle two")
  func even() throws {
    // Around 11.10 dollars for 10 euros all four are within 3 %; 11.40 is 5.6 % above 10.80.
    let four = [10_800_000, 10_800_000, 11_400_000, 11_400_000].map {
      (day: "2026-02-01", micros: Int64($0))
    }
    #expect(try codes(four).flatMap(\.self).isEmpty)
    // (11.00 + 11.01) / 2 = 11.005; 11.56 is 0.555 above it, which is 5.04 %.
    let off = try codes([
      ("2026-02-01", 10_900_000), ("2026-02-01", 11_000_000), ("2026-02-02", 11_010_000),
      ("2026-02-03", 11_560_000),
    ])
    #expect(off.map { $0.map(\.code) } == [[], [], [], [.fxOutlier]])
    #expect(off[3][0].estimatedUSD == Amount(micros: 555_000))
    #expect(off[3][0].evidence.contains("it would be 11.005 USD"))
  }

  @Test("A charge with a negative sign is as far off as one without")
  func negative() throws {
    let off = try codes([
      ("2026-02-01", 11_000_000), ("2026-02-01", 11_000_000), ("2026-02-01", -13_000_000),
    ])
    #expect(off.map { $0.map(\.code) } == [[], [], [.fxOutlier]])
    #expect(off[2][0].estimatedUSD == Amount(micros: 2_000_000))
    #expect(off[2][0].evidence.contains("10.00 local is 13.00 USD"))
  }

  @Test("Medians of the greatest amounts are exact")
  func greatest() throws {
    let most = Int64.max - 1
    let lower = try #require(ExchangeRate(usd: most - 1, local: most))
    let upper = try #require(ExchangeRate(usd: most, local: most - 1))
    let median = MedianRate(of: lower, upper)
    #expect(!median.isFar(lower) && !median.isFar(upper))
    #expect(median.usd(for: Amount(micros: 1_000_000)) == Amount(micros: 1_000_000))
    let dear = try #require(ExchangeRate(usd: most, local: 1))
    #expect(median.isFar(dear) && MedianRate(of: dear, dear).isFar(lower))
    #expect(MedianRate(of: dear, dear).usd(for: Amount(micros: 2)) == nil)
  }

  @Test("Neighbouring days follow the definition, whatever was paid", arguments: 1...UInt64(40))
  func definition(seed: UInt64) throws {
    var numbers = SeededNumbers(seed: seed)
    var charges: [CurrencyDay: [ExchangeRate: Int64]] = [:]
    // Rates from 1.0 to slightly more than 5 % above, so that many are near the threshold.
    let spread = Int64.random(in: 1...70, using: &numbers)
    for _ in 0..<60 {
      let key = CurrencyDay(
        currency: StringID.random(in: 1...2, using: &numbers),
        day: Day(number: Int32.random(in: 100..<130, using: &numbers)))
      let usd = 1000 + Int64.random(in: 0...spread, using: &numbers)
      let rate = try #require(ExchangeRate(usd: usd, local: 1000))
      charges[key, default: [:]][rate, default: 0] += Int64.random(in: 1...2, using: &numbers)
    }
    var expected: [CurrencyDay: MedianRate] = [:]
    for (key, rates) in charges {
      let near = charges.filter {
        $0.key.currency == key.currency && abs($0.key.day.number - key.day.number) <= 3
      }
      let paid = near.values.joined()
        .flatMap { Array(repeating: $0.key, count: Int($0.value)) }.sorted()
      guard paid.count >= 3 else { continue }
      let (lower, upper) = (paid[(paid.count - 1) / 2], paid[paid.count / 2])
      // In thousandths; the median is half of `twice`.
      func thousandths(_ rate: ExchangeRate) -> Int64 { rate.usd * 1000 / rate.local }
      let twice = thousandths(lower) + thousandths(upper)
      let isOff = rates.keys.contains { 20 * abs(2 * thousandths($0) - twice) > twice }
      if isOff { expected[key] = MedianRate(of: lower, upper) }
    }
    #expect(ExchangeOutliers(ExchangeRates(charges)).medians == expected)
  }

  @Test("Rates change over time, so charges four days apart are not compared")
  func window() throws {
    let moved = try codes([
      ("2026-02-01", 11_000_000), ("2026-02-01", 11_000_000), ("2026-02-01", 11_000_000),
      ("2026-02-05", 12_000_000),
    ])
    #expect(moved.flatMap(\.self).isEmpty)
  }

  @Test("Two charges cannot show which of them is off")
  func tooFew() throws {
    #expect(
      try codes([("2026-02-01", 11_000_000), ("2026-02-01", 13_000_000)]).flatMap(\.self).isEmpty)
  }

  @Test("A small amount that is off by its rounding to cents is not an outlier")
  func cents() throws {
    let small = try codes([
      ("2026-02-01", 100_000), ("2026-02-01", 100_000), ("2026-02-01", 110_000),
    ])
    #expect(small.flatMap(\.self).isEmpty)
  }

  @Test("Sandbox charges are neither compared nor outliers")
  func sandbox() throws {
    var story = Story(environment: .sandbox)
    story.report(.started, "2026-02-01", until: "2026-03-01", price: 10)
    var quotes: [ExchangeRates.Quote: Int64] = [:]
    try SubscriptionHistory(events: story.events, rules: rules.fold).book(into: &quotes)
    #expect(quotes.isEmpty)
  }

  @Test("Charges of different amounts at one rate are counted and removed together")
  func oneRate() throws {
    func history(price: Int64) throws -> SubscriptionHistory {
      var story = Story()
      story.report(.started, "2026-02-01", until: "2026-03-01", price: price) {
        $0.revenue?.currency = Self.euro
        $0.revenue?.usd = Amount(micros: price * 1_100_000)
      }
      return try SubscriptionHistory(events: story.events, rules: rules.fold)
    }
    var quotes: [ExchangeRates.Quote: Int64] = [:]
    try history(price: 10).book(into: &quotes)
    try history(price: 20).book(into: &quotes)
    let rate = try #require(ExchangeRate(usd: 11, local: 10))
    #expect(quotes.count == 2)
    #expect(ExchangeRates(quotes).charges.values.map { $0 } == [[rate: 2]])
    try history(price: 20).book(-2, into: &quotes)
    var rates = ExchangeRates(quotes)
    rates.removeZeros()
    #expect(rates == ExchangeRates())
    try history(price: 10).book(-1, into: &quotes)
    try history(price: 20).book(into: &quotes)
    #expect(quotes.values.allSatisfy { $0 == 0 })
  }
}
