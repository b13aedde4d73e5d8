import Testing
import Domain

@testable import Subscriptions

@Suite("Reported kinds without money and ends")
struct PurpleTests {
  private func listed(_ rules: inout FoldSettings) {
    rules.prices.add(
      PriceBook.Price(
        currency: 9, validFrom: at("2026-01-01"), local: usd("9"), usd: usd("10"),
        rate: Amount(micros: 70_000_000), period: .months(1)),
      store: .unknown, product: StateFeed.monthly)
  }

  @Test("A renewal after a trial is a conversion; one after a charge is a renewal")
  func conversion() throws {
    var feed = StateFeed(.purple)
    feed.report(.trialStarted, "2026-01-01")
    feed.report(.renewed, "2026-01-08")
    feed.report(.renewed, "2026-02-08")
    let facts = try feed.facts(asOf: "2026-02-20", lengths)
    #expect(facts.charges(.conversion) == 1 && facts.renewalOrdinals == [1])
    #expect(facts.trials.values.map(\.converted) == [1])
    feed.events[0].kind = .started
    #expect(try feed.facts(asOf: "2026-02-20", lengths).charges(.conversion) == 0)
  }

  @Test("A renewal long after an expired trial is not a conversion, whatever its product")
  func lateRenewal() throws {
    for product in [StateFeed.monthly, StateFeed.yearly] {
      var feed = StateFeed(.purple)
      feed.report(.trialStarted, "2026-01-10")
      feed.report(.expired, "2026-01-17")
      feed.report(.renewed, "2026-03-20") { $0.product = product }
      let facts = try feed.facts(asOf: "2026-04-01", lengths)
      #expect(facts.charges(.conversion) == 0 && facts.charges(.renewal) == 1)
      #expect(facts.trials.values.map(\.expired) == [1] && facts.count(.firstSeen) == 1)
      feed.events[2].time = at("2026-01-17T23:00:00")
      let converted = try feed.facts(asOf: "2026-02-01", lengths)
      #expect(converted.charges(.conversion) == 1 && converted.count(.new) == 1)
    }
  }

  @Test("After a billing retry, a trial converts until the horizon, or until the store gave up")
  func collectedTrial() throws {
    let cases: [(String, Int64)] = [("2026-03-18", 1), ("2026-03-19", 0)]
    for (day, conversions) in cases {
      var feed = StateFeed(.iaptic)
      feed.report(.trialStarted, "2026-01-10") { $0.periodEnd = at("2026-01-17") }
      feed.report(.trialBillingRetry, "2026-01-17")
      feed.report(.renewed, day)
      let facts = try feed.facts(asOf: "2026-06-01", lengths)
      #expect(facts.charges(.conversion) == conversions)
      #expect(facts.trials.values.map(\.converted) == [conversions])
      feed.report(.trialExpired, "2026-03-01")
      #expect(try feed.facts(asOf: "2026-06-01", lengths).charges(.conversion) == 0)
    }
  }

  @Test("A trial without an end is pending until it expires")
  func trialEnd() throws {
    var feed = StateFeed(.purple)
    feed.report(.trialStarted, "2026-01-01")
    #expect(try feed.facts(asOf: "2026-06-01", lengths).trials.values.map(\.pending) == [1])
    feed.report(.expired, "2026-01-08")
    #expect(try feed.facts(asOf: "2026-06-01", lengths).trials.values.map(\.expired) == [1])
  }

  @Test("A subscription without known ends is active until its expiry")
  func openEnded() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    let open = try feed.facts(asOf: "2026-12-01")
    #expect(open.count(.churned) == 0 && open.count(.openEndedPeriod) == 1)
    #expect(try feed.histories(asOf: "2026-12-01").flatMap(\.findings).isEmpty)
    feed.report(.endedInvoluntarily, "2026-02-10")
    let ended = try feed.facts(asOf: "2026-12-01")
    #expect(ended.days(.churnedInvoluntary) == ["2026-02-10"])
    #expect(ended.count(.openEndedPeriod) == 0)
  }

  @Test("A configured or listed length gives the end, unless an earlier expiry does")
  func derivedEnds() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    let configured = try feed.facts(asOf: "2026-12-01", lengths)
    #expect(configured.days(.churned) == ["2026-02-10"] && configured.count(.derivedEnd) == 1)
    #expect(try feed.facts(asOf: "2026-12-01", listed).days(.churned) == ["2026-02-10"])
    feed.report(.expired, "2026-02-11")
    #expect(try feed.facts(asOf: "2026-12-01", lengths).days(.churned) == ["2026-02-10"])
    feed.events[1].time = at("2026-02-07")
    #expect(try feed.facts(asOf: "2026-12-01", lengths).days(.churned) == ["2026-02-07"])
  }

  @Test("A paid month is a month in UTC, whatever the reports' time zone")
  func zones() throws {
    let feed = StateFeed(.purple, started: "2026-10-30T22:15:00")
    for hours in [-10, 0, 6] as [Int64] {
      let ends = try feed.histories(asOf: "2027-03-01") {
        lengths(&$0)
        $0.calendar = zone(hours)
      }.flatMap(\.periods).map(\.end)
      #expect(ends == [at("2026-11-30T22:15:00")], "\(hours) h")
    }
  }

  @Test("A subscription of the 31st renews in shorter months, and on the 31st again")
  func lastOfMonth() throws {
    let cases = [
      (Int64(0), "T00:00:00", "2026-05-31"), (5, "T22:00:00", "2026-06-01"),
      (-5, "T03:00:00", "2026-05-31"),
    ]
    for (late, clock, end) in cases {
      var feed = StateFeed(.purple)
      feed.report(.started, "2026-01-31" + clock)
      for day in ["2026-02-28", "2026-03-31", "2026-04-30"] {
        feed.report(.renewed, day + clock) { $0.time = $0.time + .hours(late) }
      }
      let facts = try feed.facts(asOf: "2026-08-01", lengths)
      #expect(facts.count(.churned) == 1 && facts.days(.churned) == [end])
      #expect(facts.count(.reactivated) == 0 && facts.renewalOrdinals == [1, 2, 3])
    }
  }

  @Test("A charge that came hours late does not move the end out of a shorter month")
  func lateBeforeFebruary() throws {
    var feed = StateFeed(.purple)
    feed.report(.started, "2024-12-29T21:00:00")
    feed.report(.renewed, "2025-01-30T09:00:00")
    #expect(try feed.facts(asOf: "2025-06-01", lengths).days(.churned) == ["2025-02-28"])
    feed.report(.renewed, "2025-02-28T21:00:00")
    #expect(try feed.facts(asOf: "2025-06-01", lengths).days(.churned) == ["2025-03-29"])
  }

  @Test("Months are counted from the first date, also if the first ends were reported")
  func reportedEnds() throws {
    var feed = StateFeed(.purple)
    feed.report(.started, "2026-03-31") { $0.periodEnd = at("2026-04-30") }
    feed.report(.renewed, "2026-04-30") { $0.periodEnd = at("2026-05-31") }
    feed.report(.renewed, "2026-05-31") { $0.periodEnd = at("2026-06-30") }
    feed.report(.renewed, "2026-06-30")
    #expect(try feed.facts(asOf: "2026-10-01", lengths).days(.churned) == ["2026-07-31"])
    feed.events[0].kind = .trialStarted
    #expect(try feed.facts(asOf: "2026-10-01", lengths).days(.churned) == ["2026-07-30"])
  }

  @Test("A resubscription, or another length, counts from its new date")
  func newCycle() throws {
    var feed = StateFeed(.purple, started: "2026-01-31")
    feed.report(.resubscribed, "2026-02-28")
    #expect(try feed.facts(asOf: "2026-08-01", lengths).days(.churned) == ["2026-03-28"])
    feed.events[1].kind = .renewed
    #expect(try feed.facts(asOf: "2026-08-01", lengths).days(.churned) == ["2026-03-31"])
    feed.events[1].product = StateFeed.yearly
    #expect(try feed.facts(asOf: "2027-08-01", lengths).days(.churned) == ["2027-02-28"])
  }

  @Test("A change that waits for the renewal keeps the renewal date")
  func cycleOverDowngrade() throws {
    var feed = StateFeed(.purple, started: "2026-01-31")
    feed.report(.downgraded, "2026-02-10", of: 11) {
      $0.product = 3
      $0.previousProduct = StateFeed.monthly
    }
    feed.report(.renewed, "2026-02-28", of: 11) { $0.product = 3 }
    let facts = try feed.facts(asOf: "2026-08-01") {
      $0.periods = [StateFeed.monthly: .months(1), 3: .months(1)]
    }
    #expect(facts.days(.churned) == ["2026-03-31"])
  }

  @Test("A charge without amounts uses the listed ones, with that amount basis")
  func listedAmounts() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    let facts = try feed.facts(asOf: "2026-01-20", listed)
    #expect(facts.revenue.keys.map(\.basis) == [.priceBook])
    #expect(facts.revenue.keys.map(\.currency) == [9])
    #expect(facts.total(\.grossUSD) == "10.00" && facts.total(\.grossLocal) == "9.00")
    #expect(facts.total(\.proceedsUSD) == "7.00" && facts.mrr(.new) == "10.00")
    let unlisted = try feed.facts(asOf: "2026-01-20")
    #expect(unlisted.revenue.keys.map(\.basis) == [.none])
    feed.events[0].revenue = Revenue(local: usd("5"), usd: usd("5"), currency: 9)
    let sent = try feed.facts(asOf: "2026-01-20", listed)
    #expect(sent.revenue.keys.map(\.basis) == [.provider] && sent.total(\.grossUSD) == "5.00")
  }

  @Test("A charge at an offer uses only that offer's price, which no other charge uses")
  func offers() throws {
    var feed = StateFeed(.purple)
    feed.report(.started, "2026-01-10") { $0.offer = 7 }
    feed.report(.renewed, "2026-02-10", of: 11)
    let unlisted = try feed.facts(asOf: "2026-02-20", listed)
    #expect(unlisted.count(.offerWithoutPrice) == 1)
    #expect(unlisted.total(\.grossUSD) == "10.00")
    let facts = try feed.facts(asOf: "2026-02-20") {
      listed(&$0)
      let offer = PriceBook.Price(offer: 7, validFrom: Instant(seconds: 0), usd: usd("1.00"))
      $0.prices.add(offer, store: .unknown, product: StateFeed.monthly)
    }
    #expect(facts.count(.offerWithoutPrice) == 0)
    #expect(Set(facts.revenue.keys.map(\.basis)) == [.priceBook])
    #expect(facts.total(\.grossUSD) == "11.00")
  }

  @Test("A refund without an amount refunds its charge, or without an id its product's")
  func refund() throws {
    for transaction in [Int64(10), 0] {
      var feed = StateFeed(.purple)
      feed.report(.purchased, "2026-01-10")
      feed.report(.purchaseRefunded, "2026-01-20", of: 12) { $0.transaction = transaction }
      let facts = try feed.facts(asOf: "2026-02-01", listed)
      #expect(facts.total(\.refundsUSD) == "10.00" && facts.total(\.proceedsUSD) == "0.00")
      feed.events[1].transaction = 77
      #expect(try feed.facts(asOf: "2026-02-01", listed).total(\.refundsUSD) == "0.00")
    }
  }

  @Test(
    "A repeated refund without an amount refunds nothing again",
    arguments: [
      (Store.appStore, ["10.00", "10.00", "10.00"]), (.amazon, ["10.00", "14.00", "20.00"]),
    ])
  func refundReportedAgain(_ store: Store, _ given: [String]) throws {
    var feed = StateFeed(.purple)
    feed.report(.purchased, "2026-01-10") { $0.store = store }
    feed.report(.purchaseRefunded, "2026-01-20") { $0.store = store }
    feed.report(.purchaseRefunded, "2026-01-21") { $0.store = store }
    let again = try feed.facts(asOf: "2026-02-01", listed)
    #expect(again.total(\.refundsUSD) == given[0])
    #expect(again.excluded.map(\.key.reason) == [.overRefund])
    let findings = try feed.histories(asOf: "2026-02-01", listed).flatMap(\.findings)
    #expect(findings.map(\.code) == [.overRefund])
    // After a partial refund the rest can still be refunded; an id that may repeat refunds all.
    feed.events[1].revenue = Revenue(local: usd("4"), usd: usd("4"), currency: 9)
    let parts = try feed.facts(asOf: "2026-02-01", listed).total(\.refundsUSD)
    #expect(parts == given[1])
    // Bought again under an id that may repeat, it can be refunded again.
    feed.events[1].revenue = nil
    feed.report(.purchased, "2026-01-20T12:00:00") { $0.store = store }
    #expect(try feed.facts(asOf: "2026-02-01", listed).total(\.refundsUSD) == given[2])
  }
}
