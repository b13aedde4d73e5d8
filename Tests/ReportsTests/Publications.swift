import Foundation
import EventStore
import Reports
import TestSupport
import Domain

/// A world whose reports are published by several runs.
extension World {
  /// Writes the reports as the next run, one second later, and stores its publication; before that
  /// it sets how many charges were sold in January.
  @discardableResult
  func publish(
    selling charges: Int64? = nil, options: String = "{}", version: String = "1",
    isRepeated: Bool = false, breaks: [Break] = []
  ) throws -> WrittenReports {
    if let charges { try sell(charges) }
    if !isRepeated { rules.asOf = rules.asOf + .seconds(1) }
    try fold()
    let run = try ledger.beginRun(asOf: rules.asOf, version: version, options: options)
    if !breaks.isEmpty { _ = try ledger.storeBreaks(breaks, asOf: rules.asOf, run: run) }
    var plan = ReportPlan(rules: rules, run: run)
    plan.dialect = dialect
    plan.amountDecimals = amountDecimals
    let reports = try writeReports(from: ledger, plan: plan, into: folder.path("reports"))
    try ledger.finishRun(
      run, archives: 0, counts: ArchiveCounts(), published: "\(run)",
      publication: reports.publication)
    return reports
  }

  /// The restatements of the last publication, one line each without the key.
  func restated(_ columns: String...) throws -> [String] {
    try restatements().map { row in
      columns.map { row[$0] ?? "missing" }.joined(separator: " ")
    }
  }

  /// The rows of `restatements.csv`.
  func restatements() throws -> [[String: String]] { try rows("restatements.csv") }

  /// Charges for `product` in a month of 2026, each of 10 dollars.
  func sell(
    _ charges: Int64, refunds: Int64 = 0, _ product: String = "pro", month: Int = 1,
    kind: ChargeKind = .renewal, basis: AmountBasis = .provider, provider: Provider = .qonversion
  ) throws {
    let key = RevenueKey(
      day: Day(year: 2026, month: month, day: 5),
      productKey: try productKey(product, provider: provider), productType: .subscription,
      chargeKind: kind,
      country: 0, storefront: 0, currency: try symbol("USD"), rate: Amount(micros: 70_000_000),
      basis: basis)
    var sums = RevenueSums()
    sums.charges = charges
    sums.refunds = refunds
    sums.grossUSD.add(micros: charges * 10_000_000)
    sums.refundsUSD.add(micros: refunds * 10_000_000)
    sums.proceedsUSD.add(micros: (charges - refunds) * 7_000_000)
    sums.grossLocal = sums.grossUSD
    sums.refundsLocal = sums.refundsUSD
    sums.proceedsLocal = sums.proceedsUSD
    facts.revenue[key] = charges + refunds == 0 ? nil : sums
  }

  /// Sets the feed's newest input to that day.
  func hear(until day: Instant, provider: Provider = .qonversion) throws {
    let feed = Feed(provider: provider, app: try symbol("app"))
    rules.watermarks[feed] = Watermark(of: feed, newest: day, begin: day)
  }
}
