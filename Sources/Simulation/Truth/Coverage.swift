import Domain

/// How far a report must agree with the truth, given the data that a provider sends.
enum Coverage: String {
  /// Every row, to the last digit.
  case exact
  /// Similar numbers, not always in the same row.
  case near
  /// The data does not contain it.
  case none
}

extension Scenario {
  /// `coverage.csv`: how far each report must agree; an empty product means all products.
  var coverage: String {
    let reports = [
      "churn_monthly", "mrr_monthly", "renewals_monthly", "revenue_monthly", "trials_monthly",
    ]
    let moved = "users move to another provider: only sums over providers are close to the truth"
    var rows: [[String]] = []
    for shop in Shop.all where senders.contains(shop.provider) && shop.sender.isReported(shop) {
      // If no app is named, only products distinguish the integrations.
      let isUnnamed = shop.appID.isEmpty && !shop.isBare
      for product in isUnnamed ? Product.allCases.map(shop.app.storeID) : [""] {
        for report in reports {
          let moves = migration?.moves(shop) == true
          let (grade, reason) = moves ? (.near, moved) : shop.sender.coverage(report, shop)
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
