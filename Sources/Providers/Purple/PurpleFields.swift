/// The members of a Purple event, and beside them those that archive writers add at top level.
///
/// Source: docs.purplepublish.com, Receipt Events.
enum PurpleField: Int, MemberField {
  case version, type, eventTime, properties
  case received

  var names: [String] {
    switch self {
    case .version: ["version"]
    case .type: ["type"]
    case .eventTime: ["eventTimeMillis"]
    case .properties: ["properties"]
    case .received: receivedNames
    }
  }
}

/// The members of an event's `properties`, whose values the schema declares to be strings.
enum PurplePropertyField: Int, MemberField {
  case packageName, productID, previousProductID, nextProductID
  case transactionID, originalTransactionID, accountID, deviceID, trialPeriod
  case introOfferPeriod

  var names: [String] {
    switch self {
    case .packageName: ["packageName"]
    case .productID: ["productId"]
    case .previousProductID: ["previousProductId"]
    case .nextProductID: ["nextProductId"]
    case .transactionID: ["transactionId"]
    case .originalTransactionID: ["originalTransactionId"]
    case .accountID: ["accountId"]
    case .deviceID: ["deviceId"]
    case .trialPeriod: ["trialPeriod"]
    case .introOfferPeriod: ["introOfferPeriod"]
    }
  }
}
