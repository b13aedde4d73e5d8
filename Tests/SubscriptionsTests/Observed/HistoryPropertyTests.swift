import TestSupport
import Testing
import Domain

@testable import Subscriptions

/// Random histories of one user, as states and as told events.
@Suite("Properties of lives from states")
struct HistoryPropertyTests {
  static let asOf = "2027-06-01"

  @Test("Neither order nor repetition of observations changes a fact", arguments: 1...60)
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
      #expect(again == facts, "seed \(seed)")
    }
  }

  @Test("What is active at the end is what came less what went", arguments: 1...60)
  func balance(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let history = RandomHistory(&dice)
    for feed in [history.shown, history.told, history.mixed(&dice)] {
      let facts = try feed.facts(asOf: Self.asOf)
      let active = try feed.lives(asOf: Self.asOf).reduce(0) { sum, life in
        sum + (life.stretches.contains { $0.isActive(at: at(Self.asOf)) } ? 1 : 0)
      }
      #expect(facts.balance == Int64(active), "seed \(seed)")
    }
  }

  @Test("Told and shown, a history has the same churn, renewals and trials", arguments: 1...60)
  func toldAsShown(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let history = RandomHistory(&dice)
    let told = try history.told.facts(asOf: Self.asOf)
    for feed in [history.shown, history.mixed(&dice)] {
      let facts = try feed.facts(asOf: Self.asOf)
      for movement in Movement.allCases where movement != .autoRenewOff {
        #expect(
          facts.days(movement) == told.days(movement), "seed \(seed), \(movement)")
      }
      #expect(facts.renewals == told.renewals, "seed \(seed)")
      #expect(facts.trials == told.trials, "seed \(seed)")
      #expect(facts.revenue == told.revenue, "seed \(seed)")
    }
  }

  @Test("The shares of lives add up to what they book, each from a told event", arguments: 1...60)
  func shares(seed: UInt64) throws {
    var dice = SeededNumbers(seed: seed)
    let history = RandomHistory(&dice)
    for feed in [history.shown, history.told, history.mixed(&dice)] {
      var sum = Facts()
      for life in try feed.lives(asOf: Self.asOf) {
        for share in try life.shares() {
          try sum.add(share)
          let evidence = life.evidence(of: share)
          #expect(!evidence.isEmpty, "seed \(seed)")
          for proof in evidence { #expect(feed.events.contains(proof.told), "seed \(seed)") }
        }
      }
      #expect(sum == (try feed.facts(asOf: Self.asOf).facts), "seed \(seed)")
    }
  }
}

/// A user's monthly periods, each with what happened in it.
private struct RandomHistory {
  private(set) var shown = Telling(.iaptic)
  private(set) var told = Telling(.iaptic)

  init(_ dice: inout SeededNumbers) {
    var start = at("2026-01-10")
    var transaction: Int64 = 10
    var opening = EventKind.started
    if dice.roll(2) == 0 {
      tell(.trialStarted, start, transaction, until: start + .days(7)) { $0.isTrial = true }
      start = start + .days(7)
      transaction += 1
      opening = .renewed
    }
    for _ in 0...dice.roll(6) {
      let end = start + .days(30)
      tell(opening, start, transaction, until: end)
      let ending = Ending(rawValue: dice.roll(4)) ?? .renewed
      pass(ending, start, transaction, until: end)
      opening = ending == .expired ? .resubscribed : .renewed
      start = end
      if ending == .failed || ending == .expired { start = start + .days(2 + Int64(dice.roll(20))) }
      transaction += 1
    }
  }

  private enum Ending: Int { case renewed, reconsidered, failed, expired }

  /// What happens in and after a period before the next one.
  private mutating func pass(
    _ ending: Ending, _ start: Instant, _ transaction: Int64, until end: Instant
  ) {
    switch ending {
    case .renewed: break
    case .reconsidered:
      tell(.canceled, start + .days(3), transaction, until: end) { $0.isAutoRenewing = false }
      tell(.uncanceled, start + .days(5), transaction, until: end)
    case .expired:
      tell(.canceled, start + .days(3), transaction, until: end) { $0.isAutoRenewing = false }
      tell(.expired, end, transaction, until: end) {
        $0.isAutoRenewing = false
        $0.isOwned = false
      }
    case .failed:
      tell(.billingRetry, end, transaction, until: end) {
        $0.isInBillingRetry = true
        $0.isOwned = false
      }
    }
  }

  private mutating func tell(
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
    told.events.append(event)
  }

  /// Each event told or shown, as the dice fall.
  func mixed(_ dice: inout SeededNumbers) -> Telling {
    var mixed = shown
    for index in mixed.events.indices where dice.roll(2) == 0 {
      mixed.events[index] = told.events[index]
    }
    return mixed
  }
}

extension BookedLives {
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
