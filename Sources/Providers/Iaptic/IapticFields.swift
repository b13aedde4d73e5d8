/// The members of an iaptic webhook body that mean something here.
///
/// Source: iaptic.com and billing.fovea.cc, Webhook. `password`, the account's secret, is left out
/// on purpose: what is not looked up cannot leak.
enum IapticField: Int, MemberField {
  case type, username, purchases, notification
  case received

  var names: [String] {
    switch self {
    case .type: ["type"]
    case .username: ["applicationUsername"]
    case .purchases: ["purchases"]
    case .notification: ["notification"]
    case .received: receivedNames
    }
  }
}

/// The members of a body's `notification`, which bodies of the first years lack.
enum IapticNotificationField: Int, MemberField {
  case reason, id, date, productID, purchaseID, transactionID

  var names: [String] {
    switch self {
    case .reason: ["reason"]
    case .id: ["id"]
    case .date: ["date"]
    case .productID: ["productId"]
    case .purchaseID: ["purchaseId"]
    case .transactionID: ["transactionId"]
    }
  }
}

/// The members of one purchase, in webhooks and in answers of the interface.
///
/// Sources: the pages above; iaptic-client for `amountMicros`, `amountUSD` and `currency`; the
/// oldest interface for times that end in `At`.
enum IapticPurchaseField: Int, MemberField {
  case productID, purchaseID, transactionID, platform, sandbox
  case purchaseDate, lastRenewalDate, expirationDate, isExpired
  case renewalIntent, renewalIntentChangeDate, cancelationReason
  case isBillingRetryPeriod, isTrialPeriod, isPending, isSharedPurchase
  case isIntroPeriod, discountID
  case currency, amountMicros, amountUSD

  var names: [String] {
    switch self {
    case .productID: ["productId"]
    case .purchaseID: ["purchaseId"]
    case .transactionID: ["transactionId"]
    case .platform: ["platform"]
    case .sandbox: ["sandbox"]
    case .purchaseDate: ["purchaseDate", "subscribedAt"]
    case .lastRenewalDate: ["lastRenewalDate", "renewedAt"]
    case .expirationDate: ["expirationDate", "expiresAt"]
    case .isExpired: ["isExpired"]
    case .renewalIntent: ["renewalIntent"]
    case .renewalIntentChangeDate: ["renewalIntentChangeDate"]
    case .cancelationReason: ["cancelationReason", "cancellationReason"]
    case .isBillingRetryPeriod: ["isBillingRetryPeriod"]
    case .isTrialPeriod: ["isTrialPeriod"]
    case .isIntroPeriod: ["isIntroPeriod"]
    case .discountID: ["discountId"]
    case .isPending: ["isPending"]
    case .isSharedPurchase: ["isSharedPurchase"]
    case .currency: ["currency"]
    case .amountMicros: ["amountMicros"]
    case .amountUSD: ["amountUSD"]
    }
  }
}
