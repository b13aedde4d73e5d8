import Testing
import Domain

@testable import Subscriptions

@Suite struct RecurringRevenueTests {
  @Test(
    "A length is in months if it is close to whole months, otherwise in days",
    arguments: [
      (7, PeriodLength.days(7)), (27, .days(27)), (28, .months(1)), (45, .months(1)),
      (50, .days(50)), (61, .months(2)), (92, .months(3)), (365, .months(12)), (366, .months(12)),
    ])
  func lengths(days: Int, expected: PeriodLength) {
    let start = at("2026-01-01")
    #expect(PeriodLength(from: start, to: start + .days(Int64(days))) == expected)
  }

  @Test("A week counts (365/12)/7 times, a year one twelfth")
  func monthlyShare() throws {
    #expect(try PeriodLength.days(7).monthly(usd("7")).text() == "30.416667")
    #expect(try PeriodLength.months(12).monthly(usd("100")).text() == "8.333333")
  }

  @Test("A price rise is expansion, a changed exchange rate is fx")
  func changes() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-10", until: "2026-03-10") {
      $0.revenue = Revenue(local: usd("12"), usd: usd("12.60"), currency: 9, isProceed: false)
    }
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.mrr(.new) == "10.00")
    #expect(facts.mrr(.expansion) == "2.00")
    #expect(facts.mrr(.fx) == "0.60")
  }

  @Test("An amount that becomes known is expansion, not a change of product or currency")
  func firstKnown() throws {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.mrr(.expansion) == "10.00" && facts.mrr(.transferIn) == "0.00")
  }

  @Test("A changed weekly price is rounded once, from the exact amounts")
  func weeklyChange() throws {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-01-08") {
      $0.revenue = Revenue(local: usd("7.99"), usd: usd("1.07"), currency: 9, isProceed: false)
    }
    story.report(.renewed, "2026-01-08", until: "2026-01-15") {
      $0.revenue = Revenue(local: usd("9.49"), usd: usd("1.30"), currency: 9, isProceed: false)
    }
    let facts = try story.facts(asOf: "2026-01-10")
    // 1.50 × 365/84 × 1.07/7.99 = 0.8728543…; from the two rounded months it would be 0.872855.
    #expect(facts.mrr(.expansion) == "0.872854")
    #expect(facts.mrr(.new) == "4.649405")
  }

  @Test("An upgrade moves all recurring revenue between rows")
  func transfer() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.upgraded, "2026-01-20", until: "2026-01-20", price: "120") {
      $0.product = Story.yearly
      $0.entitledUntil = at("2027-01-20")
    }
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.mrr(.transferOut, product: Story.monthly) == "10.00")
    #expect(facts.mrr(.transferIn, product: Story.yearly) == "10.00")
  }

  @Test("A period that ends early keeps the listed length of its charge")
  func earlyEnd() throws {
    let listed: (inout FoldSettings) -> Void = {
      $0.prices.add(
        PriceBook.Price(
          currency: 9, validFrom: at("2026-01-01"), local: usd("10"), usd: usd("10"),
          period: .months(1)),
        store: .unknown, product: StateFeed.monthly)
    }
    let ends: [(Provider, EventKind)] = [
      (.purple, .expired), (.purple, .endedInvoluntarily), (.qonversion, .expired),
    ]
    for (provider, kind) in ends {
      var feed = StateFeed(provider)
      feed.report(.started, "2026-01-10") { $0.revenue = Revenue(local: usd("10"), usd: usd("10")) }
      feed.report(kind, "2026-01-13")
      let facts = try feed.facts(asOf: "2026-03-01", listed)
      #expect(facts.days(.churned) == ["2026-01-13"])
      #expect(facts.mrr(.new) == "10.00" && facts.mrr(.churned) == "10.00")
    }
  }

  @Test("Grace, an extension or a refund does not change the paid length")
  func movedEnd() throws {
    let moves: [(EventKind, (inout Event) -> Void)] = [
      (.extended, { $0.periodEnd = at("2026-02-25") }),
      (.graceEntered, { $0.graceEnd = at("2026-02-25") }),
      (.refunded, { $0.revenue = Revenue(local: usd("10"), usd: usd("10"), currency: 9) }),
    ]
    for (kind, move) in moves {
      var story = Story.paid("2026-01-10", until: "2026-02-10")
      story.report(kind, "2026-02-05", until: "2026-02-10", move)
      story.report(.renewed, "2026-02-25", until: "2026-03-25", price: "10")
      let facts = try story.facts(asOf: "2026-03-10")
      #expect(facts.mrr(.new) == "10.00" && facts.mrr(.expansion) == "0.00")
      #expect(facts.mrr(.churned) == (kind == .refunded ? "10.00" : "0.00"))
      #expect(facts.mrr(.churned) == facts.mrr(.reactivated))
    }
  }
}
