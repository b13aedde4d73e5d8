import Domain

/// Which reports must equal the truth row by row, given the data that each provider sends.
struct Coverage {
  let scenario: Scenario

  /// How far a report must agree.
  enum Grade: String {
    /// Every row, to the last digit.
    case exact
    /// Similar numbers, not always in the same row.
    case near
    /// The data does not contain it.
    case none
  }

  private static let reports = [
    "churn_monthly", "mrr_monthly", "renewals_monthly", "revenue_monthly", "trials_monthly",
  ]

  private static let moved = (
    Grade.near,
    "users move to another provider: only sums over providers are close to the truth"
  )

  /// `coverage.csv`; an empty product means all products.
  var text: String {
    var rows: [[String]] = []
    for shop in Shop.all
    where scenario.senders.contains(shop.provider) && shop.sender.isReported(shop) {
      // If no app is named, only products distinguish the integrations.
      let products = shop.appID.isEmpty && !shop.isBare ? App.all[shop.app].storeProducts : [""]
      for product in products {
        for report in Self.reports {
          let moves = scenario.migration?.moves(shop) == true
          let (grade, reason) = moves ? Self.moved : shop.sender.coverage(report, shop)
          rows.append([
            shop.provider.name, shop.appID, shop.reportedStore.name, product, report,
            grade.rawValue, reason,
          ])
        }
      }
    }
    return csv(
      ["provider", "app_id", "store", "product_id", "report", "coverage", "reason"], rows)
  }
}
