import Testing
import Domain

@testable import Subscriptions

@Suite struct RenewalAndTrialTests {
  @Test("Renewals in the same second are ordered by their paid periods")
  func sameSecond() throws {
    for identities in [(2, 3), (3, 2)] as [(Int64, Int64)] {
      var story = Story.paid("2026-01-10", until: "2026-02-10")
      story.report(.renewed, "2026-03-11", until: "2026-03-10", price: "10") {
        $0.periodStart = at("2026-02-10")
        $0.identity = identities.0
      }
      story.report(.renewed, "2026-03-11", until: "2026-04-10", price: "12") {
        $0.periodStart = at("2026-03-10")
        $0.identity = identities.1
      }
      let facts = try story.facts(asOf: "2026-03-20")
      #expect(facts.days(.churned).isEmpty && facts.days(.reactivated).isEmpty)
      #expect(facts.mrr(.expansion) == "2.00" && facts.mrr(.contraction) == "0.00")
    }
  }

  @Test("A trial, a first payment and 18 renewals give renewal 18, as the SDK counts")
  func sdkExample() throws {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08")
    story.report(.trialConverted, "2026-01-08", until: "2026-01-15", price: "2")
    for week in 1...18 {
      let start = at("2026-01-08") + .days(Int64(week * 7))
      let event = story.report(.renewed, "2026-01-01", price: "2") {
        $0.time = start
        $0.periodStart = start
        $0.periodEnd = start + .days(7)
      }
      #expect(event.kind == .renewed)
    }
    let history = try story.history(asOf: "2026-05-20")
    #expect(history.state?.renewalOrdinal == 18)
    #expect(
      try story.facts(asOf: "2026-05-20").renewals.values.reduce(0) { $0 + $1.renewals } == 18)
  }

  @Test("The provider's counter takes precedence, and continues where an event lacks it")
  func counters() throws {
    var story = Story()
    story.report(.renewed, "2026-01-10", until: "2026-02-10", price: "10") { $0.renewalCount = 5 }
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    story.report(.refunded, "2026-02-12", price: "10")
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(Set(facts.renewals.keys.map(\.ordinal)) == [5, 6])
    #expect(facts.renewals.first { $0.value.refunded == 1 }?.key.ordinal == 6)
  }

  @Test("The greatest counter that a ledger can store is followed by the next number")
  func greatestCounter() throws {
    var story = Story()
    story.report(.renewed, "2026-01-10", until: "2026-02-10", price: "10") {
      $0.renewalCount = .max
    }
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    let history = try story.history(asOf: "2026-02-20")
    #expect(history.renewalOrdinals == [2_147_483_647, 2_147_483_648])
    #expect(!history.provesMissingEvent(since: Instant(milliseconds: .max)))
    let facts = try story.facts(asOf: "2026-02-20")
    #expect(Set(facts.renewals.keys.map(\.ordinal)) == [2_147_483_647, 2_147_483_648])
  }

  @Test("Renewals of a subscription without a seen start have no ordinal")
  func unknownOrdinal() throws {
    var story = Story()
    story.report(.renewed, "2026-01-10", until: "2026-02-10", price: "10")
    #expect(try story.facts(asOf: "2026-02-01").renewals.keys.map(\.ordinal) == [nil])
  }

  private func trial(_ rest: (inout Story) -> Void, asOf: String) throws -> TrialSums? {
    var story = Story()
    story.report(.trialStarted, "2026-01-01", until: "2026-01-08")
    rest(&story)
    return try story.facts(asOf: asOf).trials.values.first
  }

  @Test("A trial is pending until gap and window have passed, and then expired")
  func pendingThenExpired() throws {
    #expect(try trial({ _ in }, asOf: "2026-01-10T02:59:59")?.pending == 1)
    #expect(try trial({ _ in }, asOf: "2026-01-10T03:00:00")?.expired == 1)
  }

  @Test("A trial in billing retry is pending for the retry horizon and can still convert")
  func trialRetry() throws {
    let retry = { (story: inout Story) in
      _ = story.report(.trialBillingRetry, "2026-01-08T00:05:00")
    }
    #expect(try trial(retry, asOf: "2026-02-01")?.pending == 1)
    #expect(try trial(retry, asOf: "2026-03-09")?.expired == 1)
    let converted = try trial(
      {
        retry(&$0)
        $0.report(.trialConverted, "2026-01-20", until: "2026-02-20", price: "10")
      }, asOf: "2026-02-01")
    #expect(converted?.converted == 1)
  }

  @Test(
    "A cancel before the end counts as canceled; a late payment converts nothing")
  func canceledTrial() throws {
    let sums = try trial(
      {
        $0.report(.trialCanceled, "2026-01-03")
        $0.report(.started, "2026-01-20", until: "2026-02-20", price: "10")
      }, asOf: "2026-02-01")
    #expect(sums?.canceled == 1)
    #expect(sums?.expired == 1)
    #expect(sums?.converted == 0)
  }

  @Test("In a stale feed no trial expires by time, in billing retry or not")
  func staleTrial() throws {
    for fails in [false, true] {
      var story = Story()
      story.report(.trialStarted, "2026-01-01", until: "2026-01-08")
      if fails { story.report(.trialBillingRetry, "2026-01-08") }
      func sums(watermark: String) throws -> TrialSums? {
        try story.facts(asOf: "2026-06-01") {
          let feed = Feed(provider: .qonversion, app: 0)
          $0.watermarks[feed] = Watermark(
            of: feed, newest: at(watermark), begin: at("2025-01-01"))
        }.trials.values.first
      }
      #expect(try sums(watermark: "2026-01-09")?.pending == 1)
      #expect(try sums(watermark: "2026-03-10")?.expired == 1)
    }
  }

  @Test("Sandbox traffic is only counted")
  func sandbox() throws {
    var story = Story()
    story.report(.started, "2026-01-10", until: "2026-02-10", price: "10") {
      $0.environment = .sandbox
    }
    let facts = try story.facts(asOf: "2026-02-01")
    #expect(facts.revenue.isEmpty)
    #expect(facts.excluded.values.first?.charges == 1)
  }

  @Test("Retention follows activity at month ends")
  func retention() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    let facts = try story.facts(asOf: "2026-06-01")
    let byIndex = Dictionary(uniqueKeysWithValues: facts.retention.map { ($0.key.index, $0.value) })
    #expect(byIndex[0]?.activeChange == 1)
    #expect(byIndex[2]?.activeChange == -1)
    #expect(byIndex[1]?.netUSD.sum == usd("10"))
  }
}
