import Domain
import Testing

@testable import Subscriptions

@Suite("Unreported charges, if no ends or kinds are sent")
struct UnseenChargeTests {
  private func unseen(_ telling: StateFeed) throws -> [UnseenPeriod] {
    try telling.histories(asOf: "2026-08-01", lengths).flatMap { $0.state?.unseenPeriods ?? [] }
  }

  /// A month from January, and then an event of another transaction.
  private func purple(_ kind: EventKind, _ time: String) throws -> [UnseenPeriod] {
    var telling = StateFeed(.purple, started: "2026-01-01")
    telling.report(kind, time) { $0.transaction = 14 }
    return try unseen(telling)
  }

  @Test("Without ends, a cancel in a later period proves its charge until that period's end")
  func canceled() throws {
    let found = try purple(.canceled, "2026-02-10")
    #expect(found.map(\.transaction) == [14])
    #expect(found.map(\.previousEnd) == [at("2026-02-01")])
    #expect(found.map(\.end) == [at("2026-03-01")])
    #expect(try purple(.canceled, "2026-01-20").isEmpty)
  }

  @Test("An end or a failed payment proves a charge after most of a period")
  func ended() throws {
    for kind in [EventKind.expired, .graceEntered, .endedInvoluntarily] {
      #expect(try purple(kind, "2026-03-01").map(\.transaction) == [14], "\(kind)")
      #expect(try purple(kind, "2026-02-04").isEmpty, "\(kind)")
    }
  }

  @Test("A renewal that leaves a derived period free proves its charge")
  func derived() throws {
    let found = try purple(.renewed, "2026-03-01")
    #expect(found.map(\.transaction) == [0])
    #expect(found.map(\.start) == [at("2026-02-01")])
    #expect(try purple(.renewed, "2026-02-01").isEmpty)
    #expect(try purple(.recovered, "2026-03-01").isEmpty)
  }

  /// States of January and, after one free period, of another charge.
  private func shown(
    by provider: Provider, charged: String = "2026-03-01", renewing: Bool = true
  ) throws -> [UnseenPeriod] {
    var telling = StateFeed(provider)
    telling.show("2026-01-02", 10, until: "2026-02-01") {
      $1.lastChargedAt = at("2026-01-01")
      $1.isAutoRenewing = renewing
    }
    telling.show("2026-03-20", 12, until: "2026-04-01", of: 10) { $1.lastChargedAt = at(charged) }
    return try unseen(telling)
  }

  @Test("A state with a charge after exactly one free period proves the renewal in it")
  func states() throws {
    #expect(try shown(by: .iaptic).map(\.start) == [at("2026-02-01")])
    #expect(try shown(by: .iaptic, charged: "2026-02-15").isEmpty)
    #expect(try shown(by: .iaptic, renewing: false).isEmpty)
  }

  @Test("Renewals that cannot be linked to their subscription are not missing in it")
  func unlinked() throws {
    #expect(try shown(by: .flobuk).isEmpty)
  }

  @Test("A purchase first seen when it is revoked was made after the one that it followed")
  func revokedAtOnce() throws {
    var feed = StateFeed(.flobuk)
    feed.show("2026-07-20", 10, until: "2026-08-20") { _, state in state.group = 5 }
    feed.show("2026-08-20", 11, until: "2026-08-20") { event, state in
      event.product = StateFeed.yearly
      (state.group, state.isOwned, state.isAutoRenewing) = (5, false, false)
    }
    let histories = try feed.histories(asOf: "2026-10-01") {
      $0.periods[StateFeed.yearly] = .months(12)
    }
    let charged = histories.compactMap(\.state).flatMap(\.charges).map(\.time)
    #expect(charged.count == 2 && charged.allSatisfy { $0 >= at("2026-07-20") }, "\(charged)")
  }
}
