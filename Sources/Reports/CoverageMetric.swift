internal import Domain

/// A group of report columns that a reader would miss.
enum CoverageMetric: String, CaseIterable {
  case revenueUSD = "revenue_usd"
  case proceeds
  case refunds
  case refundsOneTime = "refunds_one_time"
  case churn
  case churnReason = "churn_reason"
  case autoRenewOff = "auto_renew_off"
  case pauses
  case renewals
  case renewalOrdinal = "renewal_ordinal"
  case productChange = "product_change"
  case mrr
  case trials
  case retention
  case country
  case storefront
  case sandbox
  case missingEvents = "missing_events"
}

/// How far the numbers of a metric can be relied on.
enum Coverage: String {
  /// They follow from what the provider tells.
  case measured
  /// Some of them rest on the price book, on a length, or on a comparison of states.
  case estimated
  /// The provider does not tell; a zero or an empty cell says nothing.
  case notAvailable = "not_available"
}

/// What is said of one metric of one feed.
struct CoverageStatement: Equatable {
  var coverage: Coverage
  /// Events of which the metric is estimated or missing; nil when nobody can tell how many.
  var events: Int64?
  var why: String

  static func measured(_ why: String) -> CoverageStatement {
    CoverageStatement(coverage: .measured, events: 0, why: why)
  }

  static func estimated(_ events: Int64?, _ why: String) -> CoverageStatement {
    CoverageStatement(coverage: .estimated, events: events, why: why)
  }

  static func notAvailable(_ events: Int64?, _ why: String) -> CoverageStatement {
    CoverageStatement(coverage: .notAvailable, events: events, why: why)
  }
}

extension Provider {
  /// What the provider's deliveries say of a metric, whatever the data.
  ///
  /// Sources: the field lists of the four vendors' webhook pages.
  func telling(_ metric: CoverageMetric) -> CoverageStatement {
    switch metric {
    case .refunds: tellingRefunds(of: .subscription)
    case .refundsOneTime: tellingRefunds(of: .oneTime)
    case .churnReason: tellingReasons
    case .autoRenewOff: tellingAutoRenew
    case .pauses:
      tellsPauses ? .measured("pauses are told") : .notAvailable(nil, "pauses are not told")
    case .productChange:
      body == .purchase
        ? .estimated(nil, "a change is another product of the user's group")
        : .measured("changes are told")
    case .trials:
      tellsTrials
        ? .measured("trials are told")
        : .notAvailable(nil, "a trial cannot be told from a paid period")
    case .sandbox:
      marksTests
        ? .measured("each purchase says whether it is a test")
        : .notAvailable(nil, "test purchases cannot be told from real ones; they are booked")
    case .renewals:
      .measured(body == .purchase ? "each renewal is another transaction" : "renewals are told")
    case .revenueUSD, .proceeds, .churn, .renewalOrdinal, .mrr, .retention, .country,
      .storefront, .missingEvents:
      .measured("the data tells")
    }
  }

  /// What collections of purchases show of a metric when no delivery says why it came.
  func showing(_ metric: CoverageMetric) -> CoverageStatement {
    switch metric {
    case .refunds, .refundsOneTime:
      .notAvailable(nil, "no delivery says why it came; a refund shows as a lost purchase at most")
    case .pauses: .notAvailable(nil, "no delivery says why it came")
    case .renewals, .productChange:
      .estimated(nil, "what happened between two deliveries is seen by its last result only")
    default: telling(metric)
    }
  }

  private func tellingRefunds(of type: ProductType) -> CoverageStatement {
    guard tellsRefunds(of: type) else { return .notAvailable(nil, "refunds are not told") }
    return switch self {
    case .purple: .measured("refunds are told; each gives its charge back whole")
    case .qonversion, .flobuk, .iaptic: .measured("refunds are told")
    }
  }

  private var tellingReasons: CoverageStatement {
    switch self {
    case .qonversion:
      .measured("cancels, failed payments and refunds are told")
    case .iaptic: .measured("each end has its reason")
    case .flobuk, .purple:
      .estimated(
        nil, "cancels and failed payments are told; refunds, withdrawals and price rises are not")
    }
  }

  private var tellingAutoRenew: CoverageStatement {
    switch self {
    case .flobuk, .iaptic: .measured("switching off and on again is told")
    case .qonversion, .purple:
      .estimated(nil, "switching off is told; switching on again shows at the next renewal")
    }
  }
}
