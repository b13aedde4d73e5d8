import Testing
import Domain

@testable import Subscriptions

@Suite struct ProductChangeTests {
  /// Monthly for $10 from March, upgraded for $20 on the 16th with an unknown end.
  private func upgraded() -> Story {
    var story = Story.paid("2026-03-01", until: "2026-04-01")
    story.report(.upgraded, "2026-03-16", until: "2026-03-16", price: "20", toYearly)
    return story
  }

  @Test("The own time of another product change is not the end of an upgrade")
  func ownTimeOfAnotherChange() throws {
    var story = upgraded()
    story.report(.productChanged, "2026-03-16T00:00:01", until: "2026-03-16T00:00:01") {
      $0.product = Story.yearly
    }
    let history = try story.history(asOf: "2026-05-10")
    #expect(
      history.findings.map(\.code) == [.expiryMismatch] && history.state?.unansweredEnd == nil)
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.count(.churned) == 0 && facts.mrr(.transferIn) == "10.00")
  }

  @Test("The upgrade's own time, or an event of the old charge, is not the end of an upgrade")
  func endsOfAnotherKind() throws {
    var story = upgraded()
    story.events[1].periodStart = at("2026-03-15T23:59:58")
    story.report(.productChanged, "2026-03-16T00:00:01", until: "2026-03-16") {
      $0.product = Story.yearly
    }
    story.report(.canceled, "2026-03-20", until: "2026-04-01") { $0.transaction = 101 }
    story.report(.expired, "2026-04-01", until: "2026-04-01") { $0.transaction = 101 }
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.count(.churned) == 0 && facts.mrr(.transferOut) == "10.00")
  }

  @Test("After an upgrade and a downgrade, the next renewal gives the end")
  func renewalContainsEnd() throws {
    var story = upgraded()
    story.report(.downgraded, "2026-03-20", until: "2026-03-20") {
      $0.previousProduct = Story.yearly
    }
    story.report(.renewed, "2026-04-16", until: "2026-05-16", price: "10")
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.count(.churned) == 0 && facts.count(.reactivated) == 0)
    #expect(facts.mrr(.transferIn, product: Story.yearly) == "20.00")
  }

  @Test("A product change with a time other than its own gives the end of an upgrade")
  func changeWithEnd() throws {
    var story = upgraded()
    story.report(.downgraded, "2026-03-20", until: "2026-04-16")
    let facts = try story.facts(asOf: "2026-05-10")
    #expect(facts.days(.churned) == ["2026-04-16"])
  }

  @Test("A subscription with only a product change has no known end")
  func changeAlone() throws {
    var story = Story()
    story.report(.downgraded, "2026-03-20", until: "2026-03-20")
    let history = try story.history(asOf: "2026-05-10")
    #expect(history.state?.periodEnd == nil)
  }

  /// Monthly for $10 in Germany under id 101; on the 16th $5 are refunded under id `credit`, and
  /// yearly begins for $100 under id `charge`, reported as `kinds`.
  private func remainder(
    credit: Int64, charge: Int64, _ kinds: (EventKind, EventKind), at times: (String, String)
  ) -> Story {
    var story = Story()
    story.report(.started, "2026-01-01", until: "2026-02-01", price: "10") { $0.country = 5 }
    story.report(kinds.0, times.0, until: times.0) {
      $0.transaction = credit
      $0.startsLineage = false
      toYearly(&$0)
      $0.country = 6
      $0.revenue = Revenue(usd: Amount(micros: -5_000_000), currency: 9, isProceed: false)
    }
    story.report(kinds.1, times.1, until: "2027-01-16", price: "100") {
      $0.transaction = charge
      $0.startsLineage = false
      $0.product = Story.yearly
      $0.previousProduct = $0.kind.isProductChange ? Story.monthly : 0
    }
    return story
  }

  @Test("The credit for the old product is booked once, whatever its ids, times and names")
  func remainderOfOldProduct() throws {
    let (early, noon, late) = ("2026-01-16T11:59:59", "2026-01-16T12:00:00", "2026-01-16T12:00:01")
    let kinds: [(EventKind, EventKind)] = [
      (.upgraded, .productChanged), (.productChanged, .upgraded), (.upgraded, .started),
      (.upgraded, .renewed), (.downgraded, .downgraded),
    ]
    for (credit, charge) in [(Int64(101), Int64(102)), (102, 102), (102, 103)] {
      for names in kinds {
        for time in [early, noon, late] {
          var story = remainder(credit: credit, charge: charge, names, at: (time, noon))
          let reported = "\(credit) \(names) \(time)"
          for turn in 0..<6 {
            story.events.swapAt(turn % 3, (turn + 1) % 3)
            for index in 0..<3 { story.events[index].identity = Int64((index + turn) % 3) }
            let history = try story.history(asOf: "2026-03-01")
            #expect(history.findings.isEmpty, "\(reported)")
            let refund = try #require(history.state?.refunds.first)
            #expect(refund.transaction == 101 && refund.chargeIsKnown, "\(reported)")
            let facts = try story.facts(asOf: "2026-03-01")
            let cell = try #require(facts.revenue.first { $0.value.refunds == 1 })
            #expect(cell.key.productKey.product == Story.monthly, "\(reported)")
            #expect(cell.key.country == (credit == 101 ? 5 : 6), "\(reported)")
            #expect(cell.value.refundsUSD.sum == usd("5") && facts.count(.churned) == 0)
            #expect(facts.mrr(.transferIn, product: Story.yearly) == "8.333333", "\(reported)")
          }
        }
      }
    }
  }

  @Test("The credit for an old product is at most its charge")
  func remainderBeyondCharge() throws {
    for (refunded, held) in [("10", "5.00"), ("7", "2.00"), ("5", nil)] {
      var story = remainder(
        credit: 101, charge: 102, (.upgraded, .upgraded),
        at: ("2026-01-16T12:00:00", "2026-01-16T12:00:00"))
      story.report(.refunded, "2026-01-10", price: refunded) { $0.transaction = 101 }
      story.events.swapAt(1, 3)
      let history = try story.history(asOf: "2026-03-01")
      let found = history.findings.filter { $0.code == .overRefund }
      #expect(found.map { $0.difference?.text() } == (held.map { [$0] } ?? []))
      let facts = try story.facts(asOf: "2026-03-01")
      #expect(facts.total(\.refundsUSD) == "10.00")
      #expect(facts.excluded.map(\.key.reason) == (held == nil ? [] : [.overRefund]))
    }
  }

  @Test("If the amounts of a product change contradict each other, US dollars decide")
  func contradictingSigns() throws {
    for (usd, local, isCredit) in [(5, -4, false), (-5, 4, true), (0, -4, true), (0, 4, false)] {
      var story = Story.paid("2026-01-01", until: "2026-02-01")
      story.report(.upgraded, "2026-01-16", until: "2027-01-16") {
        toYearly(&$0)
        $0.revenue = Revenue(
          local: Amount(micros: Int64(local) * 1_000_000),
          usd: Amount(micros: Int64(usd) * 1_000_000), currency: 9, isProceed: false)
      }
      let history = try story.history(asOf: "2026-03-01")
      let change = try #require(history.bookings.last)
      #expect(change.isRefund == isCredit, "\(usd) \(local)")
      #expect(change.money.grossLocal == Amount(micros: 4_000_000))
      #expect(change.money.grossUSD == Amount(micros: Int64(abs(usd)) * 1_000_000))
    }
  }

  @Test("A credit before its own charge is an impossible sequence")
  func remainderBeforeCharge() throws {
    var story = remainder(
      credit: 101, charge: 102, (.upgraded, .upgraded),
      at: ("2026-01-16T12:00:00", "2026-01-16T12:00:00"))
    story.events[0].time = at("2026-01-17")
    let history = try story.history(asOf: "2026-03-01")
    #expect(history.findings.map(\.code) == [.impossibleSequence])
  }

  @Test("Between two plans of one product a credit raises no break")
  func plansOfOneProduct() throws {
    var story = remainder(
      credit: 102, charge: 102, (.upgraded, .upgraded),
      at: ("2026-01-16T12:00:00", "2026-01-16T12:00:01"))
    for previous in [0, Story.yearly] {
      for index in 1...2 { story.events[index].previousProduct = previous }
      let history = try story.history(asOf: "2026-03-01")
      #expect(history.findings.isEmpty)
    }
  }

  @Test(
    "Of two changes in one second, the one without money gives the end of the charged one")
  func unpaidChangeInTheSameSecond() throws {
    for identities in [(Int64(7), Int64(8)), (8, 7)] {
      var story = upgraded()
      story.report(.productChanged, "2026-03-16", until: "2026-04-16") {
        $0.product = Story.yearly
        $0.identity = identities.0
      }
      story.events[1].identity = identities.1
      #expect(try story.facts(asOf: "2026-05-10").days(.churned) == ["2026-04-16"])
    }
  }
}
