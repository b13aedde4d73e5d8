/// The members around a snapshot's list of entitlements.
enum SnapshotField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case provider, app, user, capturedAt, entitlements, data, hasMore, error
  case purchases, subscription, rows

  var names: [String] {
    switch self {
    case .app: ["app_id", "appId"]
    case .user: ["user_id", "userId", "qonversion_user_id", "user", "applicationUsername"]
    case .capturedAt: ["captured_at", "capturedAt"]
    default: [snakeCase]
    }
  }
}

/// An entitlement's members: REST v3, REST v4, SDK-internal, SDK objects and the canonical shape.
///
/// Sources: documentation.qonversion.io, Entitlements (v3, v4); QNMapper.m and QPermission.kt of
/// the SDKs for the internal names.
enum EntitlementField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case id, isActive, startedAt, trialStartedAt, firstPurchasedAt, lastPurchasedAt, offerCode
  case expiresAt, renewState, renewsCount, autoRenewOffAt
  case source, grantType, periodType, product, productID, transactions

  var names: [String] {
    switch self {
    case .id: ["id", "entitlementID", "entitlementId", "entitlement_id"]
    case .isActive: ["active", "is_active", "isActive"]
    case .startedAt: ["started", "started_at", "started_timestamp", "startedDate", "startedAt"]
    case .trialStartedAt: ["trial_start_timestamp", "trialStartDate"]
    case .firstPurchasedAt: ["first_purchase_timestamp", "firstPurchaseDate"]
    case .lastPurchasedAt: ["last_purchase_timestamp", "lastPurchaseDate"]
    case .offerCode: ["last_activated_offer_code", "lastActivatedOfferCode"]
    case .expiresAt:
      ["expires", "expires_at", "expiration_timestamp", "expirationDate", "expiresAt"]
    case .autoRenewOffAt: ["auto_renew_disable_timestamp", "autoRenewDisableDate"]
    case .periodType: ["current_period_type", "currentPeriodType"]
    case .productID: ["product_id", "productId", "associated_product"]
    case .transactions: ["transactions", "store_transactions", "storeTransactions"]
    case .renewState, .renewsCount, .source, .grantType, .product: [snakeCase, camelCase]
    }
  }
}

/// A store transaction's members, in the SDK's and the canonical names.
enum SnapshotTransactionField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case id, originalID, at, expiresAt, revokedAt, environment, ownership, kind, productID, offer

  var names: [String] {
    switch self {
    case .id: ["transaction_id", "transactionId"]
    case .originalID: ["original_transaction_id", "originalTransactionId"]
    case .at: ["transaction_at", "transaction_timestamp", "transactionDate", "transactionAt"]
    case .expiresAt: ["expires_at", "expiration_timestamp", "expirationDate", "expiresAt"]
    case .revokedAt:
      [
        "revoked_at", "transaction_revoke_timestamp", "transactionRevocationDate", "revokedAt",
        "revocationDate",
      ]
    case .ownership: ["ownership_type", "ownershipType"]
    case .kind: ["type"]
    case .environment, .productID: [snakeCase, camelCase]
    case .offer: ["promo_offer_id", "promoOfferId", "offer_code", "offerCode"]
    }
  }
}
