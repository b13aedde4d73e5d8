/// The members of a Qonversion webhook body that mean something here, and the members that archive
/// writers add at top level.
///
/// Source: documentation.qonversion.io, Webhooks. Personal data (`properties`, `ip`, device and
/// advertising ids) is left out on purpose: what is not looked up cannot leak.
enum QonversionField: Int, MemberField {
  case eventName, userID, time, createdAt
  case productID, oldProductID, newProductID, group
  case revenue, price, quantity, transaction, renewCount, entitlements
  case environment, platform, country, storefront, appID, project
  /// Receive time: Vector adds `timestamp`, Fluent Bit `date`, table exports the others. No
  /// generation of the body has members of these names.
  case received

  var names: [String] {
    switch self {
    case .eventName: ["event_name"]
    case .userID: ["user_id"]
    case .time: ["time"]
    case .createdAt: ["created_at"]
    case .productID: ["product_id"]
    case .oldProductID: ["old_product_id"]
    case .newProductID: ["new_product_id"]
    case .group: ["subscription_group"]
    case .revenue: ["revenue"]
    case .price: ["price"]
    case .quantity: ["quantity"]
    case .transaction: ["transaction"]
    case .renewCount: ["subscription_renew_count"]
    case .entitlements: ["entitlements"]
    case .environment: ["environment"]
    case .platform: ["platform"]
    case .country: ["country"]
    case .storefront: ["storefront"]
    case .appID: ["app_id"]
    case .project: ["project_name"]
    case .received: receivedNames
    }
  }

  static let unread =
    [
      "custom_user_id", "identity_id", "advertiser_id", "properties", "device_id", "app_version",
      "sdk_version", "ip", "locale", "user_install_date", "asa_attribution",
    ] + addedNames
}

/// A member of a Qonversion body with the app's own id of the user, which is read only if
/// configured.
public enum CustomerIDMember: String, CaseIterable, Sendable {
  /// Passed to the SDK's `identify`.
  case identityID = "identity_id"
  /// Set as a property of the user.
  case customUserID = "custom_user_id"

  var name: StaticString { self == .identityID ? "identity_id" : "custom_user_id" }
}

enum QonversionTransactionField: Int, MemberField {
  case id, originalID, date, expires, graceExpires

  var names: [String] {
    switch self {
    case .id: ["transaction_id"]
    case .originalID: ["original_transaction_id"]
    case .date: ["transaction_date"]
    case .expires: ["expires"]
    case .graceExpires: ["grace_period_expires"]
    }
  }
}

enum QonversionMoneyField: Int, MemberField {
  case value, valueUSD, currency, isProceed, proceedsRate

  var names: [String] {
    switch self {
    case .value: ["value"]
    case .valueUSD: ["value_usd"]
    case .currency: ["currency"]
    case .isProceed: ["is_proceed"]
    case .proceedsRate: ["proceeds_rate"]
    }
  }
}

/// The members of one of a body's `entitlements`, as REST v3 or v4 names them.
enum QonversionGrantField: Int, MemberField {
  case isActive, started, expires, source, product

  var names: [String] {
    switch self {
    case .isActive: ["active", "is_active"]
    case .started: ["started", "started_at"]
    case .expires: ["expires", "expires_at"]
    case .source: ["source"]
    case .product: ["product"]
    }
  }
}
