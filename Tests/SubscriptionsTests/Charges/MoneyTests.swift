import Testing
import Domain

@testable import Subscriptions

@Suite struct MoneyTests {
  private func charge(
    isProceed: Bool, value: String, price: String?, rate: Int64 = 70
  ) throws -> (money: Money, mismatch: Amount?) {
    var event = Event(kind: .renewed, time: at("2026-01-01"))
    event.revenue = Revenue(
      usd: usd(value), currency: 1, isProceed: isProceed,
      rate: Amount(micros: rate * 1_000_000))
    event.price = price.map { Price(usd: usd($0), currency: 1) }
    return try chargeMoney(event)
  }

  @Test("With is_proceed 0 the revenue is the price")
  func sales() throws {
    let money = try charge(isProceed: false, value: "9.99", price: "1").money
    #expect(money.grossUSD == usd("9.99"))
    #expect(money.proceedsUSD == usd("6.993"))
  }

  @Test("With is_proceed 1 the price is used if it agrees with the proceeds")
  func proceeds() throws {
    // The vendor page's shape: 7.61 proceeds at 70 % of a price of 10.88.
    let money = try charge(isProceed: true, value: "7.61", price: "10.88")
    #expect(money.money.grossUSD == usd("10.88"))
    #expect(money.mismatch == nil)
  }

  @Test("A price that contradicts the proceeds is not used and is reported")
  func mismatch() throws {
    let result = try charge(isProceed: true, value: "7", price: "10.06")
    #expect(result.money.grossUSD == usd("10"))
    #expect(result.mismatch == usd("0.06"))
    let close = try charge(isProceed: true, value: "7", price: "10.05")
    #expect(close.money.grossUSD == usd("10.05"))
  }

  @Test(
    "An impossible rate yields to the price, and a fraction is not a percentage",
    arguments: [
      ("0.7", true, "10.88", nil), ("1", true, "10.88", nil), ("150", true, "10.88", nil),
      ("39", true, "10.88", nil), ("0.7", false, "7.61", nil), ("40", true, "19.025", "7.61"),
      ("100", true, "7.61", "7.61"), ("70", false, "7.61", "5.327"),
    ] as [(String, Bool, String, String?)])
  func impossibleRate(
    _ rate: String, _ isProceed: Bool, _ gross: String, _ proceeds: String?
  ) throws {
    var event = Event(kind: .renewed, time: at("2026-01-01"))
    event.revenue = Revenue(usd: usd("7.61"), currency: 1, isProceed: isProceed, rate: usd(rate))
    event.price = Price(usd: usd("10.88"), currency: 1)
    let money = try chargeMoney(event).money
    #expect(money.grossUSD == usd(gross))
    #expect((money.rate == nil) == event.hasImpossibleRate)
    #expect(event.hasImpossibleRate == (proceeds == nil))
    #expect(money.proceedsUSD == (isProceed ? usd("7.61") : proceeds.map { usd($0) }))
    var unknown = event
    unknown.revenue = Revenue(
      local: usd("1000"), currency: 1, isProceed: isProceed, rate: usd(rate))
    #expect(try chargeMoney(unknown).money.grossUSD == nil)
    var rules = FoldSettings(asOf: at("2026-06-01"))
    rules.deliveryWindows = [:]
    let found = try SubscriptionHistory(events: [event], rules: rules).findings.map(\.code)
    #expect(found.contains(.rateMismatch) == (proceeds == nil || rate != "70"))
  }

  @Test("Sandbox amounts are not checked against their rate", arguments: Environment.allCases)
  func sandboxRate(_ environment: Environment) throws {
    var event = Event(environment: environment, kind: .renewed, time: at("2026-01-01"))
    event.price = Price(usd: usd("10.88"), currency: 1)
    for rate in ["0.7", "80"] {
      event.revenue = Revenue(usd: usd("7.61"), currency: 1, isProceed: true, rate: usd(rate))
      let found = try SubscriptionHistory(
        events: [event], rules: FoldSettings(asOf: at("2026-06-01"))
      ).findings.map(\.code)
      #expect(found.contains(.rateMismatch) == (environment == .production))
    }
  }

  @Test("Without a price, a fractional rate leaves the price unknown")
  func fractionAlone() throws {
    var event = Event(kind: .renewed, time: at("2026-01-01"))
    event.revenue = Revenue(usd: usd("7.61"), currency: 1, isProceed: true, rate: usd("0.7"))
    #expect(try chargeMoney(event).money.grossUSD == nil)
    event.revenue?.rate = usd("30")
    #expect(try chargeMoney(event).money.grossUSD == usd("25.366667"))
    event.revenue = Revenue(usd: .zero, currency: 1, isProceed: false, rate: .zero)
    #expect(!event.hasImpossibleRate)
  }

  @Test("The kind gives a charge its sign, whatever the sign of its amounts")
  func sign() throws {
    func money(_ sign: Int64, _ isProceed: Bool) throws -> (money: Money, mismatch: Amount?) {
      func signed(_ text: String) -> Amount { Amount(micros: usd(text).micros * sign) }
      var event = Event(kind: .started, time: at("2026-01-01"))
      event.revenue = Revenue(
        local: signed("7"), usd: signed("7.61"), currency: 1, isProceed: isProceed,
        rate: usd("70"))
      event.price = Price(local: signed("10"), usd: signed("10.88"), currency: 1)
      return try chargeMoney(event)
    }
    for isProceed in [false, true] {
      let (positive, negative) = (try money(1, isProceed), try money(-1, isProceed))
      #expect(positive.money == negative.money && negative.mismatch == nil)
      #expect(positive.money.grossUSD == usd(isProceed ? "10.88" : "7.61"))
    }
  }

  @Test("Without transaction ids a refund belongs to the last charge of its user and product")
  func refundOf2020() throws {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10", price: "10") { $0.transaction = 0 }
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10") { $0.transaction = 0 }
    story.report(.refunded, "2026-02-20", price: "10") { $0.transaction = 0 }
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.days(.churnedRefund) == ["2026-02-20"])
    #expect(facts.revenue.first { $0.value.refunds == 1 }?.key.chargeKind == .renewal)
    story.events[1].transaction = 102
    story.events[0].transaction = 101
    #expect(try story.facts(asOf: "2026-03-01").count(.churned) == 0)
  }

  @Test("A refund uses the row, the rate and, if whole, the amounts of its charge")
  func refund() throws {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10") {
      $0.country = 5
      $0.revenue = Revenue(
        local: usd("7"), usd: usd("7"), currency: 9, isProceed: true, rate: usd("70"))
      $0.price = Price(local: usd("10.01"), usd: usd("10.01"), currency: 9)
    }
    story.report(.refunded, "2026-01-12") {
      $0.country = 6
      $0.revenue = Revenue(
        local: usd("7"), usd: usd("7.2"), currency: 9, isProceed: true, rate: usd("85"))
    }
    let facts = try story.facts(asOf: "2026-02-01")
    #expect(facts.revenue.keys.allSatisfy { $0.country == 5 && $0.rate == usd("70") })
    #expect(facts.total(\.grossUSD) == "10.01")
    #expect(facts.total(\.refundsUSD) == "10.01")
    #expect(facts.total(\.proceedsUSD) == "0.00")
  }

  @Test(
    "If either charge or refund was sent as proceeds, the prices show whether it is whole")
  func changedSetting() throws {
    func facts(charge: String, _ sentAsProceeds: Bool, refund: String) throws -> BookedHistories {
      var story = Story()
      story.report(.started, "2026-01-10", until: "2026-02-10", price: charge) {
        $0.revenue?.isProceed = sentAsProceeds
      }
      story.report(.refunded, "2026-01-12", price: refund) {
        $0.revenue?.isProceed = !sentAsProceeds
      }
      return try story.facts(asOf: "2026-03-01")
    }
    for (charge, sentAsProceeds, refund) in [("6.99", true, "9.99"), ("9.99", false, "6.99")] {
      let whole = try facts(charge: charge, sentAsProceeds, refund: refund)
      #expect(whole.days(.churnedRefund) == ["2026-01-12"])
      #expect(whole.total(\.refundsUSD) == whole.total(\.grossUSD))
      #expect(whole.total(\.proceedsUSD) == "0.00")
    }
    let part = try facts(charge: "7", true, refund: "7")
    #expect(part.count(.churnedRefund) == 0)
    #expect(part.total(\.refundsUSD) == "7.00")
  }

  @Test(
    "A partial refund of a charge without a rate has no rate, and is in the charge's row",
    arguments: [false, true])
  func refundWithoutRate(isProceed: Bool) throws {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10", price: "10") {
      $0.revenue?.rate = nil
    }
    story.report(.refunded, "2026-01-12", price: "4") { $0.revenue?.isProceed = isProceed }
    let facts = try story.facts(asOf: "2026-02-01")
    #expect(facts.revenue.count == 2 && facts.revenue.keys.allSatisfy { $0.rate == nil })
    #expect(facts.total(\.refundsUSD) == (isProceed ? "5.714286" : "4.00"))
    #expect(facts.revenue.values.count { $0.proceedsUSD.unknown == 1 } == (isProceed ? 1 : 2))
  }

  @Test("Each of thousands of refunds finds its charge, with and without an id")
  func manyRefunds() throws {
    var feed = StateFeed(.purple)
    let first = at("2026-01-01")
    let count = 4000
    for number in 0..<count {
      feed.report(.purchased, "2026-01-01") {
        $0.time = first + Interval(milliseconds: Int64(number) * 1000)
        $0.transaction = Int64(number + 1)
      }
      feed.report(.purchaseRefunded, "2026-01-02") {
        $0.time = first + .days(1) + Interval(milliseconds: Int64(number) * 1000)
        $0.transaction = number < count / 2 ? Int64(number + 1) : 0
      }
    }
    let history = try SubscriptionHistory(
      events: feed.events, rules: FoldSettings(asOf: at("2026-02-01")))
    let refunded = history.bookings.compactMap(\.refundedCharge)
    #expect(refunded.count == count && Set(refunded).count == count)
    #expect(history.state?.refunds.allSatisfy(\.chargeIsKnown) == true)
  }

  @Test("A charge without amounts is unknown, never zero")
  func unknown() throws {
    var story = Story()
    story.report(.renewed, "2026-01-10", until: "2026-02-10")
    let cell = try story.facts(asOf: "2026-02-01").revenue.first
    #expect(cell?.key.basis == AmountBasis.none)
    #expect(cell?.value.grossUSD.unknown == 1)
  }

  @Test("Revenue on an event that is not a charge is reported and not booked")
  func unexpected() throws {
    var story = Story()
    story.report(.trialStarted, "2026-01-10", until: "2026-01-17", price: "9.99")
    let history = try story.history(asOf: "2026-02-01")
    #expect(history.findings.map(\.code) == [.unexpectedRevenue])
    #expect(try story.facts(asOf: "2026-02-01").revenue.isEmpty)
  }

  @Test("The rate of a charge without amounts applies to its refund")
  func rateAlone() throws {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10") {
      $0.revenue = Revenue(isProceed: false, rate: usd("70"))
    }
    story.report(.refunded, "2026-01-12", price: "4.40") { $0.revenue?.rate = usd("85") }
    let facts = try story.facts(asOf: "2026-02-01")
    #expect(facts.revenue.keys.allSatisfy { $0.rate == usd("70") })
    // 70 % of 4.40.
    let refund = facts.revenue.values.first { $0.refunds == 1 }
    #expect(refund?.proceedsUSD.sum == -usd("3.08"))
  }

  @Test("Refunds of charges without a currency are in rows of their own currencies")
  func ownCurrency() throws {
    var story = Story()
    for (number, currency) in [StringID(11), 12].enumerated() {
      story.report(.purchased, "2026-01-10T0\(number):00:00")
      story.report(.purchaseRefunded, "2026-01-12T0\(number):00:00", price: "5") {
        $0.revenue?.currency = currency
      }
    }
    let facts = try story.facts(asOf: "2026-02-01")
    #expect(facts.revenue.filter { $0.value.charges != 0 }.keys.map(\.currency) == [0])
    let refunds = facts.revenue.filter { $0.value.refunds != 0 }
    #expect(Set(refunds.keys.map(\.currency)) == [11, 12])
    #expect(refunds.values.allSatisfy { $0.refundsLocal.sum == usd("5") })
  }
}
