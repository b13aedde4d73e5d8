import TestSupport
import Testing
import Domain

@testable import Subscriptions

/// Random histories of one user, as states and as reported events.
@Suite("Properties of subscriptions from states")
struct HistoryPropertyTests {
  static let asOf = "2027-06-01"

  @Test("Order and repetition of observations change no fact", arguments: 1...60)
  func orderFree(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let feed = RandomHistory(&dice).shown
    let facts = try feed.facts(asOf: Self.asOf)
    for _ in 1...4 {
      var other = feed
      for event in feed.events where dice.roll(3) == 0 { other.events.append(event) }
      other.events.shuffle(using: &dice)
      var again = try other.facts(asOf: Self.asOf)
      again.facts.arrivals = facts.arrivals
      // The ledger stores each event once.
      for key in facts.gaps.keys where key.gap == .arrival {
        again.facts.gaps[key] = facts.gaps[key]
      }
      #expect(again == facts, "seed \(seed)")
    }
  }

  @Test("Active subscriptions at the end equal gains minus losses", arguments: 1...60)
  func balance(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let history = RandomHistory(&dice)
    for feed in [history.shown, history.reported, history.mixed(&dice)] {
      let facts = try feed.facts(asOf: Self.asOf)
      let active = try feed.histories(asOf: Self.asOf).reduce(0) { sum, history in
        sum + (history.stretches.contains { $0.isActive(at: at(Self.asOf)) } ? 1 : 0)
      }
      #expect(facts.balance == Int64(active), "seed \(seed)")
    }
  }

  @Test("As events or states, a history has equal churn, renewals and trials", arguments: 1...60)
  func reportedAsShown(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let history = RandomHistory(&dice)
    let reported = try history.reported.facts(asOf: Self.asOf)
    for feed in [history.shown, history.mixed(&dice)] {
      let facts = try feed.facts(asOf: Self.asOf)
      for movement in Movement.allCases where movement != .autoRenewOff {
        #expect(
          facts.days(movement) == reported.days(movement), "seed \(seed), \(movement)")
      }
      #expect(facts.renewals == reported.renewals, "seed \(seed)")
      #expect(facts.trials == reported.trials, "seed \(seed)")
      #expect(facts.revenue == reported.revenue, "seed \(seed)")
    }
  }

  @Test(
    "The contributions of subscriptions add up to the facts, each with a reported event",
    arguments: 1...60)
  func shares(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let history = RandomHistory(&dice)
    for feed in [history.shown, history.reported, history.mixed(&dice)] {
      var sum = Facts()
      for history in try feed.histories(asOf: Self.asOf) {
        for share in try history.shares() {
          try sum.add(share)
          let evidence = history.evidence(of: share)
          #expect(!evidence.isEmpty, "seed \(seed)")
          for proof in evidence { #expect(feed.events.contains(proof.reported), "seed \(seed)") }
        }
      }
      #expect(sum == (try feed.facts(asOf: Self.asOf).facts), "seed \(seed)")
    }
  }
}

/// A user's monthly periods with the events of each.
private struct RandomHistory {
  private(set) var shown = StateFeed(.iaptic)
  private(set) var reported = StateFeed(.iaptic)

  init(_ dice: inout SeededNumbers) {
    var start = at("2026-01-10")
    var transaction: Int64 = 10
    var opening = EventKind.started
    if dice.roll(2) == 0 {
      report(.trialStarted, start, transaction, until: start + .days(7)) { $0.isTrial = true }
      start = start + .days(7)
      transaction += 1
      opening = .renewed
    }
    for _ in 0...dice.roll(6) {
      let end = start + .days(30)
      report(opening, start, transaction, until: end)
      let ending = Ending(rawValue: dice.roll(4)) ?? .renewed
      pass(ending, start, transaction, until: end)
      opening = ending == .expired ? .resubscribed : .renewed
      start = end
      if ending == .failed || ending == .expired { start = start + .days(2 + Int64(dice.roll(20))) }
      transaction += 1
    }
  }

  private enum Ending: Int { case renewed, reconsidered, failed, expired }

  /// Adds the events in and after a period, before the next one.
  private mutating func pass(
    _ ending: Ending, _ start: Instant, _ transaction: Int64, until end: Instant
  ) {
    switch ending {
    case .renewed: break
    case .reconsidered:
      report(.canceled, start + .days(3), transaction, until: end) { $0.isAutoRenewing = false }
      report(.uncanceled, start + .days(5), transaction, until: end)
    case .expired:
      report(.canceled, start + .days(3), transaction, until: end) { $0.isAutoRenewing = false }
      report(.expired, end, transaction, until: end) {
        $0.isAutoRenewing = false
        $0.isOwned = false
      }
    case .failed:
      report(.billingRetry, end, transaction, until: end) {
        $0.isInBillingRetry = true
        $0.isOwned = false
      }
    }
  }

  private mutating func report(
    _ kind: EventKind, _ time: Instant, _ transaction: Int64, until end: Instant,
    _ change: (inout Observation) -> Void = { _ in }
  ) {
    shown.show("2026-01-01", transaction, until: "2026-01-01", of: 10) { event, state in
      event.time = time
      event.periodStart = time
      event.periodEnd = end
      change(&state)
    }
    guard var event = shown.events.last else { return }
    event.kind = kind
    reported.events.append(event)
  }

  /// Each event as a reported event or a state, at random.
  func mixed(_ dice: inout SeededNumbers) -> StateFeed {
    var mixed = shown
    for index in mixed.events.indices where dice.roll(2) == 0 {
      mixed.events[index] = reported.events[index]
    }
    return mixed
  }
}

extension BookedHistories {
  var balance: Int64 {
    let incoming: [Movement] = [
      .new, .firstSeen, .reactivated, .recovered, .resumed, .transferIn,
    ]
    let outgoing: [Movement] = [.churned, .paused, .transferOut]
    return incoming.reduce(0) { $0 + count($1) } - outgoing.reduce(0) { $0 + count($1) }
  }
}

private extension SeededNumbers {
  mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
}
