import Reports
import Subscriptions
import Domain

/// What a share adds to one column of a report.
struct ColumnContribution {
  /// Which rows a share counts in, by their time and its own.
  enum Span {
    /// Rows of its own time.
    case during
    /// Rows that begin after it.
    case before
    /// Rows that end after it.
    case until
    /// Rows of every later month of a cohort, once it has ended.
    case cohort
    /// Rows of the cohort's months from its own on, once they have ended.
    case cohortUntil
  }

  var column: String
  /// A count, or millionths.
  var value: Int64
  /// Whether an amount is missing from `value`.
  var isUnknown = false
  var span = Span.during
}

extension NumberReport {
  /// What a share adds to the columns of this report; empty when it is of no concern to it.
  func columns(of cell: Contribution.Cell) -> [ColumnContribution] {
    switch (self, cell) {
    case (.revenueDaily, .revenue(_, let sums)), (.revenueMonthly, .revenue(_, let sums)):
      sums.columns
    case (.churnMonthly, .movement(let key, let sums)): key.movement.columns(sums.subscriptions)
    case (.mrrMonthly, .movement(let key, let sums)): key.movement.columns(sums.mrr)
    case (.qualityMonthly, .movement(let key, let sums)) where key.movement == .churnedInDoubt:
      [ColumnContribution(column: key.movement.column, value: sums.subscriptions)]
    case (.renewalsMonthly, .renewal(_, let sums)):
      counts([("renewals", sums.renewals), ("renewals_refunded", sums.refunded)])
    case (.trialsMonthly, .trial(_, let sums)):
      counts([
        ("started", sums.started), ("converted", sums.converted), ("canceled", sums.canceled),
        ("expired", sums.expired), ("pending", sums.pending),
      ])
    case (.retentionMonthly, .retention(_, let sums)): sums.columns
    case (.excludedMonthly, .excluded(_, let sums)):
      counts([("events", sums.events), ("charges", sums.charges)])
    case (.deliveriesDaily, .arrival(_, let sums)):
      counts([("out_of_order", sums.outOfOrder), ("late", sums.late)])
    default: []
    }
  }

  private func counts(_ counts: [(String, Int64)]) -> [ColumnContribution] {
    counts.filter { $0.1 != 0 }.map { ColumnContribution(column: $0.0, value: $0.1) }
  }
}

extension RevenueSums {
  var columns: [ColumnContribution] {
    let isRefund = refunds > 0
    var columns = [ColumnContribution(column: isRefund ? "refunds" : "charges", value: 1)]
    func add(_ column: String, _ value: Int64, _ parts: PartialSum...) {
      columns.append(
        ColumnContribution(
          column: column, value: value, isUnknown: parts.contains { $0.unknown > 0 }))
    }
    let (usd, local) = isRefund ? (refundsUSD, refundsLocal) : (grossUSD, grossLocal)
    let sign: Int64 = isRefund ? -1 : 1
    add(isRefund ? "refunds_usd" : "gross_usd", usd.sum.micros, usd)
    add("net_usd", sign * usd.sum.micros, usd)
    add(
      "commission_usd", sign * usd.sum.micros - proceedsUSD.sum.micros, usd, proceedsUSD)
    add("proceeds_usd", proceedsUSD.sum.micros, proceedsUSD)
    add(isRefund ? "refunds_local" : "gross_local", local.sum.micros, local)
    add("net_local", sign * local.sum.micros, local)
    add("proceeds_local", proceedsLocal.sum.micros, proceedsLocal)
    return columns
  }
}

extension RetentionSums {
  var columns: [ColumnContribution] {
    if joined != 0 { return [ColumnContribution(column: "eligible", value: joined, span: .cohort)] }
    if activeChange != 0 {
      return [ColumnContribution(column: "retained", value: activeChange, span: .cohortUntil)]
    }
    return [
      ColumnContribution(column: "net_usd", value: netUSD.sum.micros, isUnknown: netUSD.unknown > 0)
    ]
  }
}

extension Movement {
  func columns(_ subscriptions: Int64) -> [ColumnContribution] {
    guard subscriptions != 0 else { return [] }
    if self == .autoRenewOff {
      return [ColumnContribution(column: column, value: subscriptions, span: .until)]
    }
    return [ColumnContribution(column: column, value: subscriptions)]
      + balances("active", activeSign * subscriptions)
  }

  func columns(_ mrr: Amount) -> [ColumnContribution] {
    guard mrr != .zero, revenueSign != 0 else { return [] }
    let change = revenueSign * mrr.micros
    return [ColumnContribution(column: column, value: mrr.micros)] + balances("mrr", change)
      + [ColumnContribution(column: "arr_close", value: 12 * change, span: .until)]
  }

  private func balances(_ name: String, _ value: Int64) -> [ColumnContribution] {
    guard value != 0 else { return [] }
    return [
      ColumnContribution(column: "\(name)_open", value: value, span: .before),
      ColumnContribution(column: "\(name)_close", value: value, span: .until),
    ]
  }
}
