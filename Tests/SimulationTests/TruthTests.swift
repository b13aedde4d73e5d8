import Foundation
import Testing
import Domain

@testable import Simulation

@Suite struct TruthTests {
  @Test(
    "Subscriptions at open, plus gains, minus losses, equal those at close",
    arguments: Provider.simulated)
  func subscriptionsBalance(_ provider: Provider) throws {
    let rows = try World.calm(by: [provider]).table("churn_monthly.csv")
    #expect(rows.count > 50)
    for row in rows {
      let count = { (name: String) in Int(row[name] ?? "") ?? 0 }
      let came = ["new", "first_seen", "reactivated", "recovered", "transfer_in"].map(count)
      let went = ["churned", "transfer_out"].map(count)
      let close = count("active_open") + came.reduce(0, +) - went.reduce(0, +)
      #expect(close == count("active_close"))
      let reasons = ["voluntary", "involuntary", "refund", "price_increase", "unknown"].map {
        count("churned_\($0)")
      }
      #expect(reasons.reduce(0, +) == count("churned"))
      #expect(count("lost") <= count("active_open"))
      #expect(count("auto_renew_off") <= count("active_close"))
    }
  }

  @Test(
    "Recurring revenue balances to the millionth, and a close opens the next month",
    arguments: Provider.simulated)
  func recurringRevenueBalances(_ provider: Provider) throws {
    let rows = try World.calm(by: [provider]).table("mrr_monthly.csv")
    var closes: [String: (month: String, amount: Int64)] = [:]
    for row in rows {
      let amount = { (name: String) in try micros(row[name]) }
      let came = try [
        "new", "first_seen", "reactivated", "recovered", "expansion", "transfer_in", "fx",
      ]
      .map(amount).reduce(0, +)
      let went = try ["contraction", "churned", "transfer_out"].map(amount).reduce(0, +)
      let close = try amount("mrr_open") + came - went
      #expect(try close == amount("mrr_close"))
      #expect(try amount("arr_close") == 12 * close)
      let key = ["app_id", "store", "product_id"].map { row[$0] ?? "" }.joined(separator: "|")
      if let before = closes[key], before.amount != 0 {
        #expect(try amount("mrr_open") == before.amount)
      }
      closes[key] = (row["period"] ?? "", close)
    }
  }

  @Test("Every possible movement, reason and kind occurs")
  func variety() throws {
    let world = try World.calm()
    let rows = try world.table("churn_monthly.csv")
    for column in [
      "new", "first_seen", "reactivated", "recovered", "transfer_in", "churned_voluntary",
      "churned_involuntary", "churned_refund", "churned_unknown", "auto_renew_off",
    ] {
      #expect(rows.contains { Int($0[column] ?? "") ?? 0 > 0 }, "\(column)")
    }
    let kinds = try Set(world.customers.flatMap(\.occurrences).map(\.kind))
    let expected: Set<EventKind> = [
      .trialStarted, .trialConverted, .trialCanceled, .trialBillingRetry, .trialExpired, .started,
      .renewed, .upgraded, .downgraded, .productChanged, .canceled, .billingRetry, .expired,
      .refunded, .purchased, .purchaseRefunded, .other,
    ]
    #expect(kinds == expected)
    #expect(try world.customers.contains { $0.transferredFrom != nil })
    let mrr = try world.table("mrr_monthly.csv")
    for column in ["expansion", "contraction", "fx"] {
      #expect(try mrr.contains { try micros($0[column]) != 0 })
    }
  }

  @Test("Started trials are those converted, expired and pending")
  func trials() throws {
    let rows = try World.calm().table("trials_monthly.csv")
    for row in rows {
      let count = { (name: String) in Int(row[name] ?? "") ?? 0 }
      #expect(count("started") == count("converted") + count("expired") + count("pending"))
      if row["is_complete"] == "true" { #expect(count("pending") == 0) }
    }
    #expect(rows.contains { $0["is_complete"] == "true" })
  }

  @Test("Booked dollars equal those of the events if nothing is lost")
  func revenue() throws {
    let world = try World.calm()
    var charges = 0
    for body in try world.bodies() where body["environment"] as? String == "production" {
      let name = body["event_name"] as? String ?? ""
      let charging = [
        "trial_converted", "subscription_started", "subscription_renewed",
        "subscription_upgraded", "in_app_purchase",
      ]
      if charging.contains(name) { charges += 1 }
    }
    let rows = try world.table("revenue_monthly.csv")
    #expect(rows.compactMap { Int($0["charges"] ?? "") }.reduce(0, +) == charges)
    for row in rows {
      let amount = { (name: String) in try micros(row[name]) }
      #expect(try amount("gross_usd") - amount("refunds_usd") == amount("net_usd"))
      #expect(try amount("net_usd") - amount("proceeds_usd") == amount("commission_usd"))
    }
    let renewals = try world.table("renewals_monthly.csv")
    let renewed = rows.filter { $0["charge_kind"] == "renewal" }
    let byOrdinal = renewals.compactMap { Int($0["renewals"] ?? "") }.reduce(0, +)
    let byKind = renewed.compactMap { Int($0["charges"] ?? "") }.reduce(0, +)
    #expect(byOrdinal == byKind)
  }

  @Test("Rows are sorted by key, ordinals as numbers")
  func order() throws {
    let rows = try World.calm().table("renewals_monthly.csv")
    let columns = ["period", "provider", "app_id", "store", "product_id"]
    let keys = rows.map { row in
      (
        columns.map { row[$0] ?? "" }.joined(separator: "\u{1}"),
        Int(row["renewal_ordinal"] ?? "") ?? 0
      )
    }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
    #expect(keys.contains { $0.1 > 9 })
  }
}
