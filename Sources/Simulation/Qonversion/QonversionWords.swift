import Domain

extension RenewState {
  /// The word of REST v3 and v4.
  var wireName: String {
    switch self {
    case .nonRenewable: "non_renewable"
    case .unknown: "unknown"
    case .willRenew: "will_renew"
    case .canceled: "canceled"
    case .billingIssue: "billing_issue"
    }
  }
}

extension Person {
  /// Qonversion's word for the shop.
  var platform: String {
    switch shop.store {
    case .appStore: "iOS"
    case .playStore: "Android"
    default: "Stripe"
    }
  }

  /// Whether the storefront is sent, which takes an App Store certificate.
  var hasStorefront: Bool {
    shop.provider == .qonversion && shop.store == .appStore && shop.app == 0
  }

  /// The storefront as reports show it.
  var storefront: String { hasStorefront ? market.storefront : "" }
}

extension Life {
  /// 0, or 1 once the account has moved to another user.
  func account(at index: Int) -> UInt64 {
    guard let from = transferredFrom else { return 0 }
    return index >= from ? 1 : 0
  }

  /// The account that holds everything at the end.
  var lastAccount: UInt64 { transferredFrom == nil ? 0 : 1 }
}
