import Testing
import Domain

@testable import Simulation

@Suite struct WorldTests {
  @Test("The generator gives the numbers of SplitMix64 in every version")
  func randomness() {
    var first = Randomness(seed: 1, item: 2, stream: 3)
    var second = Randomness(seed: 1, item: 2, stream: 3)
    #expect((0..<100).allSatisfy { _ in first.next() == second.next() })
    // The published value of the finalizer for the first state of seed 0.
    #expect(Randomness.mix(0x9e37_79b9_7f4a_7c15) == 0xe220_a839_7b1d_cdaf)
    let draws = (0..<1_000).map { _ in first.between(-3, 3) }
    #expect(Set(draws) == Set(-3...3))
  }

  @Test("Months are added by calendar, to the last day if a month is too short")
  func calendarMonths() {
    func instant(_ year: Int, _ month: Int, _ dayOfMonth: Int) -> Instant {
      Instant(seconds: Int64(Day(year: year, month: month, day: dayOfMonth).number) * day + 7)
    }
    let january = instant(2025, 1, 31)
    #expect(PeriodLength.months(1).end(from: january) == instant(2025, 2, 28))
    #expect(PeriodLength.months(12).end(from: january) == instant(2026, 1, 31))
  }

  @Test("The times of a scenario are the starts of months since 2025")
  func months() {
    func second(_ year: Int, _ month: Int) -> Int64 {
      Int64(Day(year: year, month: month, day: 1).number) * day
    }
    let span = TimeSpan(Scenario(seed: 1, months: 23))
    #expect(span.start == second(2025, 1) && span.end == second(2026, 12))
    #expect(span.priceRise == second(2026, 1) && span.proceedSwitch == second(2026, 4))
  }

  @Test("Exchange rates of adjacent months differ by at most five percent")
  func rates() {
    for market in Market.all {
      let rates = (0...36).map { market.rate(at: start(of: Month(number: 2025 * 12 + $0))) }
      for (now, next) in zip(rates, rates.dropFirst()) {
        #expect(abs(next - now) * 20 < now)
      }
    }
  }

  @Test("A customer's periods follow one another, and every event is within the world")
  func customers() throws {
    let world = try World.calm()
    let span = TimeSpan(world.scenario)
    for customer in try world.customers {
      let times = customer.occurrences.map(\.time)
      #expect(times == times.sorted())
      #expect(times.allSatisfy { $0 >= span.start && $0 < span.end })
      for subscription in customer.subscriptions {
        for (before, after) in zip(subscription.periods, subscription.periods.dropFirst()) {
          #expect(before.effectiveEnd <= after.start || before.graceEnd != nil)
          #expect(before.start < after.start && after.start <= after.charge.time)
        }
        let ordinals = subscription.periods.compactMap(\.charge.ordinal)
        let expected = ordinals.indices.map { Int32($0 + 1) }
        #expect(ordinals == expected)
      }
    }
  }

  @Test("A failed attempt is repeated on the documented schedule")
  func schedule() {
    var scenario = Scenario(seed: 4, subscribers: 50, months: 6)
    scenario.delayedShare = 950_000
    scenario.lostShare = 0
    scenario.duplicatedShare = 0
    scenario.reorderedShare = 0
    let customer = CustomerSimulator(of: 2, in: scenario).customer
    for index in customer.occurrences.indices {
      let delivery = scenario.delivery(of: index, in: customer)
      #expect(delivery.arrivals.count == 1)
      let arrival = delivery.arrivals[0]
      let waited = arrival.received / 1000 - arrival.created
      #expect(waited - Provider.qonversion.sender.attempts[arrival.attempt - 1] <= 3)
    }
    #expect(Provider.qonversion.sender.attempts == [0, 60, 360, 14_400, 28_800, 86_400])
  }
}
