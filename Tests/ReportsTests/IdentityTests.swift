import Foundation
@testable import Reports
import Testing
import Domain

@Suite("Identities that must hold before a set is published")
struct IdentityTests {
  let world: World
  let productKey: ProductKey
  let start = Day(year: 2026, month: 1, day: 15)

  init() throws {
    world = try World()
    productKey = try world.productKey("monthly")
  }

  @Test("Churn without a reason is reported")
  func reasons() throws {
    world.move(.new, 2, productKey, on: start)
    world.move(.churned, 1, productKey, on: start)
    let rows = try broken()
    #expect(rows.count == 1)
    #expect(rows.first?.contains("monthly: 1 churned, 0 with a reason") == true)
  }

  @Test("More doubtful churn than churn is reported")
  func doubts() throws {
    world.move(.new, 2, productKey, on: start)
    world.churn(1, productKey, on: start)
    world.move(.churnedInDoubt, 1, productKey, on: start)
    try world.write()
    world.move(.churnedInDoubt, 1, productKey, on: start)
    #expect(try broken().first?.contains("monthly: 1 churned, 1 with a reason, 2 in doubt") == true)
  }

  @Test("More churned than active subscriptions are reported")
  func negative() throws {
    world.churn(1, productKey, on: start)
    #expect(try broken().first?.contains("-1 active") == true)
  }

  @Test("A transfer out without a transfer in is reported")
  func transfers() throws {
    world.move(.new, 2, productKey, on: start)
    world.move(.transferOut, 1, productKey, on: start)
    #expect(try broken().first?.contains("0 transferred in, 1 out") == true)
  }

  @Test("A transfer to another app is reported, unless subscriptions are linked across providers")
  func transfersBetweenApps() throws {
    let other = try world.productKey("monthly", app: "other", provider: .iaptic)
    world.move(.new, 2, productKey, on: start)
    world.move(.transferOut, 1, productKey, on: start)
    world.move(.transferIn, 1, other, on: start)
    #expect(try broken().count == 2)
    for key in [productKey, other] { try world.link(key) }
    try world.write()
  }

  @Test("A linked subscription without an app counts in the one that fits")
  func transfersOfNameless() throws {
    let fitting = try world.productKey("monthly", app: "other", provider: .purple)
    var nameless = fitting
    nameless.app = 0
    world.move(.new, 2, productKey, on: start)
    world.move(.transferOut, 1, productKey, on: start)
    world.move(.transferIn, 1, fitting, on: start)
    try world.link(productKey)
    #expect(try broken().count == 2)
    try world.link(nameless)
    try world.write()
  }

  @Test("A trial that is neither decided nor pending is reported")
  func trials() throws {
    var sums = TrialSums()
    sums.started = 2
    sums.converted = 1
    world.facts.trials[ProductDay(day: start, productKey: productKey)] = sums
    #expect(try broken().first?.contains("2 started, 1 accounted for") == true)
  }

  @Test("A cell whose product has no symbol is reported")
  func unknownWord() throws {
    var sums = RenewalSums()
    sums.renewals = 5
    let unknown = ProductKey(provider: .purple, app: 0, store: .stripe, product: 99)
    world.facts.renewals[RenewalKey(month: start.month, productKey: unknown, ordinal: 1)] = sums
    #expect(try broken() == ["symbol 99"])
  }

  @Test("A cell that no row prints is reported")
  func lostRow() throws {
    var sums = RenewalSums()
    sums.renewals = 5
    world.facts.renewals[RenewalKey(month: start.month, productKey: productKey, ordinal: 1)] = sums
    let tables = try world.write().filter { $0.path != "renewals_monthly.csv" }
    let error = #expect(throws: SubledgerError.self) {
      try checkTotals(of: tables, in: world.ledger)
    }
    #expect(error?.kind == .identity)
    #expect(rows(error) == ["renewals_monthly.renewals: 0 printed, 5 in the cells"])
  }

  @Test("At most ten rows are reported")
  func manyRows() throws {
    for number in 1...20 {
      world.churn(1, try world.productKey("p\(number)"), on: start)
    }
    #expect(try broken().count == 10)
  }

  private func broken() throws -> [String] {
    let error = #expect(throws: SubledgerError.self) { try world.write() }
    return error?.kind == .identity ? rows(error) : []
  }

  /// The rows in the message of an identity error.
  private func rows(_ error: SubledgerError?) -> [String] {
    let parts = error?.message.components(separatedBy: "does not hold for ") ?? []
    return parts.count == 2 ? parts[1].components(separatedBy: "; ") : []
  }
}
