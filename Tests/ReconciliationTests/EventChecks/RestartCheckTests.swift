import Domain
import Reconciliation
import Subscriptions
import Testing

@Suite("A charge after a lapse")
struct RestartCheckTests {
  /// Charges of January and February, and an expiry; then a cancel of the transaction 102.
  private func story(charged: String) -> Story {
    var story = Story.monthly(renewals: 1)
    story.reportEnd(canceled: "2026-02-10", until: "2026-03-01", transaction: 101)
    story.report(.canceled, "2026-06-10", until: "2026-07-01", transaction: 102) {
      $0.periodStart = at(charged)
    }
    return story
  }

  @Test("A renewal whose state dates the purchase after a lapse proves that start")
  func boughtAgain() {
    func breaks(_ bought: String) -> [Break] {
      var story = Story.monthly(renewals: 0, counted: false)
      story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
      for (step, day) in ["2026-05-01", "2026-06-01"].enumerated() {
        story.report(
          .renewed, day, until: month(step + 6), transaction: 201 + Int64(step), price: 10
        ) {
          var state = Observation()
          state.firstPurchasedAt = at(bought)
          $0.observation = state
        }
      }
      return Scenario(story, shown: nil, at: "2026-06-20", provider: .iaptic).breaks
    }
    let found = breaks("2026-04-01")
    #expect(found.map(\.code) == [.missedStart])
    #expect(found.map(\.expectedAt) == [at("2026-04-01")])
    #expect(found.map(\.estimatedUSD) == [Amount(micros: 10_000_000)])
    // The purchase before the lapse, and one whose charge arrived.
    #expect(breaks("2026-01-01").isEmpty)
    #expect(breaks("2026-05-01").isEmpty)
  }

  @Test("An event that dates its charge after an expiry and the gap proves one new start")
  func namedRestart() throws {
    func found(_ charged: String) throws -> (breaks: [Break], churned: [Instant]) {
      let story = story(charged: charged)
      let state = try #require(story.lineage(until: at("2026-09-20"))?.state)
      let scenario = Scenario(story, shown: nil, at: "2026-09-20")
      return (scenario.breaks, state.churned.map(\.at))
    }
    let restart = try found("2026-06-01")
    #expect(restart.breaks.map(\.code) == [.missedStart])
    #expect(restart.breaks.map(\.expectedAt) == [at("2026-06-01")])
    #expect(restart.breaks.map(\.missingEvents) == [1])
    #expect(restart.churned == [at("2026-03-01")])
    let continued = try found("2026-03-01")
    #expect(continued.breaks.map(\.code) == [.missedRenewal])
    #expect(continued.churned == [at("2026-07-01")])
  }

  @Test("An expiry after a failed payment ends the period that it names, however late it came")
  func afterFailedPayment() {
    var story = Story.monthly(renewals: 1)
    story.report(.canceled, "2026-02-10", until: "2026-03-01", transaction: 101)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    story.report(.expired, "2026-03-10", until: "2026-03-01", transaction: 101)
    story.report(.canceled, "2026-04-20", until: "2026-05-01", transaction: 102) {
      $0.periodStart = nil
    }
    let scenario = Scenario(story, shown: nil, at: "2026-09-20")
    #expect(scenario.breaks.map(\.code) == [.missedStart])
    #expect(scenario.breaks.map(\.missingEvents) == [1])
  }

  @Test("An undated start is expected one calendar month before its end")
  func calendarMonth() {
    var story = Story.monthly(renewals: 1)
    story.reportEnd(canceled: "2026-02-10", until: "2026-03-01", transaction: 101)
    story.report(.canceled, "2026-04-20", until: "2026-05-01", transaction: 102) {
      $0.periodStart = nil
    }
    let scenario = Scenario(
      story, shown: nil, at: "2026-09-20", change: { $0.fold.periods[Story.monthly] = .months(1) })
    #expect(scenario.breaks.map(\.code) == [.missedStart])
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-04-01")])
  }

  @Test("An undated event after an expiry and the gap proves one new start")
  func undatedRestart() {
    var story = Story.monthly(renewals: 1, counted: false)
    story.reportEnd(canceled: "2026-02-10", until: "2026-03-01", transaction: 101)
    story.report(.canceled, "2026-06-10", transaction: 102)
    let breaks = Scenario(story, shown: nil, at: "2026-09-20", provider: .purple).breaks
    #expect(breaks.map(\.code) == [.missedStart])
    #expect(breaks.map(\.missingEvents) == [1])
  }

  @Test("An event or a listed charge dated after a refund and the gap proves one new start")
  func restartAfterRefund() {
    var story = Story.monthly(renewals: 1)
    story.report(.refunded, "2026-02-10", transaction: 101, price: -10)
    var shown = Scenario(
      story,
      shown: premium(
        until: "2026-07-01", listing: [bought(102, .unknown, "2026-06-01", until: "2026-07-01")]),
      at: "2026-06-20")
    #expect(shown.codes == ["MISSED_START"])
    story.report(.expired, "2026-07-01", until: "2026-07-01", transaction: 102) {
      $0.periodStart = at("2026-06-01")
    }
    shown = Scenario(story, shown: nil, at: "2026-09-20")
    #expect(shown.codes == ["MISSED_START"])
    #expect(shown.breaks.map(\.missingEvents) == [1])
    #expect(shown.breaks.map(\.expectedAt) == [at("2026-06-01")])
  }

  @Test("A snapshot that shows the new start adds no second break")
  func shownRestart() {
    for list in [[], [bought(102, .started, "2026-06-01", until: "2026-07-01")]] {
      let scenario = Scenario(
        story(charged: "2026-06-01"), shown: premium(until: "2026-07-01", .canceled, listing: list),
        at: "2026-06-20")
      #expect(scenario.codes == ["MISSED_START"])
    }
  }

  @Test("A list with the charges before and after a free time shows that none is missing in it")
  func listedAroundFreeTime() {
    let charges = [
      bought(101, .renewed, "2026-02-01", until: "2026-03-01"),
      bought(102, .started, "2026-05-01", until: "2026-06-01"),
      bought(106, .renewed, "2026-06-01", until: "2026-07-01"),
    ]
    func codes(_ listed: [Int]) -> [String] {
      var story = Story.monthly(renewals: 1, counted: false)
      story.report(.expired, "2026-03-01", until: "2026-03-01", transaction: 101)
      story.report(.renewed, "2026-06-01", until: "2026-07-01", transaction: 106, price: 10)
      let list = charges.filter { listed.contains(Int($0.id) ?? 0) }
      let shown = premium(until: "2026-07-01", product: "com.example.monthly", listing: list)
      return Scenario(story, shown: shown, at: "2026-06-20", provider: .purple).codes
    }
    #expect(codes([101, 106]) == [])
    #expect(codes([106]) == ["MISSED_START"])
    #expect(codes([101]) == ["MISSED_START"])
    #expect(codes([101, 102, 106]) == ["MISSED_START"])
  }

  @Test(
    "A charge that an expiry or a pause delayed is missing one period before the next charge",
    arguments: [EventKind.expired, .paused])
  func delayed(kind: EventKind) {
    var story = Story.monthly(renewals: 1)
    story.report(kind, "2026-03-01", until: "2026-03-01", transaction: 101)
    story.report(.renewed, "2026-05-10", until: "2026-06-10", transaction: 103, price: 10, count: 3)
    let scenario = Scenario(story, shown: nil, at: "2026-05-20")
    #expect(scenario.breaks.map(\.expectedAt) == [at("2026-04-10")])
  }

  @Test("A lost recovery is a renewal, although a later period expired")
  func recovery() {
    var story = Story.monthly(renewals: 1)
    story.report(.billingRetry, "2026-03-01", until: "2026-03-01", transaction: 101)
    story.report(.billingRetry, "2026-04-05", until: "2026-04-05", transaction: 102) {
      $0.periodStart = at("2026-03-05")
    }
    story.report(.renewed, "2026-04-12", until: "2026-05-12", transaction: 103, price: 10)
    story.report(.expired, "2026-05-12", until: "2026-05-12", transaction: 103)
    #expect(Scenario(story, shown: nil, at: "2026-05-20").codes == ["MISSED_RENEWAL"])
  }

  @Test("A listed first payment long after the trial is one missing charge")
  func lateConversion() {
    var story = Story.trial
    story.report(.renewed, "2026-02-15", until: "2026-03-15", transaction: 102, price: 10, count: 1)
    let listed = [
      bought(100, .trialStarted, "2026-01-01", until: "2026-01-08"),
      bought(101, .renewed, "2026-01-15", until: "2026-02-15"),
      bought(102, .renewed, "2026-02-15", until: "2026-03-15"),
    ]
    let scenario = Scenario(
      story, shown: premium(until: "2026-03-15", listing: listed), at: "2026-03-01")
    #expect(scenario.breaks.map(\.transaction) == ["101"])
  }

  @Test("A start before a renewal is expected one calendar month before it")
  func beforeRenewal() {
    var story = Story.monthly(renewals: 0, counted: false)
    story.reportEnd(canceled: "2026-01-10", until: "2026-02-01")
    story.report(.renewed, "2026-05-01", until: "2026-06-01", transaction: 102, price: 10)
    let scenario = Scenario(story, shown: nil, at: "2026-09-20", provider: .purple)
    #expect(scenario.breaks.first?.code == .missedStart)
    #expect(scenario.breaks.first?.expectedAt == at("2026-04-01"))
  }
}
