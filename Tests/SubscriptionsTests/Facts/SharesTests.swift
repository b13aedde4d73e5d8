import Testing
import Domain

@testable import Subscriptions

@Suite("Each number of a subscription has its events")
struct SharesTests {
  /// Kind and time of the events of a movement's contributions, the source event first.
  private func events(_ movement: Movement, of story: Story) throws -> [[String]] {
    let history = try story.history(asOf: "2026-06-01")
    return try history.shares().compactMap { share in
      guard case .movement(let key, let sums) = share.cell, key.movement == movement,
        sums.subscriptions != 0
      else { return nil }
      return history.evidence(of: share).map { "\($0.event.kind.name) \(text($0.event.time))" }
    }
  }

  @Test("An end is explained by the charge of its period and by reports in it")
  func churn() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-10", until: "2026-03-10", price: "10")
    story.report(.canceled, "2026-02-20", until: "2026-03-10")
    story.report(.expired, "2026-03-10")
    let ended = ["renewed 2026-02-10", "canceled 2026-02-20", "expired 2026-03-10"]
    #expect(try events(.churned, of: story) == [ended])
    #expect(try events(.churnedVoluntary, of: story) == [ended])
    #expect(try events(.new, of: story) == [["started 2026-01-10"]])
    #expect(
      try events(.autoRenewOff, of: story) == [["canceled 2026-02-20"], ["canceled 2026-02-20"]])
  }

  @Test("A recovery is explained by its charge and by the failed period before it")
  func recovery() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.billingRetry, "2026-02-10", until: "2026-02-10")
    story.report(.renewed, "2026-02-20", until: "2026-03-20", price: "10")
    #expect(
      try events(.recovered, of: story)
        == [["renewed 2026-02-20", "started 2026-01-10", "billing_retry 2026-02-10"]])
  }

  @Test("A refund is explained by itself and by its charge")
  func refund() throws {
    var story = Story.paid("2026-01-10", until: "2026-02-10")
    story.report(.refunded, "2026-01-12", price: "10")
    let history = try story.history(asOf: "2026-06-01")
    let refunds = try history.shares().filter { share in
      guard case .revenue(_, let sums) = share.cell else { return false }
      return sums.refunds == 1
    }
    #expect(refunds.map(\.at) == [at("2026-01-12")])
    let kinds = refunds.map { share in history.evidence(of: share).map { $0.event.kind } }
    #expect(kinds == [[.refunded, .started]])
  }
}

extension Facts {
  /// Adds one contribution to its cell.
  mutating func add(_ share: Contribution) throws {
    switch share.cell {
    case .revenue(let key, let sums): revenue[key, default: RevenueSums()].add(sums)
    case .movement(let key, let sums): try movements[key, default: MovementSums()].add(sums)
    case .renewal(let key, let sums): renewals[key, default: RenewalSums()].add(sums)
    case .trial(let key, let sums): trials[key, default: TrialSums()].add(sums)
    case .retention(let key, let sums): retention[key, default: RetentionSums()].add(sums)
    case .excluded(let key, let sums): excluded[key, default: ExclusionSums()].add(sums)
    case .arrival(let key, let sums): arrivals[key, default: ArrivalSums()].add(sums)
    case .gap(let key, let events): gaps[key, default: 0] += events
    }
  }
}
