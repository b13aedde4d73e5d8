import Subscriptions
import Domain

/// The contribution of a subscription to one column of a report.
struct ColumnContribution {
  /// The rows in which it counts, relative to its own time.
  enum Span {
    /// Rows of its own time.
    case during
    /// Rows that begin after it.
    case before
    /// Rows that end after it.
    case until
    /// Rows of all months of a cohort that have ended.
    case cohort
    /// Rows of the cohort's months from its own on that have ended.
    case cohortUntil
  }

  var column: String
  /// A count, or millionths.
  var value: Int64
  var isUnknown = false
  var span = Span.during
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
        counts([("eligible", sums.joined)], .cohort)
      } else if sums.activeChange != 0 {
        counts([("retained", sums.activeChange)], .cohortUntil)
      } else {
        [amount("net_usd", sums.netUSD.sum.micros, isUnknown: sums.netUSD.unknown > 0)]
      }
    case (.excludedMonthly, .excluded(_, let sums)):
      counts([("events", sums.events), ("charges", sums.charges)])
    case (.deliveriesDaily, .arrival(_, let sums)):
      counts([("out_of_order", sums.outOfOrder), ("late", sums.late)])
    default: []
    }
  }
}

private func counts(
  _ counts: [(String, Int64)], _ span: ColumnContribution.Span = .during
) -> [ColumnContribution] {
  counts.filter { $0.1 != 0 }.map { ColumnContribution(column: $0.0, value: $0.1, span: span) }
}

private func amount(_ column: String, _ micros: Int64, isUnknown: Bool) -> ColumnContribution {
  ColumnContribution(column: column, value: micros, isUnknown: isUnknown)
}

extension RevenueSums {
  var columns: [ColumnContribution] {
    let isRefund = refunds > 0
    let (usd, local) = isRefund ? (refundsUSD, refundsLocal) : (grossUSD, grossLocal)
    let (gross, sign): (String, Int64) = isRefund ? ("refunds", -1) : ("gross", 1)
    let (hasUSD, hasLocal) = (usd.unknown == 0, local.unknown == 0)
    let hasProceeds = proceedsUSD.unknown == 0
    let isKnown = hasUSD && hasProceeds
    let commission = isKnown ? sign * usd.sum.micros - proceedsUSD.sum.micros : 0
    return [
      ColumnContribution(column: isRefund ? "refunds" : "charges", value: 1),
      amount("\(gross)_usd", usd.sum.micros, isUnknown: !hasUSD),
      amount("net_usd", sign * usd.sum.micros, isUnknown: !hasUSD),
      amount("commission_usd", commission, isUnknown: !isKnown),
      amount("proceeds_usd", proceedsUSD.sum.micros, isUnknown: !hasProceeds),
      amount("\(gross)_local", local.sum.micros, isUnknown: !hasLocal),
      amount("net_local", sign * local.sum.micros, isUnknown: !hasLocal),
      amount("proceeds_local", proceedsLocal.sum.micros, isUnknown: proceedsLocal.unknown > 0),
    ]
  }
}

extension Movement {
  func columns(_ subscriptions: Int64) -> [ColumnContribution] {
    if self == .autoRenewOff { return counts([(name, subscriptions)], .until) }
    return counts([(name, subscriptions)]) + balances("active", activeSign * subscriptions)
  }

  func columns(_ mrr: Amount) -> [ColumnContribution] {
    guard revenueSign != 0 else { return [] }
    let change = revenueSign * mrr.micros
    return counts([(name, mrr.micros)]) + balances("mrr", change)
      + counts([("arr_close", 12 * change)], .until)
  }

  private func balances(_ name: String, _ value: Int64) -> [ColumnContribution] {
    counts([("\(name)_open", value)], .before) + counts([("\(name)_close", value)], .until)
  }
}

/// Decides whether a contribution counts in the requested rows; without a requested time, balances
/// are those of the first or last month.
struct RowSpan {
  /// The requested month, day or index; nil for rows of all times.
  private let number: Int32?
  private let report: NumberReport
  private let asOfMonth: Month
  /// The month of the last instant that the reports cover.
  private let lastMonth: Month

  init(_ question: NumberQuestion, _ rules: FoldSettings) {
    number = question.time?.number
    report = question.report
    asOfMonth = rules.calendar.month(of: rules.asOf)
    lastMonth = rules.calendar.month(of: rules.asOf - Interval(milliseconds: 1))
  }

  func counts(_ span: ColumnContribution.Span, _ keys: ContributionKeys) -> Bool {
    let own: Int32
    var last = lastMonth.number
    if let key = keys.retention {
      own = key.index
      last = asOfMonth.number - 1 - key.cohort.number
    } else if let day = keys.day {
      own = report.isDaily ? day.number : day.month.number
    } else {
      return true
    }
    switch span {
    case .during: return number.map { $0 == own } ?? true
    case .before: return number.map { own < $0 && $0 <= last } ?? false
    case .until, .cohortUntil: return own <= (number ?? last) && (number ?? last) <= last
    case .cohort: return 0 <= (number ?? last) && (number ?? last) <= last
    }
  }
}
