import Domain

/// Which reports must equal the truth row by row, given the data that each provider sends.
struct Coverage {
  let scenario: Scenario

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

  /// `coverage.csv`; an empty product means all of them.
  var text: String {
    var rows: [(key: [String], cells: [String])] = []
    for shop in Shop.all where scenario.senders.contains(shop.provider) && shop.isReported {
      // iaptic names no app, so that only products distinguish the two integrations.
      let products = shop.provider == .iaptic ? App.all[shop.app].storeProducts : [""]
      for product in products {
        for report in Self.reports {
          let (grade, reason) = coverage(of: report, in: shop)
          let key = [shop.provider.name, shop.appID, shop.reportedStore.name, product, report]
          rows.append((key, key + [grade.rawValue, reason]))
        }
      }
    }
    return csv(
      ["provider", "app_id", "store", "product_id", "report", "coverage", "reason"], rows)
  }

  private func coverage(of report: String, in shop: Shop) -> (Grade, String) {
    switch shop.provider {
    case _ where scenario.migration?.moves(shop) == true:
      (.near, "users move to another provider: only sums over providers are those of the truth")
    case .qonversion: (.exact, "kinds and periods and money are sent")
    case .purple:
      (.exact, "kinds are sent; ends and amounts are the list's; refunds are sent of one-time ones")
    case .iaptic where shop.isOriginalIaptic:
      (.near, "no date of a renewal is sent: late and recovered ones cannot be dated")
    case .iaptic: (.exact, "kinds and periods are sent; amounts are sent or the list's")
    case .flobuk: flobukCoverage(of: report, in: shop)
    }
  }

  private func flobukCoverage(of report: String, in shop: Shop) -> (Grade, String) {
    guard report != "trials_monthly" else { return (.none, "a free start looks like a paid one") }
    guard shop.app == 0 else { return (.near, "older bodies send no time of their own") }
    return shop.store == .playStore
      ? (.exact, "orders chain renewals; ends are sent; amounts are the list's")
      : (.exact, "renewals without user are booked and in no count of subscriptions")
  }
}

extension Shop {
  /// Whether the shop's provider sends anything of it.
  var isReported: Bool {
    switch provider {
    case .purple: store != .stripe
    case .flobuk: !isBare || app == 0
    case .qonversion, .iaptic: true
    }
  }
}
