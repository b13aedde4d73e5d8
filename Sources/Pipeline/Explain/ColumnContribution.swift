import Reports
import Subscriptions
import Domain

/// The contribution of a subscription to one column of a report.
struct ColumnContribution {
  var column: String
  /// A count, or millionths.
  var value: Int64
  var isUnknown = false
}

extension NumberReport {
  /// Returns the contributions of a cell to the columns of this report; empty for other reports.
  func columns(of cell: Contribution.Cell) -> [ColumnContribution] {
    switch (self, cell) {
    case (.revenueDaily, .revenue(_, let sums)), (.revenueMonthly, .revenue(_, let sums)):
      sums.columns
    case (.churnMonthly, .movement(let key, let sums)): key.movement.columns(sums.subscriptions)
    case (.mrrMonthly, .movement(let key, let sums)): key.movement.columns(sums.mrr)
    case (.qualityMonthly, .movement(let key, let sums)) where key.movement == .churnedInDoubt:
      counts([(key.movement.name, sums.subscriptions)])
    case (.renewalsMonthly, .renewal(_, let sums)):
      counts([("renewals", sums.renewals), ("renewals_refunded", sums.refunded)])
    case (.trialsMonthly, .trial(_, let sums)):
      counts([
        ("started", sums.started), ("converted", sums.converted), ("canceled", sums.canceled),
        ("expired", sums.expired), ("pending", sums.pending),
      ])
    case (.retentionMonthly, .retention(_, let sums)):
      if sums.joined != 0 {
        counts([("eligible", sums.joined)])
      } else if sums.activeChange != 0 {
        counts([("retained", sums.activeChange)])
      } else {
        [amount("net_usd", sums.netUSD)]
      }
    case (.excludedMonthly, .excluded(_, let sums)):
      counts([("events", sums.events), ("charges", sums.charges)])
    case (.deliveriesDaily, .arrival(_, let sums)):
      counts([("out_of_order", sums.outOfOrder), ("late", sums.late)])
    default: []
    }
  }
}

private func counts(_ counts: [(String, Int64)]) -> [ColumnContribution] {
  counts.filter { $0.1 != 0 }.map { ColumnContribution(column: $0.0, value: $0.1) }
}

private func amount(
  _ column: String, _ sum: PartialSum, times factor: Int64 = 1
) -> ColumnContribution {
  ColumnContribution(
    column: column, value: factor * sum.sum.micros, isUnknown: sum.unknown != 0)
}

extension RevenueSums {
  var columns: [ColumnContribution] {
    let isRefund = refunds > 0
    let (usd, local) = isRefund ? (refundsUSD, refundsLocal) : (grossUSD, grossLocal)
    let (gross, sign): (String, Int64) = isRefund ? ("refunds", -1) : ("gross", 1)
    let net = amount("net_usd", usd, times: sign)
    let proceeds = amount("proceeds_usd", proceedsUSD)
    let isKnown = !net.isUnknown && !proceeds.isUnknown
    let commission = ColumnContribution(
      column: "commission_usd", value: isKnown ? net.value - proceeds.value : 0,
      isUnknown: !isKnown)
    return [
      ColumnContribution(column: isRefund ? "refunds" : "charges", value: 1),
      amount("\(gross)_usd", usd), net, commission, proceeds, amount("\(gross)_local", local),
      amount("net_local", local, times: sign), amount("proceeds_local", proceedsLocal),
    ]
  }
}

extension Movement {
  func columns(_ subscriptions: Int64) -> [ColumnContribution] {
    let change = activeSign * subscriptions
    return counts([(name, subscriptions), ("active_open", change), ("active_close", change)])
  }

  func columns(_ mrr: Amount) -> [ColumnContribution] {
    guard revenueSign != 0 else { return [] }
    let change = revenueSign * mrr.micros
    return counts([
      (name, mrr.micros), ("mrr_open", change), ("mrr_close", change), ("arr_close", 12 * change),
    ])
  }
}

extension NumberQuestion {
  /// Whether a contribution counts in the requested rows; without a requested time, balances are
  /// those of the first or last month.
  func counts(
    _ part: ColumnContribution, _ keys: ContributionKeys, by rules: FoldSettings
  ) -> Bool {
    let number = time?.number
    let own: Int32
    let last: Int32
    if let key = keys.retention {
      own = key.index
      last = rules.calendar.month(of: rules.asOf).number - 1 - key.cohort.number
    } else if let day = keys.day {
      own = report.isDaily ? day.number : day.month.number
      // The month of the last instant that the reports cover.
      last = rules.calendar.month(of: rules.asOf - Interval(milliseconds: 1)).number
    } else {
      return true
    }
    return switch column(part.column)?.addition {
    case .opening: number.map { own < $0 && $0 <= last } ?? false
    // In a cohort, it counts in those of its months that have ended.
    case .closing, .atOneTime: own <= (number ?? last) && (number ?? last) <= last
    default: number.map { $0 == own } ?? true
    }
  }
}
