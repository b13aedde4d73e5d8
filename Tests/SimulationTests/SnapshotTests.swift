import Foundation
import TestSupport
import Testing
import Domain

@testable import Simulation

@Suite struct SnapshotTests {
  @Test(
    "Each shape has its own folder, and its lines name user and time",
    arguments: SnapshotShape.allCases)
  func shapes(_ shape: SnapshotShape) throws {
    let world = try World.calm()
    let files = try world.files("snapshots/\(shape.rawValue)")
    #expect(files.count == 1 && files[0].hasSuffix("2026-03-01.jsonl.gz"))
    let values = try world.values(files[0])
    #expect(!values.isEmpty)
    #expect(Set(values.compactMap { $0["user_id"] as? String }).count == values.count)
    #expect(values.allSatisfy { $0["captured_at"] != nil })
    #expect(values.allSatisfy { $0["data"] is [Any] || $0["entitlements"] is [Any] })
  }

  @Test("The snapshot's counter is the number of renewals, and its transactions are all charges")
  func counters() throws {
    let world = try World.calm()
    let time = TimeSpan(world.scenario).end
    for customer in try world.customers {
      guard let holding = customer.holders(at: time).first?.holdings.first,
        let newest = customer.subscriptions.last, !customer.subscriptions.isEmpty
      else { continue }
      let renewals = newest.periods.filter { $0.charge.kind == .renewal }.count
      #expect(Int(holding.renewals) == renewals)
      let charges = customer.subscriptions.flatMap(\.periods).count
      let trials = customer.subscriptions.filter { $0.trial != nil }.count
      #expect(holding.transactions.count == charges + trials)
    }
  }

  @Test("A renewal at an offer's price is listed as such, and costs half of the usual price")
  func offers() throws {
    let world = try World.calm()
    let time = TimeSpan(world.scenario).end
    var prices: [SnapshotTransactionKind: [Bool]] = [:]
    for customer in try world.customers {
      let periods = customer.subscriptions.flatMap(\.periods)
      for held in customer.holders(at: time).first?.holdings.flatMap(\.transactions) ?? [] {
        guard
          let period = periods.first(where: { $0.charge.transaction == held.charge.transaction })
        else { continue }
        let full = customer.person.market.listPrice(of: held.charge.product, hasRisen: false)
        let isHalf = period.charge.gross.local * 3 < full * 2
        prices[held.kind, default: []].append(isHalf)
      }
    }
    #expect(prices[.introRenewed]?.allSatisfy(\.self) == true)
    #expect(prices[.renewed]?.contains(true) == false)
    let files = try world.files("snapshots/sdk-object")
    #expect(try gzip("-dc", files[0]).contains(Data("\"type\":\"introRenewed\"".utf8)))
  }

  @Test("The newest paid period decides the content of a snapshot")
  func states() {
    let start: Int64 = 1_740_000_000
    let charge = Charge(
      kind: .first, transaction: TransactionNumber(base: 0, index: 0), time: start,
      product: .monthly, ordinal: nil, gross: Money(local: 1, usd: 1), rate: 70,
      sendsProceeds: false)
    var period = AccessPeriod(charge: charge, start: start, end: start + 30 * day)
    func state(at time: Int64) -> Access {
      Subscription(periods: [period], original: charge.transaction).state(at: time)
    }
    #expect(state(at: start + day).isActive && state(at: start + day).state == .willRenew)
    period.canceledAt = start + day
    #expect(state(at: start + 2 * day).isActive && state(at: start + 2 * day).state == .canceled)
    period.canceledAt = nil
    period.billingIssueAt = start + 30 * day
    #expect(!state(at: start + 31 * day).isActive)
    period.graceEnd = start + 46 * day
    #expect(state(at: start + 31 * day).isActive)
    #expect(state(at: start + 31 * day).state == .billingIssue)
    #expect(state(at: start + 31 * day).until == start + 46 * day)
    period.revokedAt = start + 5 * day
    #expect(!state(at: start + 6 * day).isActive)
    #expect(state(at: start + 6 * day).until == start + 5 * day)
  }
}
