import Domain
import Reconciliation
import Subscriptions
import Testing

@Suite("A missing charge that a later event names")
struct UnseenPeriodCheckTests {
  /// Charges in January and February, then an event of transaction 102, charged in March.
  private func story(
    _ kind: EventKind, _ time: String = "2026-03-15", transaction: Int64 = 102,
    until end: String = "2026-04-01", charged: String = "2026-03-01"
  ) -> Story {
    var story = Story.monthly(renewals: 1)
    story.report(kind, time, until: end, transaction: transaction) { $0.periodStart = at(charged) }
    return story
  }

  private func scenario(_ story: Story, asOf: String = "2026-03-20") -> Scenario {
    Scenario(story, shown: nil, at: asOf)
  }

  @Test(
    "An event that names it with a later end proves a renewal, with id, time and amount",
    arguments: [
      EventKind.canceled, .uncanceled, .expired, .billingRetry, .graceEntered, .paused,
      .endedInvoluntarily,
    ])
  func renewal(kind: EventKind) throws {
    let breaks = scenario(story(kind)).breaks
    #expect(breaks.map(\.code) == [.missedRenewal])
    let found = try #require(breaks.first)
    #expect(found.transaction == "102")
    #expect(found.expectedAt == at("2026-03-01"))
    #expect(found.missingEvents == 1)
    #expect(found.estimatedUSD == Amount(micros: 10_000_000))
    #expect(found.evidence.hasPrefix("\(kind.name) of 2026-03-15"))
    #expect(found.status == .open)
  }

  @Test("The subscription is active until the end of the named period")
  func active() throws {
    let story = story(.canceled)
    let state = try #require(story.lineage(until: at("2026-05-01"))?.state)
    #expect(state.churned.map(\.at) == [at("2026-04-01")])
    #expect(scenario(story, asOf: "2026-05-01").codes == ["MISSED_RENEWAL"])
    #expect(scenario(story, asOf: "2026-05-01").outcome.churnInDoubt.isEmpty)
  }

  @Test("After a cancel, an end several periods later proves one new start")
  func afterCancel() {
    func breaks(canceled: Bool, until end: String) -> [Break] {
      var story = Story.monthly(renewals: 1)
      if canceled { story.report(.canceled, "2026-02-10", until: "2026-03-01", transaction: 101) }
      story.report(.canceled, "2026-03-15", until: end, transaction: 104)
      return scenario(story).breaks
    }
    #expect(breaks(canceled: true, until: "2026-06-01").map(\.code) == [.missedStart])
    #expect(breaks(canceled: true, until: "2026-06-01").map(\.missingEvents) == [1])
    #expect(breaks(canceled: false, until: "2026-06-01").map(\.missingEvents) == [3])
    #expect(breaks(canceled: true, until: "2026-04-01").map(\.code) == [.missedRenewal])
  }

  @Test("After a cancel and a failed payment, a charge within 60 days of the end is a recovery")
  func recovered() {
    func breaks(failed: Bool, until end: String = "2026-05-01") -> [Break] {
      var story = Story.monthly(renewals: 1, counted: false)
      story.report(.canceled, "2026-02-10", transaction: 101)
      if failed { story.report(.graceEntered, "2026-03-01", transaction: 101) }
      story.report(.graceEntered, end, transaction: 103)
      return Scenario(story, shown: nil, at: "2026-08-20", provider: .purple).breaks
    }
    #expect(breaks(failed: true).map(\.code) == [.missedRenewal])
    #expect(breaks(failed: true).map(\.missingEvents) == [1])
    #expect(breaks(failed: false).map(\.code) == [.missedStart])
    #expect(breaks(failed: true, until: "2026-07-11").map(\.code) == [.missedStart])
  }

  @Test("An end several periods later proves as many charges")
  func several() {
    let breaks = scenario(
      story(.canceled, "2026-05-15", transaction: 104, until: "2026-06-01", charged: "2026-05-01"),
      asOf: "2026-05-20"
    ).breaks
    #expect(breaks.map(\.code) == [.missedRenewal])
    #expect(breaks.map(\.missingEvents) == [3])
    #expect(breaks.map(\.expectedAt) == [at("2026-03-01")])
    #expect(breaks.first?.estimatedUSD == Amount(micros: 30_000_000))
  }

  @Test("The loss is one break with the same id as a transaction in a snapshot")
  func oneLoss() {
    let events = scenario(story(.canceled))
    var both = events
    both.entitlements = [
      premium(until: "2026-04-01", .canceled, listing: monthlyTransactions(renewals: 2))
    ]
    #expect(both.codes == ["MISSED_RENEWAL"])
    #expect(both.breaks.map(\.id) == events.breaks.map(\.id))
    both.entitlements = [premium(until: "2026-04-01", .canceled, count: 2)]
    #expect(both.codes == ["MISSED_RENEWAL"])
    #expect(both.breaks.map(\.id) == events.breaks.map(\.id))
  }

  @Test("After a trial, the missing charge is the conversion")
  func conversion() {
    var story = Story.trial
    story.report(.canceled, "2026-01-20", until: "2026-02-08", transaction: 101) {
      $0.periodStart = at("2026-01-08")
    }
    #expect(scenario(story, asOf: "2026-01-25").codes == ["MISSED_CONVERSION"])
  }

  @Test("The original transaction is the start, or a trial start if the event is a trial's")
  func start() {
    for (kind, amount) in [(EventKind.canceled, nil), (.trialCanceled, Amount.zero)] {
      var story = Story()
      story.report(kind, "2026-01-20", until: "2026-02-01") { $0.periodStart = at("2026-01-01") }
      let found = scenario(story, asOf: "2026-01-25").breaks
      #expect(found.map(\.code) == [.missedStart])
      #expect(found.map(\.estimatedUSD) == [amount])
    }
  }

  @Test("Charges before the first event of the feed are not missing")
  func beforeFeed() {
    var scenario = scenario(story(.canceled))
    scenario.firstEventAt = "2026-03-10"
    #expect(!scenario.codes.contains("MISSED_RENEWAL"))
  }

  @Test("A transaction with a charge or trial start is not missing")
  func known() {
    for transaction in [Int64(100), 101] {
      let story = story(.canceled, "2026-02-15", transaction: transaction, until: "2026-04-01")
      #expect(scenario(story, asOf: "2026-02-25").codes == [])
    }
    // A failed order that is charged later.
    var late = story(.billingRetry, "2026-03-01")
    late.report(.renewed, "2026-03-05", until: "2026-04-05", transaction: 102, price: 10, count: 2)
    #expect(scenario(late).codes == [])
  }

  @Test("An equal end, or one less than a period after a failed payment, proves nothing")
  func sameEnd() {
    #expect(
      scenario(story(.canceled, "2026-02-15", until: "2026-03-01"), asOf: "2026-02-20").codes
        == [])
    #expect(
      scenario(story(.billingRetry, "2026-03-01", until: "2026-03-08"), asOf: "2026-03-05").codes
        == [])
  }

  @Test("A product change has a new transaction at once")
  func change() {
    var story = Story.monthly(renewals: 1)
    story.report(.upgraded, "2026-02-10", until: "2027-02-10", transaction: 555, product: 2) {
      $0.previousProduct = Story.monthly
    }
    story.report(.canceled, "2026-02-20", until: "2027-02-10", transaction: 555, product: 2)
    #expect(scenario(story, asOf: "2026-02-25").codes == [])
    #expect(story.lineage(until: at("2026-02-25"))?.state.effectiveEnd == at("2026-03-01"))
  }

  @Test("A change that names another transaction than its charge proves an earlier charge")
  func changeOfUnseen() {
    var story = story(.productChanged, "2026-03-05")
    story.report(
      .upgraded, "2026-03-05", until: "2027-03-05", transaction: 103, price: 90, product: 2)
    let breaks = scenario(story).breaks
    #expect(breaks.map(\.code) == [.missedRenewal])
    #expect(breaks.map(\.transaction) == ["102"])
  }

  @Test("A change that credits an unseen charge proves it; a credit of a known one proves nothing")
  func restOfUnseen() {
    func breaks(_ transaction: Int64) -> [Break] {
      var story = story(.productChanged, "2026-03-05", transaction: transaction)
      story.events[2].revenue = story.events[1].revenue
      story.events[2].revenue?.local = Amount(micros: -4_000_000)
      story.events[2].revenue?.usd = Amount(micros: -4_000_000)
      story.report(
        .upgraded, "2026-03-05", until: "2027-03-05", transaction: 103, price: 90, product: 2)
      return scenario(story).breaks.filter { $0.code != .missedRenewal || $0.status == .open }
    }
    #expect(breaks(102).map(\.transaction) == ["102"])
    #expect(breaks(102).map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    #expect(breaks(101).filter { $0.transaction == "101" }.isEmpty)
  }

  @Test("If a product change may count, a single free period before a renewal decides")
  func freeAfterChange() {
    func codes(_ renewed: String, until end: String, count: Int32 = 2) -> [String] {
      var story = Story.monthly(renewals: 0)
      story.report(
        .upgraded, "2026-01-10", until: "2026-02-10", transaction: 101, price: 12, product: 2)
      story.report(
        .renewed, renewed, until: end, transaction: 103, price: 12, count: count, product: 2)
      return scenario(story, asOf: end).breaks.filter { $0.status == .open }.map(\.code.rawValue)
    }
    #expect(codes("2026-03-10", until: "2026-04-10") == ["MISSED_RENEWAL"])
    #expect(codes("2026-03-10", until: "2026-04-10", count: 1) == [])
    #expect(codes("2026-02-10", until: "2026-03-10") == [])
  }

  @Test("An event after the last charge with a higher counter proves one renewal")
  func counter() {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-15", until: "2026-03-01", transaction: 101, count: 1)
    #expect(scenario(story, asOf: "2026-02-20").codes == [])
    story.report(.expired, "2026-04-01", transaction: 101, count: 2)
    let breaks = scenario(story, asOf: "2026-04-05").breaks
    #expect(breaks.map(\.code) == [.missedRenewal])
    #expect(breaks.map(\.missingEvents) == [1])
    #expect(breaks.map(\.expectedAt) == [at("2026-03-01")])
  }

  @Test("Without counters, a renewal proves one charge if exactly one period before it is free")
  func freePeriod() {
    func codes(_ lost: Set<Int>, canceled: Bool = false) -> [String] {
      var story = Story.monthly(renewals: 5, without: lost, counted: false)
      if canceled { story.report(.canceled, "2026-02-15", until: "2026-03-01", transaction: 101) }
      return scenario(story, asOf: "2026-06-20").codes
    }
    #expect(codes([]) == [])
    #expect(codes([2]) == ["MISSED_RENEWAL"])
    #expect(codes([2, 3]) == [])
    #expect(codes([2], canceled: true) == [])
  }

  @Test("A downgrade that names an earlier charge proves it; one that names its own does not")
  func downgradeOfUnseen() {
    func breaks(charged: String) -> [Break] {
      var story = Story.trial
      story.report(
        .downgraded, "2026-02-20", until: "2027-01-08", transaction: 101, product: 2
      ) {
        $0.previousProduct = Story.monthly
        $0.periodStart = at(charged)
      }
      return scenario(story, asOf: "2026-03-20").breaks.filter { !$0.transaction.isEmpty }
    }
    #expect(breaks(charged: "2026-01-08").map(\.code) == [.missedConversion])
    #expect(breaks(charged: "2026-01-08").map(\.transaction) == ["101"])
    #expect(breaks(charged: "2026-02-20").isEmpty)
  }

  @Test("After a new start without a known earlier count, a free period proves a charge")
  func freePeriodAfterRestart() {
    func breaks(_ startIsSeen: Bool) -> [Break] {
      var story = Story()
      if startIsSeen {
        story.report(.started, "2025-12-02", until: "2026-01-02", price: 10)
      }
      story.report(.expired, "2026-01-02", until: "2026-01-02")
      story.report(.started, "2026-02-01", until: "2026-03-01", transaction: 101, price: 10)
      story.report(
        .renewed, "2026-04-01", until: "2026-05-01", transaction: 103, price: 10, count: 1)
      return scenario(story, asOf: "2026-04-20").breaks
    }
    #expect(breaks(false).map(\.code) == [.missedRenewal])
    #expect(breaks(false).map(\.expectedAt) == [at("2026-03-01")])
    #expect(breaks(true).isEmpty)
  }

  @Test("Without sent ends, an expiry long after a failed payment proves no more periods")
  func expiredAfterFailure() {
    var story = Story.monthly(renewals: 1, counted: false)
    story.report(.graceEntered, "2026-04-01", transaction: 102)
    story.report(.expired, "2026-05-25", transaction: 102)
    let breaks = Scenario(story, shown: nil, at: "2026-09-20", provider: .purple).breaks
    #expect(breaks.map(\.code) == [.missedRenewal])
    #expect(breaks.map(\.missingEvents) == [1])
  }

  @Test("A charge of another product is one, however long its period is")
  func otherProduct() {
    var story = Story.monthly(renewals: 0)
    story.report(
      .canceled, "2026-03-15", until: "2027-01-20", transaction: 102, product: Story.yearly
    ) { $0.periodStart = at("2026-01-20") }
    #expect(scenario(story).breaks.map(\.missingEvents) == [1])
    #expect(scenario(story).breaks.map(\.expectedAt) == [at("2026-01-20")])
  }
}
