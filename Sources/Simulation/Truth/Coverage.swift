import Domain

/// Which reports must equal the truth row by row, by what the data of each provider carries.
struct Coverage {
  private let plan: WorldPlan

  init(_ plan: WorldPlan) { self.plan = plan }

  /// How far a report must agree.
  private enum Grade: String {
    /// Row by row, to the last digit.
    case exact
    /// About as many, not always in the same row.
    case near
    /// The data cannot carry it.
    case none
  }

  private static let reports = [
    "churn_monthly", "mrr_monthly", "renewals_monthly", "revenue_monthly", "trials_monthly",
  ]

  /// `coverage.csv`; an empty product stands for all of them.
  var table: TruthTable {
    var table = TruthTable(
      name: "coverage.csv", key: ["provider", "app_id", "store", "product_id", "report"],
      measures: ["coverage", "why"])
    for shop in Shop.all where plan.tellers.contains(shop.provider) && shop.isTold {
      for product in shop.coverageProducts {
        for report in Self.reports {
          let (grade, why) = coverage(of: report, in: shop)
          table.add(
            key: [
              shop.provider.name, shop.appID, shop.reportedStore.name, product, report,
            ],
            measures: [grade.rawValue, why])
        }
      }
    }
    return table
  }

  private func coverage(of report: String, in shop: Shop) -> (Grade, String) {
    switch shop.provider {
    case .qonversion: (.exact, "kinds and periods and money are told")
    case .purple:
      (.exact, "kinds are told; ends and amounts are the list's; refunds are told of one-time ones")
    case .iaptic where shop.isOriginalIaptic:
      (.near, "no date of a renewal is told: late and recovered ones cannot be dated")
    case .iaptic: (.exact, "kinds and periods are told; amounts are sent or the list's")
    case .flobuk: flobukCoverage(of: report, in: shop)
    }
  }

  private func flobukCoverage(of report: String, in shop: Shop) -> (Grade, String) {
    guard report != "trials_monthly" else { return (.none, "a free start looks like a paid one") }
    guard shop.app == 0 else { return (.near, "older bodies tell no time of their own") }
    return shop.store == .playStore
      ? (.exact, "orders chain renewals; ends are told; amounts are the list's")
      : (.exact, "renewals without user are booked and in no count of subscriptions")
  }
}

extension Shop {
  /// Whether the shop's provider tells of it at all.
  var isTold: Bool {
    switch provider {
    case .purple: store != .stripe
    case .flobuk: !isBare || app == 0
    case .qonversion, .iaptic: true
    }
  }

  /// iaptic names no app, so that only products tell the two integrations apart.
  var coverageProducts: [String] {
    provider == .iaptic ? App.all[app].storeProducts : [""]
  }
}
