import Testing
import Domain

@testable import Subscriptions

@Suite("Stores of Purple's events without one")
struct StoresTests {
  private let monthly: (inout FoldSettings) -> Void = {
    $0.periods = [StateFeed.monthly: .months(1)]
  }

  @Test("An event without a store belongs to the only store of its product")
  func store() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    feed.report(.canceled, "2026-01-20", of: 12) {
      $0.store = .unknown
      $0.transaction = 0
    }
    #expect(try feed.facts(asOf: "2026-03-01", monthly).count(.churnedVoluntary) == 1)
    feed.events[1].product = StateFeed.yearly
    #expect(try feed.facts(asOf: "2026-03-01", monthly).count(.churnedVoluntary) == 0)
  }

  @Test("If the product is in two stores, the event belongs to the one where it runs")
  func runningStore() throws {
    for (first, second) in [(Store.appStore, Store.playStore), (.playStore, .appStore)] {
      var feed = StateFeed(.purple)
      feed.report(.started, "2026-01-10") { $0.store = first }
      feed.report(.expired, "2026-02-10") { $0.store = first }
      feed.report(.started, "2026-03-01", of: 20) { $0.store = second }
      for (kind, day) in [(EventKind.canceled, "2026-03-15"), (.expired, "2026-04-01")] {
        feed.report(kind, day, of: 12) {
          $0.store = .unknown
          $0.transaction = 0
        }
      }
      let histories = try feed.histories(asOf: "2026-06-01")
      #expect(
        histories.map { $0.reported.map(\.store) } == [[first, first], [second, second, second]])
      let facts = try feed.facts(asOf: "2026-06-01")
      #expect(facts.days(.churned) == ["2026-02-10", "2026-04-01"])
      #expect(facts.days(.churnedVoluntary) == ["2026-04-01"])
      // If it runs in both stores, the event's store is unknown.
      feed.events.remove(at: 1)
      #expect(try feed.facts(asOf: "2026-06-01").count(.churned) == 0)
    }
  }

  @Test("An end without a store ends the old purchase before one in another store")
  func endWithoutStore() throws {
    var feed = StateFeed(.purple, started: "2026-01-10")
    for day in ["2026-02-10", "2026-02-11", "2026-04-01"] {
      feed.report(.expired, day, of: 12) {
        $0.store = .unknown
        $0.transaction = 0
      }
    }
    feed.report(.started, "2026-03-01", of: 20) { $0.store = .playStore }
    let histories = try feed.histories(asOf: "2026-06-01")
    #expect(histories.map { $0.reported.count } == [3, 2])
    #expect(
      try feed.facts(asOf: "2026-06-01").days(.churned) == ["2026-02-10", "2026-04-01"])
  }
}
