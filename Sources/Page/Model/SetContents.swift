internal import Domain
internal import Reports

/// The page's input from a set: its sums, and the few rows that it lists.
struct SetContents {
  let set: ReportSet
  /// The number format of the page.
  let numbers: Numbers
  private let sums: SetSums
  let churn: Cube
  let mrr: Cube
  /// Sums by renewal_ordinal.
  let renewals: Cube
  let trials: Cube
  let quality: Cube

  init(of set: ReportSet, _ sums: SetSums, _ numbers: Numbers) {
    (self.set, self.sums, self.numbers) = (set, sums, numbers)
    churn = sums["churn_monthly"].by("period")
    mrr = sums["mrr_monthly"].by("period")
    renewals = sums["renewals_monthly"].by("renewal_ordinal")
    trials = sums["trials_monthly"].by("period")
    quality = sums["quality_monthly"].by("period")
  }

  /// Sums by period, provider, app_id, store and amount_basis.
  var revenue: Cube { sums["revenue_monthly"] }
  /// Sums by day, provider, app_id and store, of the last three months.
  var revenueDays: Cube { sums["revenue_daily"] }
  /// Sums by cohort and period_index.
  var retention: Cube { sums["retention_monthly"] }
  /// Sums by day, of the last three months.
  var deliveries: Cube { sums["deliveries_daily"] }
  /// Sums by status.
  var inputs: Cube { sums["inputs"] }
  /// Sums by code.
  var drill: Cube { sums["drill"] }

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
