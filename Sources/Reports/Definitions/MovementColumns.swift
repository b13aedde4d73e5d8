public import Domain

extension Movement {
  /// The column of the report in which the movement is counted.
  public var column: String {
    switch self {
    case .new: "new"
    case .firstSeen: "first_seen"
    case .reactivated: "reactivated"
    case .recovered: "recovered"
    case .resumed: "resumed"
    case .transferIn: "transfer_in"
    case .churned: "churned"
    case .paused: "paused"
    case .transferOut: "transfer_out"
    case .churnedVoluntary: "churned_voluntary"
    case .churnedInvoluntary: "churned_involuntary"
    case .churnedRefund: "churned_refund"
    case .churnedPriceIncrease: "churned_price_increase"
    case .churnedDeveloper: "churned_developer"
    case .churnedUnknown: "churned_unknown"
    case .lost: "lost"
    case .autoRenewOff: "auto_renew_off"
    case .expansion: "expansion"
    case .contraction: "contraction"
    case .fx: "fx"
    case .churnedInDoubt: "churned_in_doubt"
    }
  }

  /// Whether it holds the reason of a churn, beside the movement that counts the churn.
  var isReason: Bool {
    switch self {
    case .churnedVoluntary, .churnedInvoluntary, .churnedRefund, .churnedPriceIncrease,
      .churnedDeveloper, .churnedUnknown:
      true
    default: false
    }
  }
}
