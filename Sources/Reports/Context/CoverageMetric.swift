internal import Domain

/// A group of report columns whose reliability readers must know.
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

/// How far readers can rely on the numbers of a metric.
enum Coverage: String {
  /// Follows from what the provider reports.
  case measured
  /// Depends in part on the price book, on a length, or on a comparison of states.
  case estimated
  /// The provider does not report it; a zero or an empty cell means nothing.
  case notAvailable = "not_available"
}

struct CoverageStatement: Equatable {
  var coverage: Coverage
  /// Events whose metric is estimated or missing; nil if their number is unknown.
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

  static func sent(_ isSent: Bool, _ how: String, else why: String) -> CoverageStatement {
    isSent ? measured(how) : notAvailable(nil, why)
  }
}

extension Provider {
  /// How far the provider's deliveries cover a metric, independent of the data.
  ///
  /// Sources: the field lists of the four vendors' webhook pages.
  func declaredCoverage(_ metric: CoverageMetric) -> CoverageStatement {
    let sends = capabilities
    return switch metric {
    case .refunds: refunds(of: .subscription)
    case .refundsOneTime: refunds(of: .oneTime)
    case .churnReason where sends.sendsExpirations:
      .measured("cancels, failed payments and refunds are sent")
    case .churnReason where sends.sendsEndReasons: .measured("each end has its reason")
    case .churnReason:
      .estimated(
        nil, "cancels and failed payments are sent; refunds, withdrawals and price rises are not")
    case .autoRenewOff:
      sends.sendsAutoRenewOn
        ? .measured("switching off and on again is sent")
        : .estimated(nil, "switching off is sent; switching on again shows at the next renewal")
    case .pauses: .sent(sends.sendsPauses, "pauses are sent", else: "pauses are not sent")
    case .productChange where sends.body == .event && !sends.sendsMoney:
      .estimated(
        nil,
        "an upgrade is booked at the listed price; the credit for the old period is unknown")
    case .productChange:
      sends.body == .purchase
        ? .estimated(nil, "a change is another product of the user's group")
        : .measured("changes are sent")
    case .trials: .sent(sends.marksTrials, "trials are sent", else: "trials look like paid periods")
    case .sandbox:
      .sent(
        sends.marksSandbox, "each purchase is marked as test or real",
        else: "test purchases look like real ones; they are booked")
    case .renewals:
      .measured(
        sends.body == .purchase ? "each renewal is another transaction" : "renewals are sent")
    case .revenueUSD, .proceeds, .churn, .renewalOrdinal, .mrr, .retention, .country,
      .storefront, .missingEvents:
      .measured("from the data")
    }
  }

  /// How far collections of purchases cover a metric when deliveries give no reason.
  func collectionCoverage(_ metric: CoverageMetric) -> CoverageStatement {
    switch metric {
    case .refunds, .refundsOneTime:
      .notAvailable(nil, "deliveries have no reason; a refund shows as a lost purchase at most")
    case .pauses: .notAvailable(nil, "deliveries have no reason")
    case .renewals, .productChange:
      .estimated(nil, "what happened between two deliveries is seen by its last result only")
    default: declaredCoverage(metric)
    }
  }

  private func refunds(of type: ProductType) -> CoverageStatement {
    let how = capabilities.sendsMoney ? "" : "; each refunds its whole charge"
    return .sent(
      capabilities.sendsRefunds(of: type), "refunds are sent" + how, else: "refunds are not sent")
  }
}
