import Reconciliation
import Testing
import Domain

@Suite("Renewal counters that jump")
struct CounterCheckTests {
  @Test("Renewal 5 after renewal 3 is one missing renewal, without any snapshot")
  func gap() {
    let scenario = Scenario(.monthly(renewals: 5, without: [4]), shown: nil, at: "2026-06-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].missingEvents == 1)
    #expect(scenario.breaks[0].expectedAt == at("2026-05-01"))
    #expect(scenario.breaks[0].estimatedUSD == Amount(micros: 10_000_000))
  }

  @Test("Counters without a jump are not a break, wherever they begin")
  func noGap() {
    let scenario = Scenario(
      .monthly(renewals: 5, without: [0, 1, 2]), shown: nil, at: "2026-06-20",
      firstEventAt: "2026-03-20")
    #expect(scenario.codes == [])
  }

  @Test("A trial followed by renewal 2 lost its conversion and renewal 1")
  func afterTrial() {
    var story = Story.trial
    story.report(.renewed, "2026-03-08", until: "2026-04-08", transaction: 103, price: 10, count: 2)
    let scenario = Scenario(story, shown: nil, at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_CONVERSION", "MISSED_RENEWAL"])
  }

  @Test("A missing start begins the count only if its id is the original one")
  func listedRestart() {
    let story = Story.monthly(renewals: 3, without: [0, 1, 2])
    let restart = bought(102, .started, "2026-03-01", until: "2026-04-01")
    let renewed = bought(103, .renewed, "2026-04-01", until: "2026-05-01")
    let scenario = Scenario(
      story, shown: premium(until: "2026-05-01", listing: [restart, renewed]), at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_START"])
  }

  @Test("The first renewal is due a period after the start")
  func firstRenewal() {
    let story = Story.monthly(renewals: 2, without: [0, 1])
    let scenario = Scenario(
      story, shown: premium(until: "2026-04-01", started: "2026-01-01"), at: "2026-03-20")
    #expect(scenario.codes == ["MISSED_RENEWAL", "MISSED_START"])
    let renewal = scenario.breaks.first { $0.code == .missedRenewal }
    #expect((renewal?.expectedAt).map { $0 > at("2026-01-28") && $0 < at("2026-02-03") } == true)
  }

  @Test("Renewals in the snapshot's counter beyond the events are missing")
  func difference() {
    var scenario = Scenario(
      .monthly(renewals: 3, without: [2], counted: false),
      shown: premium(until: "2026-05-01", count: 3), at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    #expect(scenario.breaks[0].missingEvents == 1)
    #expect(scenario.breaks[0].expectedAt == at("2026-03-01"))
    scenario.entitlements = [premium(until: "2026-05-01", count: 2)]
    #expect(scenario.codes == [])
  }

  @Test("A new start without a counter may be counted by the next renewal")
  func newStart() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    story.report(.started, "2026-03-01", until: "2026-04-01", transaction: 101, price: 10)
    story.report(.renewed, "2026-04-01", until: "2026-05-01", transaction: 102, price: 10, count: 2)
    var scenario = Scenario(story, shown: nil, at: "2026-04-20")
    #expect(scenario.breaks.map(\.missingEvents) == [0])
    #expect(scenario.breaks.map(\.severity) == [.info])
    scenario.stories[0].events[4].renewalCount = 3
    #expect(scenario.breaks.map(\.missingEvents) == [1])
  }

  @Test("A missing renewal found in a list accounts for the jump of the next counter")
  func listedAndCounted() {
    var story = Story.monthly(renewals: 2, without: [1])
    story.reportEnd(canceled: "2026-03-10", until: "2026-04-01", transaction: 102)
    story.report(.started, "2026-05-01", until: "2026-06-01", transaction: 103, price: 10)
    let listed =
      monthlyTransactions(renewals: 2) + [bought(103, .started, "2026-05-01", until: "2026-06-01")]
    let scenario = Scenario(
      story, shown: premium(until: "2026-06-01", count: 3, listing: listed), at: "2026-05-20")
    #expect(scenario.breaks.map(\.transaction) == ["101"])
  }

  @Test("Each of several jumps in a row is a separate missing renewal")
  func jumpsInARow() {
    var story = Story()
    for (step, count) in [0, 1, 3, 5, 7].enumerated() {
      story.report(
        step == 0 ? .started : .renewed, month(step + 1), until: month(step + 2),
        transaction: 100 + Int64(step), price: 10, count: Int32(count))
    }
    let scenario = Scenario(story, shown: nil, at: "2026-05-20")
    #expect(scenario.codes == ["MISSED_RENEWAL", "MISSED_RENEWAL", "MISSED_RENEWAL"])
    #expect(scenario.breaks.map(\.missingEvents) == [1, 1, 1])
  }

  @Test("A change within a period that a list shows as missing is counted once")
  func changeInBetween() {
    var story = Story.monthly(renewals: 0)
    story.report(
      .renewed, "2027-01-15", until: "2028-01-15", transaction: 102, price: 90, count: 2,
      product: Story.yearly)
    let scenario = Scenario(
      story,
      shown: premium(
        until: "2028-01-15", product: "", count: 2,
        listing: [
          bought(100, .started, "2026-01-01", until: "2026-02-01"),
          bought(101, .renewed, "2026-01-15", until: "2027-01-15"),
          bought(102, .renewed, "2027-01-15", until: "2028-01-15"),
        ]), at: "2027-02-20")
    #expect(scenario.breaks.map(\.transaction) == ["101"])
  }

  @Test("A missing conversion is the first payment, even if renewals are counted")
  func missingConversion() {
    var story = Story.trial
    story.report(
      .upgraded, "2026-01-20", until: "2026-02-20", transaction: 102, price: 10)
    story.report(.renewed, "2026-02-20", until: "2026-03-20", transaction: 103, price: 10)
    let scenario = Scenario(
      story,
      shown: premium(
        until: "2026-03-20", product: "", count: 2,
        listing: [
          bought(100, .trialStarted, "2026-01-01", until: "2026-01-08"),
          bought(101, .started, "2026-01-08", until: "2026-02-08"),
          bought(102, .renewed, "2026-01-20", until: "2026-02-20"),
          bought(103, .renewed, "2026-02-20", until: "2026-03-20"),
        ]), at: "2026-03-10")
    #expect(scenario.codes == ["MISSED_CONVERSION"])
  }

  @Test("A return shown by the snapshot's end is the one in its counter")
  func restart() {
    var story = Story.monthly(renewals: 0)
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    let scenario = Scenario(
      story, shown: premium(until: "2026-05-01", started: "2026-04-01", count: 1), at: "2026-04-20")
    #expect(scenario.codes == ["MISSED_START"])
    #expect(scenario.breaks.map(\.missingEvents) == [1])
  }

  @Test("Purple's product changes count in the snapshot, although they have no money")
  func purpleChange() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.report(
      .upgraded, "2026-01-15", transaction: 101, product: Story.yearly)
    let scenario = Scenario(
      story, shown: premium(product: "com.example.yearly", count: 1), at: "2026-01-20",
      provider: .purple)
    #expect(scenario.codes == [])
  }

  @Test("The greatest counter that a ledger can store is handled in events and snapshots")
  func greatestCounter() {
    var story = Story.monthly(renewals: 2, without: [0, 2])
    story.events[0].renewalCount = .max
    var scenario = Scenario(
      story, shown: premium(until: "2026-04-01"), at: "2026-03-20", firstEventAt: "2026-01-15")
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    scenario.stories[0].report(
      .renewed, "2026-03-01", until: "2026-04-01", transaction: 102, price: 10)
    #expect(scenario.codes == [])
  }

  /// A start, renewal 1, a product change with the counter `upgrade`, and renewal `next`.
  private func upgraded(_ upgrade: Int32?, next: Int32) -> Scenario {
    var story = Story.monthly(renewals: 1)
    story.report(
      .upgraded, "2026-02-15", until: "2026-03-15", transaction: 102, price: 20, count: upgrade,
      product: Story.yearly)
    story.report(
      .renewed, "2026-03-15", until: "2026-04-15", transaction: 103, price: 20, count: next,
      product: Story.yearly)
    return Scenario(story, shown: nil, at: "2026-04-10")
  }

  @Test("A product change with its own counter leaves no gap after it")
  func countedChange() {
    #expect(upgraded(2, next: 3).codes == [])
    #expect(upgraded(1, next: 2).codes == [])
    let lost = upgraded(2, next: 4)
    #expect(lost.codes == ["MISSED_RENEWAL"])
    #expect(lost.breaks.map(\.missingEvents) == [1])
    #expect(lost.breaks.map(\.status) == [.open])
    #expect(upgraded(1, next: 3).breaks.map(\.missingEvents) == [1])
  }

  @Test("A jump of one after a product change without a counter is only information")
  func uncountedChange() {
    #expect(upgraded(nil, next: 2).codes == [])
    let scenario = upgraded(nil, next: 3)
    #expect(scenario.codes == ["MISSED_RENEWAL"])
    let found = scenario.breaks[0]
    #expect(found.severity == .info && found.status == .resolved)
    #expect(found.missingEvents == 0 && found.estimatedUSD == nil && found.settlesAt == nil)
    #expect(scenario.outcome.churnInDoubt.isEmpty)
    let more = upgraded(nil, next: 4)
    #expect(more.breaks.map(\.missingEvents) == [1])
    #expect(more.breaks.map(\.status) == [.open])
    #expect(more.breaks.map(\.id) == scenario.breaks.map(\.id))
  }

  @Test("A snapshot that counts a product change as a renewal has nothing missing")
  func snapshotCountsChange() {
    for upgrade in [nil, 8] as [Int32?] {
      var story = Story()
      story.report(.renewed, "2026-01-01", until: "2026-02-01", price: 10, count: 7)
      story.report(
        .upgraded, "2026-01-15", until: "2026-02-15", transaction: 102, price: 20, count: upgrade)
      var scenario = Scenario(
        story, shown: premium(until: "2026-02-15", count: 8), at: "2026-02-10")
      #expect(scenario.codes == [])
      scenario.entitlements = [premium(until: "2026-02-15", count: 9)]
      #expect(scenario.codes == ["MISSED_RENEWAL"])
    }
  }

  @Test("A lineage whose start is unknown cannot be counted")
  func unknownStart() {
    let scenario = Scenario(
      .monthly(renewals: 3, without: [0, 1], counted: false),
      shown: premium(until: "2026-05-01", count: 30), at: "2026-04-20", firstEventAt: "2026-03-01")
    #expect(scenario.codes == [])
  }

  @Test("A trial, a first payment and 18 renewals give renewsCount 18, as in the SDK guide")
  func documentedExample() {
    var story = Story.trial
    story.report(.trialConverted, "2026-01-08", until: month(2), transaction: 101, price: 10)
    for step in 1...18 {
      story.report(
        .renewed, month(step + 1), until: month(step + 2), transaction: 101 + Int64(step),
        price: 10)
    }
    var scenario = Scenario(story, shown: premium(until: month(20), count: 18), at: "2027-07-10")
    #expect(scenario.codes == [])
    scenario.entitlements = [premium(until: month(20), count: 19)]
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }

  @Test("A new start after a lapse does not turn earlier counters into a gap")
  func lateStart() {
    let known = Story.monthly(renewals: 5, without: [0, 1, 2, 3])
    let transactions = [
      bought(104, .renewed, "2026-05-01", until: "2026-06-01"),
      bought(105, .renewed, "2026-06-01", until: "2026-07-01"),
      bought(106, .started, "2026-09-01", until: "2026-10-01"),
    ]
    let scenario = Scenario(
      known, shown: premium(until: "2026-10-01", listing: transactions), at: "2026-09-20")
    #expect(scenario.codes == ["MISSED_START"])
  }

  @Test("The renewal that recovered a failed payment came a period before the next one")
  func recovered() {
    var story = Story.monthly(renewals: 1)
    story.report(.renewed, "2026-04-20", until: "2026-05-20", transaction: 103, price: 10, count: 3)
    var scenario = Scenario(story, shown: nil, at: "2026-05-01")
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-03-01")])
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    scenario.stories = [story]
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-03-20")])
    #expect(scenario.codes == ["MISSED_RENEWAL"])
  }
}
