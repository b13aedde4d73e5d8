import Testing
import Domain

@testable import Subscriptions

@Suite("Subscriptions of one user")
struct UserSubscriptionsTests {
  /// A month of one product and, after a lapse, a year of another.
  private var monthThenYear: StateFeed {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show("2026-03-10", 11, until: "2027-03-10") { event, _ in event.product = StateFeed.yearly
    }
    return feed
  }

  @Test("A purchase after another product's end continues its subscription; an overlap does not")
  func overlap() throws {
    var feed = monthThenYear
    let histories = try feed.histories(asOf: "2026-04-01")
    #expect(histories.map { $0.state?.lineages } == [[10, 11]])
    #expect(histories.map { $0.state?.lineage } == [10])
    feed.events[1].time = at("2026-02-09")
    #expect(try feed.histories(asOf: "2026-04-01").map { $0.state?.lineages } == [[10], [11]])
  }

  @Test("Thousands of other purchases by the user do not change a subscription")
  func many() throws {
    var feed = monthThenYear
    let alone = try feed.facts(asOf: "2026-04-01")
    for number in 1...4_200 {
      feed.show("2026-01-05", Int64(100 + number), until: nil) { event, _ in
        event.product = StringID(100 + number)
      }
    }
    let histories = try feed.histories(asOf: "2026-04-01")
    #expect(histories.count == 4_201)
    #expect(histories.first?.state?.lineages == [10, 11])
    let facts = try feed.facts(asOf: "2026-04-01")
    #expect(facts.facts.movements == alone.facts.movements)
    #expect(facts.facts.renewals == alone.facts.renewals)
    struct Stopped: Error {}
    #expect(throws: Stopped.self) {
      try forEachHistory(
        of: feed.events, rules: FoldSettings(asOf: at("2026-04-01")),
        checkStop: { throw Stopped() }, { _ in })
    }
  }

  @Test("A shared product, a group or a product change connects overlapping purchases")
  func ties() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10") { _, state in state.group = 5 }
    feed.show("2026-01-20", 11, until: "2027-01-20") { event, state in
      event.product = StateFeed.yearly
      state.group = 6
    }
    #expect(try feed.histories(asOf: "2026-04-01").count == 2)
    var grouped = feed
    grouped.events[1].observation?.group = 5
    #expect(try grouped.histories(asOf: "2026-04-01").count == 1)
    var same = feed
    same.events[1].product = StateFeed.monthly
    #expect(try same.histories(asOf: "2026-04-01").count == 1)
    var elsewhere = same
    elsewhere.events[1].store = .stripe
    #expect(try elsewhere.histories(asOf: "2026-04-01").count == 2)
  }

  /// A monthly purchase, and a yearly one ten days later.
  private var upgrade: StateFeed {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.show("2026-01-20", 11, until: "2027-01-20") { event, _ in
      event.kind = .started
      event.product = StateFeed.yearly
    }
    return feed
  }

  @Test("A replaced purchase passes its subscription to its replacement")
  func replaced() throws {
    var feed = upgrade
    feed.show("2026-01-20T00:00:10", 10, until: "2026-01-20") { event, state in
      event.kind = .expired
      state.isReplaced = true
      state.isOwned = false
    }
    #expect(try feed.history() == ["started 2026-01-10", "started 2026-01-20"])
    let facts = try feed.facts(asOf: "2026-04-01")
    #expect(facts.count(.transferIn) == 1 && facts.count(.churned) == 0)
    feed.events[2].observation?.isReplaced = false
    #expect(try feed.histories(asOf: "2026-04-01").count == 2)
    #expect(try feed.facts(asOf: "2026-04-01").count(.new) == 2)
  }

  @Test("A purchase of the product that was replaced before continues the same subscription")
  func replacedAndBack() throws {
    var feed = upgrade
    for (lineage, product, day) in [
      (Int64(10), StateFeed.monthly, "2026-01-20"), (11, StateFeed.yearly, "2026-02-05"),
    ] {
      feed.show("\(day)T00:00:10", lineage, until: day) { event, state in
        (event.kind, event.product) = (.expired, product)
        (state.isReplaced, state.isOwned) = (true, false)
      }
    }
    feed.show("2026-02-05", 12, until: "2026-03-05") { event, _ in event.kind = .started }
    let histories = try feed.histories(asOf: "2026-03-01")
    #expect(histories.map { $0.state?.lineages.sorted() } == [[10, 11, 12]])
    let facts = try feed.facts(asOf: "2026-03-01")
    #expect(facts.days(.transferIn) == ["2026-01-20", "2026-02-05"])
    #expect(facts.count(.new) == 1 && facts.count(.churned) == 0)
  }

  @Test(
    "An old product left by an upgrade under one original id does not end the subscription")
  func replacedWithin() throws {
    var feed = StateFeed(.iaptic)
    let left = "2026-01-20T00:00:05"
    feed.report(.started, "2026-01-10") { $0.periodEnd = at("2026-02-10") }
    feed.show("2026-01-20", 12, until: "2026-02-20", of: 10) { event, _ in
      event.product = StateFeed.yearly
    }
    feed.show(left, 10, until: "2026-01-20") { _, state in
      (state.isReplaced, state.isOwned) = (true, false)
    }
    feed.report(.started, "2026-02-15", of: 11) {
      $0.product = 3
      $0.periodEnd = at("2026-02-22")
    }
    let histories = try feed.histories(asOf: "2026-02-18")
    #expect(histories.map { $0.state?.lineages } == [[10], [11]])
    let facts = try feed.facts(asOf: "2026-02-18")
    #expect(facts.days(.transferIn) == ["2026-01-20"] && facts.count(.new) == 2)
  }

  @Test("A replaced purchase ended at the time in its state, however late it is reported")
  func replacedLongAgo() throws {
    var feed = upgrade
    feed.show("2026-02-01", 10, until: "2026-01-20") { _, state in
      state.isReplaced = true
      state.isOwned = false
    }
    #expect(try feed.histories(asOf: "2026-04-01").map { $0.state?.lineages } == [[10, 11]])
    let facts = try feed.facts(asOf: "2026-04-01")
    #expect(facts.days(.transferIn) == ["2026-01-20"])
    #expect(facts.count(.new) == 1 && facts.count(.churned) == 0)
  }

  @Test("A family-shared purchase counts as family sharing and nowhere else")
  func shared() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-10", 10, until: "2026-02-10") { _, state in state.isShared = true }
    let facts = try feed.facts(asOf: "2026-04-01")
    #expect(facts.excluded.map(\.key.reason) == [.familySharing])
    #expect(facts.excluded.values.map(\.events) == [1])
    #expect(facts.excluded.values.map(\.charges) == [1])
    #expect(facts.revenue.isEmpty && facts.movements.isEmpty && facts.gaps.isEmpty)
    #expect(try feed.histories(asOf: "2026-04-01").compactMap(\.state).isEmpty)
    // A message about an earlier transaction has no state of its own.
    feed.show("2026-01-20", 11, until: nil, of: 10) { event, _ in event.kind = .renewed }
    feed.events[1].observation = nil
    let late = try feed.facts(asOf: "2026-04-01")
    #expect(late.excluded.keys.allSatisfy { $0.reason == .familySharing })
    #expect(late.excluded.values.map(\.events).reduce(0, +) == 2, "\(late.excluded)")
    #expect(late.revenue.isEmpty && late.movements.isEmpty)
  }

  @Test("A FLOBUK charge without a user is booked but in no subscription count, except at Play")
  func unchained() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-01-10", 10, until: "2026-02-10") { event, _ in event.user = 0 }
    let facts = try feed.facts(asOf: "2026-04-01")
    #expect(facts.revenue.values.map(\.charges) == [1] && facts.count(.unchainedCharge) == 1)
    #expect(facts.movements.isEmpty && facts.retention.isEmpty && facts.renewals.isEmpty)
    func churned() throws -> [Churned] {
      try feed.histories(asOf: "2026-04-01").flatMap { $0.state?.churned ?? [] }
    }
    #expect(try churned() == [])
    // A message of the user, at or after as-of, says nothing yet.
    var known = feed
    known.show("2026-04-01", 10, until: "2026-05-01")
    #expect(try known.facts(asOf: "2026-04-01").movements.isEmpty)
    feed.events[0].store = .playStore
    let chained = try feed.facts(asOf: "2026-04-01")
    #expect(chained.count(.new) == 1 && chained.count(.unchainedCharge) == 0)
    #expect(try churned().count == chained.count(.churned))
  }

  @Test("A pause is not churn, and a charge after it resumes")
  func paused() throws {
    var feed = StateFeed(.iaptic)
    feed.show("2026-01-10", 10, until: "2026-02-10")
    feed.report(.paused, "2026-02-10T00:00:05", of: 10)
    let paused = try feed.facts(asOf: "2026-02-20")
    #expect(paused.days(.paused) == ["2026-02-10"] && paused.count(.churned) == 0)
    #expect(paused.count(.lost) == 0)
    feed.show("2026-03-10", 11, until: "2026-04-10", of: 10)
    #expect(try feed.facts(asOf: "2026-03-20").days(.resumed) == ["2026-03-10"])
    feed.events.remove(at: 1)
    let lapsed = try feed.facts(asOf: "2026-03-20")
    #expect(lapsed.count(.churned) == 1 && lapsed.count(.reactivated) == 1)
    #expect(lapsed.count(.lost) == 1)
  }
}
