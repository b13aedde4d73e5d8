internal import Domain
internal import Reports

/// The page's input from a set: small sums of the monthly files and of the last three months of the
/// daily ones, and the few rows that it lists.
struct SetContents {
  let set: ReportSet
  /// The number format of the page.
  let numbers: Numbers
  /// Sums by period, provider, app_id, store and amount_basis.
  let revenue: Cube
  /// Sums by day, provider, app_id and store.
  let revenueDays: Cube
  let churn: Cube
  let mrr: Cube
  /// Sums by renewal_ordinal.
  let renewals: Cube
  let trials: Cube
  /// Sums by cohort and period_index.
  let retention: Cube
  let quality: Cube
  /// Sums by day.
  let deliveries: Cube
  /// Sums by status.
  let inputs: Cube
  /// Sums by code.
  let drill: Cube

  init(of set: ReportSet, _ numbers: Numbers) throws {
    (self.set, self.numbers) = (set, numbers)
    let money = ["charges", "refunds", "gross_usd", "refunds_usd", "net_usd", "proceeds_usd"]
    let parts = ["period", "provider", "app_id", "store"]
    revenue = try Cube(set, "revenue_monthly", by: parts + ["amount_basis"], of: money)
    revenueDays = try Cube(
      set, "revenue_daily", by: parts, of: ["gross_usd", "refunds_usd", "net_usd"],
      in: set.tables(of: "revenue_daily").suffix(3))
    churn = try Cube(
      set, "churn_monthly", by: ["period"],
      of: [
        "active_open", "new", "first_seen", "reactivated", "recovered", "resumed", "transfer_in",
        "churned", "paused", "transfer_out", "active_close", "lost", "churned_in_doubt",
      ] + ChurnReason.all.map(\.column))
    mrr = try Cube(
      set, "mrr_monthly", by: ["period"],
      of: ["mrr_open"] + Movement.ofRevenue.map(\.name) + ["mrr_close"])
    renewals = try Cube(
      set, "renewals_monthly", by: ["renewal_ordinal"], of: ["renewals", "renewals_refunded"])
    trials = try Cube(
      set, "trials_monthly", by: ["period"],
      of: ["started", "converted", "canceled", "expired", "pending"])
    retention = try Cube(
      set, "retention_monthly", by: ["cohort", "period_index"], of: ["eligible", "retained"])
    quality = try Cube(
      set, "quality_monthly", by: ["period"],
      of: ["open_breaks", "missing_events", "missing_usd", "churned_in_doubt"])
    deliveries = try Cube(
      set, "deliveries_daily", by: ["day"],
      of: [
        "delivered", "distinct_events", "duplicates_exact", "duplicates_semantic", "conflicts",
        "late", "latency_p50_s", "latency_p95_s",
      ], greatest: ["latency_p50_s", "latency_p95_s"],
      in: set.tables(of: "deliveries_daily").suffix(3))
    inputs = try Cube(
      set, "inputs", by: ["status"],
      of: ["lines", "accepted", "duplicates", "skipped", "rejected"])
    drill = try Cube(
      set, "drill", by: ["code"], of: ["injected", "found", "missed", "unrevealed", "false"])
  }

  var asOf: Instant { self.set.manifest.asOf }

  /// The last months of a monthly report, at most two years.
  func months(of cube: Cube) -> [String] {
    cube.values(of: cube.dimensions.first ?? "").suffix(24)
  }

  /// The last month whose rows are all complete; nil if there is none.
  func lastComplete(_ cube: Cube) -> String? {
    months(of: cube).last { !cube.incomplete.contains($0) }
  }
}

/// A reason of churn, and the style of its part of a column.
struct ChurnReason {
  let column: String
  let title: String
  let style: String

  static let all = [
    ChurnReason(column: "churned_voluntary", title: "Switched off", style: "c1"),
    ChurnReason(column: "churned_involuntary", title: "Payment failed", style: "c2"),
    ChurnReason(column: "churned_refund", title: "Refunded", style: "c3"),
    ChurnReason(column: "churned_price_increase", title: "Price increase", style: "c4"),
    ChurnReason(column: "churned_developer", title: "Withdrawn product", style: "c5"),
    ChurnReason(column: "churned_unknown", title: "Unknown", style: "c0"),
  ]
}

extension Movement {
  /// What changes recurring revenue from the start of a month to its end, in the order of the page.
  static let ofRevenue: [Movement] = [
    .new, .firstSeen, .reactivated, .recovered, .resumed, .expansion, .transferIn, .contraction,
    .churned, .paused, .transferOut, .fx,
  ]

  var title: String {
    self == .fx ? "Exchange rates" : name.replacing("_", with: " ").capitalised
  }
}
