/// The members of a FLOBUK webhook body.
///
/// Sources: flobuk.gitlab.io/validator and docs.iapguard.com, Webhook.
enum FlobukField: Int, MemberField {
  case transaction, data, store, user, timestamp
  /// Vector's `timestamp` is left out: it has the name of the body's own, and is told by its form.
  case received

  var names: [String] {
    switch self {
    case .transaction: ["transaction"]
    case .data: ["data"]
    case .store: ["store"]
    case .user: ["user"]
    case .timestamp: ["timestamp"]
    case .received: receivedNames.filter { $0 != "timestamp" }
    }
  }
}

/// The members of `data`, in webhooks and in answers of the interface.
///
/// Source: the response types of the Unity SDK 1.2 to 1.4. `cancelReason` is left out: the meaning
/// of its numbers is not published.
enum FlobukDataField: Int, MemberField {
  case productID, type, sandbox, status, expiresDate, autoRenew, billingRetry, groupID

  var names: [String] {
    switch self {
    case .productID: ["productId"]
    case .type: ["type"]
    case .sandbox: ["sandbox"]
    case .status: ["status"]
    case .expiresDate: ["expiresDate"]
    case .autoRenew: ["autoRenew"]
    case .billingRetry: ["billingRetry"]
    case .groupID: ["groupId"]
    }
  }
}
