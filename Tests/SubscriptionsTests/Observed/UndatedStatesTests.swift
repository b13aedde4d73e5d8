import Testing
import Domain

@testable import Subscriptions

/// Bodies of iaptic's first years are dated only by what has happened so far, so that all states of
/// a period have the same time.
@Suite("States from bodies without a date")
struct UndatedStatesTests {
  @Test("A failed payment belongs to the period before it, in any sort order")
  func failedPayment() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:01", until: "2026-02-01")
    feed.receive("2026-02-01T00:00:02", until: "2026-03-01")
    feed.receive("2026-03-01T00:00:01", until: "2026-03-01") { $0.isInBillingRetry = true }
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-03-20")
      #expect(facts.days(.new) == ["2026-01-01"] && facts.renewalOrdinals == [1])
      #expect(facts.days(.churnedInvoluntary) == ["2026-03-01"])
    }
    // One archive keeps receive times, the other does not.
    for missing in [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]] {
      var mixed = feed
      for place in missing { mixed.events[place].received = nil }
      for story in [mixed, mixed.sortedOtherwise] {
        let facts = try story.facts(asOf: "2026-03-20")
        #expect(facts.renewalOrdinals == [1], "\(missing)")
        #expect(facts.days(.churnedInvoluntary) == ["2026-03-01"], "\(missing)")
      }
    }
  }

  @Test("A grace belongs to the period known at the time, even if it lasts beyond the next one")
  func longGrace() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:01", until: "2026-01-08")
    feed.receive("2026-01-08T01:00:00", until: "2026-01-24") { $0.isInBillingRetry = true }
    feed.receive("2026-01-15T00:00:01", until: "2026-01-22")
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-01-20") { $0.periods = [StateFeed.monthly: .days(7)] }
      #expect(facts.count(.reactivated) == 0 && facts.renewalOrdinals == [1])
    }
  }

  @Test("A failed payment takes no charge from another body, however early its own is dated")
  func failureDatedEarly() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:01", until: "2026-02-01")
    feed.receive("2026-02-01T00:00:01", until: "2026-03-01")
    feed.events[1].time = at("2026-01-20")
    feed.receive("2026-03-01T01:00:00", until: "2026-03-01") { $0.isInBillingRetry = true }
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-03-20")
      #expect(facts.renewalOrdinals == [1])
      #expect(facts.days(.churnedInvoluntary) == ["2026-03-01"])
    }
  }

  @Test("Transactions follow each other by their ends, however early their bodies are dated")
  func transactionDatedLate() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:01", 10, until: "2026-02-01")
    feed.receive("2026-02-01T00:00:01", 11, until: "2026-03-01")
    feed.receive("2026-03-01T00:00:01", 12, until: "2026-04-01")
    feed.receive("2026-04-01T00:00:01", 13, until: "2026-05-01")
    // Another purchase of its collection was cancelled then.
    feed.events[2].time = at("2026-02-20")
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-04-20", lengths)
      #expect(facts.renewalOrdinals == [1, 2, 3])
      #expect(facts.count(.churned) == 0)
    }
  }

  @Test("An end that moves by no more than the renewal gap is no renewal")
  func movedEnd() throws {
    func charges(_ end: String, in environment: Environment) throws -> [Int64] {
      var feed = StateFeed(.iaptic)
      feed.receive("2026-01-01T00:00:01", until: "2026-02-01")
      feed.receive("2026-01-20", until: end) { $0.isAutoRenewing = false }
      feed.receive("2026-02-01T00:00:01", until: "2026-03-01")
      for place in feed.events.indices { feed.events[place].environment = environment }
      return try [feed, feed.sortedOtherwise].map { story in
        let facts = try story.facts(asOf: "2026-02-20")
        let sandbox = facts.facts.excluded.values.reduce(0) { $0 + $1.charges }
        return facts.facts.revenue.values.reduce(sandbox) { $0 + $1.charges }
      }
    }
    for end in ["2026-02-01T00:01:00", "2026-01-31T23:59:59", "2026-02-02"] {
      #expect(try charges(end, in: .production) == [2, 2], "\(end)")
    }
    #expect(try charges("2026-02-10", in: .production) == [3, 3])
    #expect(try charges("2026-02-01T00:05:00", in: .sandbox) == [3, 3])
  }

  @Test("A state without end is no charge", arguments: 0..<4)
  func endless(place: Int) throws {
    for isDated in [false, true] {
      var feed = StateFeed(.iaptic)
      feed.receive("2026-01-01T00:00:01", until: "2026-02-01")
      feed.receive("2026-01-20", until: "2026-02-01")
      feed.receive("2026-02-01T00:00:01", until: "2026-03-01")
      feed.receive("2026-02-10", until: "2026-03-01")
      feed.events[place].periodEnd = nil
      for index in feed.events.indices where isDated {
        feed.events[index].time = feed.events[index].seenAt
        feed.events[index].observation?.firstPurchasedAt = nil
      }
      for story in [feed, feed.sortedOtherwise] {
        let facts = try story.facts(asOf: "2026-02-20")
        #expect(facts.facts.revenue.values.reduce(0) { $0 + $1.charges } == 2)
      }
    }
  }

  @Test("Auto-renew follows the state received last")
  func renewing() throws {
    for story in [[true, false], [false, true], [false, true, false], [true, false, true]] {
      var feed = StateFeed(.iaptic)
      for (day, renews) in story.enumerated() {
        feed.receive("2026-01-0\(day + 1)", until: "2026-02-01") { $0.isAutoRenewing = renews }
      }
      for reported in [feed, feed.sortedOtherwise] {
        let off = try reported.facts(asOf: "2026-01-20").count(.autoRenewOff)
        #expect(off == (story.last == false ? 1 : 0), "\(story)")
      }
    }
  }

  @Test("Access follows the state received last")
  func access() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-10", until: "2026-02-01") { $0.isOwned = false }
    feed.receive("2026-01-20", until: "2026-02-01")
    for story in [feed, feed.sortedOtherwise] {
      #expect(try story.history() == ["started 2026-01-01"])
    }
    feed.events[1].received = at("2026-01-01T00:00:05")
    for story in [feed, feed.sortedOtherwise] {
      #expect(try story.facts(asOf: "2026-02-20").count(.churnedRefund) == 1)
    }
  }

  @Test("A purchase missing from a collection vanished when that was received")
  func vanished() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-10T00:00:05", until: "2026-02-10") {
      $0.firstPurchasedAt = at("2026-01-10")
    }
    for (index, received) in ["2026-01-10T00:00:05", "2026-01-20T00:00:07"].enumerated() {
      feed.receive(received, until: "2027-01-05") { $0.firstPurchasedAt = at("2026-01-05") }
      let place = feed.events.count - 1
      feed.events[place].lineage = 20
      feed.events[place].product = StateFeed.yearly
      feed.events[place].time = at(index == 0 ? "2026-01-10" : "2026-01-05")
    }
    feed.events[0].time = at("2026-01-10")
    for (index, collection) in [Int64(1), 1, 2].enumerated() {
      feed.events[index].collection = collection
    }
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-03-01")
      #expect(facts.days(.new) == ["2026-01-05", "2026-01-10"])
      #expect(facts.days(.churnedRefund) == ["2026-01-20"] && facts.count(.churned) == 1)
    }
    // Held again in a later state, it never vanished.
    feed.events[0].received = at("2026-01-21")
    feed.events[1].received = at("2026-01-21")
    #expect(try feed.facts(asOf: "2026-03-01").days(.churnedUnknown) == ["2026-02-10"])
  }

  @Test("A purchase after access was seen gone is a reactivation at its receipt")
  func lapse() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:05", until: "2026-02-01")
    feed.receive("2026-04-15", until: "2026-02-01") {
      $0.isOwned = false
      $0.isAutoRenewing = false
      $0.autoRenewChangedAt = at("2026-01-20")
    }
    // A past end is the latest time in the body.
    feed.events[1].time = at("2026-02-01")
    feed.receive("2026-05-20", until: "2026-06-20")
    let facts = try feed.facts(asOf: "2026-06-01")
    #expect(facts.days(.churnedVoluntary) == ["2026-02-01"] && facts.count(.churned) == 1)
    #expect(facts.days(.reactivated) == ["2026-05-20"] && facts.renewalOrdinals.isEmpty)
    // Received after its end, it was bought when access was last seen gone.
    feed.events[2].received = at("2026-06-25")
    #expect(try feed.facts(asOf: "2026-07-30").days(.reactivated) == ["2026-04-15"])
    // If access was gone only within the renewal gap, it continued.
    feed.events[1].received = at("2026-02-01T20:00:00")
    #expect(try feed.facts(asOf: "2026-07-30").count(.reactivated) == 0)
  }

  @Test("An undated transaction was charged when the previous period ended")
  func transactions() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-01-01T00:00:05", 10, until: "2026-02-01")
    feed.receive("2026-02-01T00:00:05", 11, until: "2026-03-01")
    feed.receive("2026-03-05", 12, until: "2026-04-01")
    // A cancel is the latest time in the body.
    feed.receive("2026-04-11", 13, until: "2026-05-01") { $0.isAutoRenewing = false }
    feed.events[3].time = at("2026-04-10")
    for missing in [[], [1], [2], [0, 1, 2, 3]] {
      for rules in [lengths, { _ in }] {
        var mixed = feed
        for place in missing { mixed.events[place].received = nil }
        for story in [mixed, mixed.sortedOtherwise] {
          let facts = try story.facts(asOf: "2026-04-20", rules)
          #expect(facts.days(.new) == ["2026-01-01"] && facts.count(.churned) == 0, "\(missing)")
          let charged = try story.histories(asOf: "2026-04-20", rules).flatMap(\.events)
            .filter { $0.chargeKind != nil }.map { text($0.time) }
          #expect(charged == ["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"])
        }
      }
    }
  }

  @Test("An undated transaction first seen, or after a lapse or upgrade, dates from its receipt")
  func transactionsReceived() throws {
    var lapse = StateFeed(.iaptic)
    lapse.receive("2026-01-01T00:00:05", 10, until: "2026-02-01")
    lapse.receive("2026-02-01T00:00:05", 10, until: "2026-02-01") { $0.isOwned = false }
    lapse.receive("2026-04-15", 11, until: "2026-05-15")
    for reported in ["2026-01-01", "2026-02-01T12:00:00", "2026-03-01"] {
      lapse.events[2].time = at(reported)
      #expect(
        try lapse.facts(asOf: "2026-05-01").days(.reactivated) == ["2026-04-15"], "\(reported)")
    }
    var upgrade = StateFeed(.iaptic)
    upgrade.receive("2026-01-01T00:00:05", 10, until: "2026-02-01")
    upgrade.receive("2026-01-20", 11, until: "2027-01-20")
    upgrade.events[1].product = StateFeed.yearly
    #expect(try upgrade.facts(asOf: "2026-05-01").days(.transferIn) == ["2026-01-20"])
    var unseen = StateFeed(.iaptic)
    unseen.receive("2026-04-01T00:00:05", 13, until: "2026-05-01")
    #expect(try unseen.history() == ["renewed 2026-04-01T00:00:05"])
    let known = try unseen.facts(asOf: "2026-05-01", lengths)
    #expect(known.days(.firstSeen) == ["2026-04-01"])
  }

  @Test("The copy of an undated renewal moves no charge, whatever the months' lengths")
  func lateCopyOfTransaction() throws {
    for (start, end, next) in [
      ("2026-01-31", "2026-02-28", "2026-03-31"), ("2026-01-10", "2026-02-10", "2026-03-10"),
    ] {
      for hours in [1, 30, 90, 400] as [Int64] {
        var feed = StateFeed(.iaptic)
        feed.receive(start, 10, until: end)
        feed.receive(end, 11, until: next)
        feed.events[1].received = at(end) + .hours(hours)
        for place in 0...1 {
          feed.events[place].time = at(start)
          feed.events[place].observation?.firstPurchasedAt = at(start)
        }
        #expect(try feed.history().last == "renewed \(end)", "\(end) \(hours)")
      }
    }
  }

  @Test("A late copy of an old state does not take grace from the later period")
  func lateCopy() throws {
    var feed = StateFeed(.iaptic)
    feed.receive("2026-03-02", until: "2026-02-01")
    feed.receive("2026-02-01", until: "2026-03-01")
    feed.receive("2026-03-05", until: "2026-03-17") { $0.isInBillingRetry = true }
    for story in [feed, feed.sortedOtherwise] {
      let facts = try story.facts(asOf: "2026-04-01")
      #expect(facts.renewalOrdinals == [1])
      #expect(facts.days(.churnedInvoluntary) == ["2026-03-17"])
    }
  }
}

extension StateFeed {
  /// Shows a state whose body dates only the purchase, on 2026-01-01.
  mutating func receive(
    _ received: String, _ transaction: Int64 = 0, until end: String,
    _ change: (inout Observation) -> Void = { _ in }
  ) {
    show("2026-01-01", transaction, until: end, of: 10) { event, state in
      event.received = at(received)
      state.firstPurchasedAt = at("2026-01-01")
      state.isTimeInferred = true
      change(&state)
    }
  }

  /// The same with the identities in reverse order, which must not matter.
  var sortedOtherwise: StateFeed {
    var other = self
    for index in other.events.indices { other.events[index].identity *= -1 }
    return other
  }
}
