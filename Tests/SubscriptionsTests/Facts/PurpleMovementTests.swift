import Testing
import Domain

@testable import Subscriptions

@Suite("Purple's failed renewals, product changes and returns")
struct PurpleMovementTests {
  @Test("After a failed renewal access continues until a payment, an end, or the retry horizon")
  func failed() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    feed.report(.graceEntered, "2026-02-10")
    #expect(try feed.facts(asOf: "2026-04-10", lengths).count(.churned) == 0)
    let failed = try feed.facts(asOf: "2026-05-01", lengths)
    #expect(failed.days(.churnedInvoluntary) == ["2026-04-11"])
    feed.report(.recovered, "2026-02-20")
    let recovered = try feed.facts(asOf: "2026-03-01", lengths)
    #expect(recovered.count(.recovered) == 0 && recovered.renewalOrdinals == [1])
    #expect(recovered.count(.churned) == 0)
    feed.events[2].kind = .endedInvoluntarily
    feed.report(.resubscribed, "2026-02-25")
    let ended = try feed.facts(asOf: "2026-03-01", lengths)
    #expect(ended.count(.reactivated) == 1 && ended.days(.churnedInvoluntary) == ["2026-02-20"])
    feed.events[2].kind = .expired
    #expect(
      try feed.facts(asOf: "2026-03-01", lengths).days(.churnedInvoluntary) == ["2026-02-20"])
  }

  @Test("Without a known length the retry horizon starts at the failed renewal")
  func failedWithoutLength() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    feed.report(.graceEntered, "2026-02-10")
    #expect(try feed.facts(asOf: "2026-04-10").count(.churned) == 0)
    #expect(try feed.facts(asOf: "2026-05-01").days(.churnedInvoluntary) == ["2026-04-11"])
  }

  @Test("A user's cancel during payment retry does not mean the store gave up")
  func canceledInRetry() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    feed.report(.graceEntered, "2026-02-10")
    feed.report(.canceled, "2026-02-12")
    feed.report(.recovered, "2026-02-15")
    let recovered = try feed.facts(asOf: "2026-03-01", lengths)
    #expect(recovered.count(.recovered) == 0 && recovered.count(.reactivated) == 0)
    feed.events[2].kind = .endedInvoluntarily
    #expect(try feed.facts(asOf: "2026-03-01", lengths).days(.reactivated) == ["2026-02-15"])
  }

  @Test("An upgrade is charged and moves at once; a downgrade moves with its first period")
  func change() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    feed.report(.upgraded, "2026-01-20", of: 11, toYearly)
    let upgraded = try feed.facts(asOf: "2027-03-01", lengths)
    #expect(upgraded.days(.transferIn) == ["2026-01-20"])
    #expect(upgraded.charges(.productChange) == 1 && upgraded.charges(.first) == 1)
    #expect(upgraded.days(.churned) == ["2027-01-20"])
    feed.events[1].kind = .downgraded
    let ended = try feed.facts(asOf: "2027-03-01", lengths)
    #expect(ended.days(.transferIn) == [] && ended.days(.churned) == ["2026-02-10"])
    feed.report(.renewed, "2026-02-10", of: 11) { $0.product = StateFeed.yearly }
    let downgraded = try feed.facts(asOf: "2027-05-01", lengths)
    #expect(downgraded.days(.transferIn) == ["2026-02-10"])
    #expect(downgraded.charges(.productChange) == 0 && downgraded.charges(.renewal) == 1)
    #expect(downgraded.days(.churned) == ["2027-02-10"])
  }

  @Test("Outside the App Store, an upgrade moves at once and books nothing")
  func playUpgrade() throws {
    var feed = StateFeed(.purple)
    feed.report(.started, "2026-01-10") { $0.store = .playStore }
    feed.report(.upgraded, "2026-01-20", of: 11) {
      $0.store = .playStore
      toYearly(&$0)
    }
    let upgraded = try feed.facts(asOf: "2027-03-01", lengths)
    #expect(upgraded.days(.transferIn) == ["2026-01-20"] && upgraded.charges(.productChange) == 0)
  }

  @Test("A resubscription is a reactivation, seen before or not")
  func resubscribed() throws {
    var feed = StateFeed(.purple)
    feed.report(.resubscribed, "2026-03-10")
    #expect(try feed.facts(asOf: "2026-03-20", lengths).count(.reactivated) == 1)
    feed.report(.started, "2026-01-10")
    let facts = try feed.facts(asOf: "2026-03-20", lengths)
    #expect(facts.count(.reactivated) == 1 && facts.count(.new) == 1)
    #expect(facts.charges(.first) == 2)
  }
}
