import Testing
import Domain

@testable import Subscriptions

@Suite("Messages about the past, and copies of messages")
struct MessageTests {
  /// Two monthly periods, reported with their states.
  private var renewed: StateFeed {
    var story = StateFeed(.iaptic)
    for (kind, time, transaction, end) in [
      (EventKind.started, "2026-01-10", 10, "2026-02-10"),
      (.renewed, "2026-02-10", 11, "2026-03-10"),
    ] {
      story.show(time, Int64(transaction), until: end, of: 10)
      story.events[story.events.count - 1].kind = kind
    }
    return story
  }

  @Test("A revocation or expiry of a period that another followed ends nothing")
  func pastEnd() throws {
    for kind in [EventKind.revoked, .expired] {
      var story = renewed
      story.report(kind, "2026-02-20", of: 10)
      #expect(try story.history() == ["started 2026-01-10", "renewed 2026-02-10"])
      story.events[2].transaction = 11
      #expect(try story.history().last == "\(kind.name) 2026-02-20")
    }
    var story = renewed
    story.report(.revoked, "2026-02-20", of: 10)
    #expect(try story.facts(asOf: "2026-02-25").count(.churned) == 0)
    story.events[2].transaction = 11
    #expect(try story.facts(asOf: "2026-02-25").days(.churnedRefund) == ["2026-02-20"])
  }

  @Test("A refund of a period that another followed is only money")
  func pastRefund() throws {
    var story = renewed
    story.events[0].revenue = Revenue(local: usd("1.99"), usd: usd("1.99"), isProceed: false)
    story.events[1].revenue = Revenue(local: usd("9.99"), usd: usd("9.99"), isProceed: false)
    story.report(.refunded, "2026-02-20", of: 10)
    let facts = try story.facts(asOf: "2026-02-25")
    #expect(facts.total(\.refundsUSD) == "1.99")
    #expect(facts.count(.churned) == 0)
  }

  @Test("Of copies with different dates, the last received counts, in every order")
  func copies() throws {
    var story = renewed
    for index in story.events.indices { story.events[index].collection = Int64(index) + 1 }
    var copy = story.events[1]
    copy.time = at("2026-02-11")
    copy.received = at("2026-02-12")
    copy.transaction = 12
    for place in 0...2 {
      var other = story
      other.events.insert(copy, at: place)
      #expect(try other.history() == ["started 2026-01-10", "renewed 2026-02-11"])
      #expect(try other.facts(asOf: "2026-03-01").charges(.renewal) == 1)
      other.events[place == 2 ? 1 : 2].received = at("2026-02-13")
      #expect(try other.history() == ["started 2026-01-10", "renewed 2026-02-10"])
    }
  }

  @Test("Copies of a message with another kind or transaction count once")
  func changedCopies() throws {
    let changes: [(inout Event) -> Void] = [{ $0.kind = .trialStarted }, { $0.transaction = 12 }]
    for change in changes {
      var story = renewed
      for index in story.events.indices { story.events[index].collection = Int64(index) + 1 }
      var copy = story.events[1]
      copy.identity = 99
      copy.received = at("2026-02-12")
      change(&copy)
      story.events.append(copy)
      #expect(try story.history().count == 2)
      #expect(try story.facts(asOf: "2026-03-01").charges(.renewal) <= 1)
    }
  }

  @Test("A copy whose collection no longer shows the transaction replaces none that shows it")
  func copiesWithoutState() throws {
    var story = StateFeed(.iaptic)
    story.show("2026-01-10", 10, until: "2026-01-17") { $1.isTrial = true }
    story.events[0].kind = .trialStarted
    story.report(.started, "2026-01-10")
    story.report(.renewed, "2026-01-10")
    for index in story.events.indices {
      story.events[index].collection = 1
      story.events[index].received = at("2026-01-1\(index)")
    }
    for order in [story.events, story.events.reversed()] {
      story.events = order
      #expect(try story.history() == ["trial_started 2026-01-10"])
    }
    story.events.removeAll { $0.observation != nil }
    #expect(try story.history() == ["renewed 2026-01-10"], "of copies without it, the last counts")
  }

  @Test("A state in a later copy of a message replaces the earlier copy's, and no other message's")
  func statesOfCopies() throws {
    var story = StateFeed(.iaptic)
    for renews in [true, false] {
      story.show("2026-01-10", 10, until: "2026-02-10") { $1.isAutoRenewing = renews }
    }
    for index in story.events.indices {
      story.events[index].collection = 1
      story.events[index].received = at(index == 0 ? "2026-01-11" : "2026-01-10")
    }
    #expect(try story.history() == ["started 2026-01-10"])
    story.events[0].collection = 2
    #expect(try story.history() == ["started 2026-01-10", "canceled 2026-01-10"])
  }

  @Test("A charge or refund reported again for one transaction and state counts once")
  func reportedAgain() throws {
    var story = renewed
    story.events[1].revenue = Revenue(local: usd("9.99"), usd: usd("9.99"), isProceed: false)
    story.report(.refunded, "2026-02-20", of: 11)
    for index in [1, 2] {
      var again = story.events[index]
      again.time = again.time + .hours(1)
      again.identity += 100
      story.events.append(again)
    }
    for index in story.events.indices { story.events[index].collection = Int64(index) + 1 }
    let facts = try story.facts(asOf: "2026-03-01")
    #expect(facts.total(\.grossUSD) == "9.99" && facts.total(\.refundsUSD) == "9.99")
    #expect(facts.charges(.renewal) == 1)
  }
}
