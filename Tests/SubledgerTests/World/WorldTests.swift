import Foundation
import TestSupport
import Testing

@Suite("A simulated world is reported exactly")
struct WorldTests {
  @Test("Without losses, reports equal the truth to the last byte", arguments: [2, 6])
  func exact(seed: Int) throws {
    let world = try World(seed: seed, isPublished: true)
    for table in ["revenue", "churn", "renewals", "trials", "mrr"] {
      let name = "\(table)_monthly.csv"
      let truth = try world.program.text(of: "world/truth/\(name)")
      let report = try world.program.text(of: "reports/\(name)")
      #expect(truth.count { $0 == "\n" } > 20)
      let missing = Set(truth.split(separator: "\n")).subtracting(report.split(separator: "\n"))
      #expect(missing.isEmpty, "\(name)")
      #expect((report == truth) == true, "\(name) has rows of its own, or in another order")
    }
    try expectRevenueRecounted(world)
    try expectRenewalsRecounted(world)
    try expectStartsRecounted(world)
  }

  @Test("If one event in a hundred is lost, every loss that the snapshot shows is a break")
  func losses() throws {
    let world = try World(seed: 5, lost: 10_000, isPublished: true)
    let lost = try TruthEvent.all(of: world).filter {
      $0.isProduction && $0.outcome == "lost" && $0.isCharge && $0.evidence?.contains("sdk") == true
    }
    #expect(lost.count > 5)
    let missed = try world.program.rows("breaks.csv").filter {
      $0["code"]?.hasPrefix("MISSED_") == true
    }
    for event in lost {
      let isFound = missed.contains {
        $0["transaction_id"] == event.transaction
          || $0["subscription_id"] == event.lineage && $0["missing_events"] != "1"
      }
      #expect(isFound, "\(event.id) \(event.kind) \(event.transaction)")
    }
    try expectEstimated(lost.filter { $0.kind == "renewed" && $0.isProceed == 0 }, by: missed)
  }

  /// All estimates together are within 1 % of what was paid.
  private func expectEstimated(
    _ lost: [TruthEvent], by missed: [[String: String]]
  ) throws {
    var (paid, estimated): (Decimal, Decimal) = (0, 0)
    for event in lost {
      guard let found = missed.first(where: { $0["transaction_id"] == event.transaction })
      else { continue }
      paid += try #require(event.usd)
      estimated += try #require(Decimal(string: found["estimated_usd"] ?? ""))
    }
    #expect(paid > 20 && abs(estimated - paid) * 100 <= paid, "\(estimated) of \(paid)")
  }

  /// Sums by app, store, country and month of the sent amounts, gross or after commission.
  private func expectRevenueRecounted(_ world: World) throws {
    var sent: [[String]: [Int: Decimal]] = [:]
    var counts: [[String]: (charges: Int, refunds: Int)] = [:]
    let events = try TruthEvent.all(of: world).filter(\.isProduction)
    let charges = Dictionary(
      events.filter(\.isCharge).map { ($0.transaction, $0) }
    ) { $0.time > $1.time ? $0 : $1 }
    for event in events {
      guard event.isCharge || event.isRefund, let usd = event.usd else { continue }
      let key = [event.month, event.app, event.store, event.country, event.currency]
      let isRefund = event.isRefund
      counts[key, default: (0, 0)].charges += isRefund ? 0 : 1
      counts[key, default: (0, 0)].refunds += isRefund ? 1 : 0
      var amount = isRefund ? -abs(usd) : usd
      // A whole refund equals its charge, whatever the exchange rate at its time.
      if isRefund, let charge = charges[event.transaction], let paid = charge.usd,
        charge.value.map(abs) == event.value.map(abs)
      {
        amount = -paid
      }
      sent[key, default: [:]][event.isProceed ?? 0, default: 0] += amount
    }
    var reported: [[String]: (charges: Int, refunds: Int, net: Decimal, proceeds: Decimal)] = [:]
    for row in try world.program.rows("revenue_monthly.csv") {
      let key = ["period", "app_id", "store", "country", "currency"].map { row[$0] ?? "" }
      reported[key, default: (0, 0, 0, 0)].charges += Int(row["charges"] ?? "") ?? 0
      reported[key, default: (0, 0, 0, 0)].refunds += Int(row["refunds"] ?? "") ?? 0
      reported[key, default: (0, 0, 0, 0)].net += Decimal(string: row["net_usd"] ?? "") ?? 0
      reported[key, default: (0, 0, 0, 0)].proceeds +=
        Decimal(string: row["proceeds_usd"] ?? "") ?? 0
    }
    #expect(Set(reported.keys) == Set(counts.keys))
    for (key, count) in counts {
      let row = try #require(reported[key])
      #expect(row.charges == count.charges && row.refunds == count.refunds, "\(key)")
      // If all amounts were sent in one form, the sum is exact; a mixture needs the rates.
      guard let amounts = sent[key], amounts.count == 1 else { continue }
      if let gross = amounts[0] { #expect(row.net == gross, "\(key)") }
      if let proceeds = amounts[1] { #expect(row.proceeds == proceeds, "\(key)") }
    }
  }

  private func expectRenewalsRecounted(_ world: World) throws {
    let events = try TruthEvent.all(of: world).filter(\.isProduction)
    var renewals: [[String]: Int] = [:]
    var refunded: [[String]: Int] = [:]
    let byTransaction = Dictionary(
      events.filter { $0.kind == "renewed" }.map { ($0.transaction, $0) }
    ) { first, _ in first }
    for event in byTransaction.values { renewals[event.renewalKey(event), default: 0] += 1 }
    var seen: Set<String> = []
    for event in events.sorted(by: { $0.time < $1.time }) where event.isRefund {
      guard let renewal = byTransaction[event.transaction], seen.insert(event.transaction).inserted
      else { continue }
      refunded[renewal.renewalKey(event), default: 0] += 1
    }
    #expect(try sums("renewals_monthly.csv", "renewals", of: world) == renewals)
    #expect(try sums("renewals_monthly.csv", "renewals_refunded", of: world) == refunded)
  }

  /// First paid periods: starts that are their own original, and conversions of trials.
  private func expectStartsRecounted(_ world: World) throws {
    var starts: [[String]: Int] = [:]
    for event in try TruthEvent.all(of: world) where event.isProduction {
      let isStart = event.kind == "started" && event.transaction == event.lineage
      guard isStart || event.kind == "trial_converted" else { continue }
      starts[[event.month, event.app, event.store, event.product], default: 0] += 1
    }
    #expect(try sums("churn_monthly.csv", "new", of: world, by: false) == starts)
  }

  private func sums(
    _ file: String, _ column: String, of world: World, by ordinal: Bool = true
  ) throws -> [[String]: Int] {
    var sums: [[String]: Int] = [:]
    var columns = ["period", "app_id", "store", "product_id"]
    if ordinal { columns.append("renewal_ordinal") }
    for row in try world.program.rows(file) {
      guard let count = Int(row[column] ?? ""), count != 0 else { continue }
      sums[columns.map { row[$0] ?? "" }, default: 0] += count
    }
    return sums
  }
}

extension TruthEvent {
  /// The row of the renewal report in which `event` puts this renewal.
  func renewalKey(_ event: TruthEvent) -> [String] {
    [event.month, app, store, product, ordinal.map(String.init) ?? ""]
  }
}
