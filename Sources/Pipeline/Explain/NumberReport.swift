import Domain

enum NumberReport: String, CaseIterable {
  case revenueDaily = "revenue_daily"
  case revenueMonthly = "revenue_monthly"
  case churnMonthly = "churn_monthly"
  case renewalsMonthly = "renewals_monthly"
  case mrrMonthly = "mrr_monthly"
  case trialsMonthly = "trials_monthly"
  case retentionMonthly = "retention_monthly"
  case qualityMonthly = "quality_monthly"
  case excludedMonthly = "excluded_monthly"
  case deliveriesDaily = "deliveries_daily"

  /// The key column with the time of a row.
  var timeColumn: String {
    switch self {
    case .retentionMonthly: "period_index"
    case .deliveriesDaily: "day"
    default: "period"
    }
  }

  var isDaily: Bool { self == .revenueDaily || self == .deliveriesDaily }

  /// Returns how a column follows from others of its row.
  func formula(of column: String) -> Formula? { Self.formulas[self]?[column] }

  private static let formulas: [NumberReport: [String: Formula]] = [
    .revenueDaily: revenue, .revenueMonthly: revenue,
    .churnMonthly: [
      "active_close": .sum([(1, "active_open")] + flows(\.activeSign)),
      "churn_rate": .ratio([(1, "lost")], of: ["active_open"]),
      "churn_rate_revenuecat": .ratio(
        [(1, "churned"), (-1, "reactivated"), (-1, "recovered")], of: ["active_open"]),
    ],
    .mrrMonthly: [
      "mrr_close": .sum([(1, "mrr_open")] + flows(\.revenueSign)),
      "arr_close": .sum([(12, "mrr_close")]),
    ],
    .trialsMonthly: [
      "conversion_rate": .ratio([(1, "converted")], of: ["converted", "expired"])
    ],
  ]

  private static let revenue: [String: Formula] = [
    "net_usd": .sum([(1, "gross_usd"), (-1, "refunds_usd")]),
    "commission_usd": .sum([(1, "net_usd"), (-1, "proceeds_usd")]),
    "net_local": .sum([(1, "gross_local"), (-1, "refunds_local")]),
  ]

  /// Returns the movements with the factors of `sign`: gained, unchanged or changed in price, lost.
  private static func flows(_ sign: (Movement) -> Int64) -> [(Int64, String)] {
    let order: [(active: Int64, sign: Int64)] = [(1, 1), (0, 1), (0, -1), (-1, -1)]
    return order.flatMap { place in
      Movement.allCases.filter { $0.activeSign == place.active && sign($0) == place.sign }
        .map { (place.sign, $0.name) }
    }
  }
}

/// How a number follows from other columns of its row.
enum Formula: Sendable {
  case sum([(factor: Int64, column: String)])
  case ratio([(factor: Int64, column: String)], of: [String])
}
