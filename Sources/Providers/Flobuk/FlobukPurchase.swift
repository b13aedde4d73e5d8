import Formats
import Domain

/// What FLOBUK says of one purchase, checked, before anything of it is kept.
///
/// Bytes point into the line.
struct FlobukPurchase {
  var product = UnsafeRawBufferPointer.none
  var group = UnsafeRawBufferPointer.none
  var environment = Environment.production
  /// Nil when the body does not tell.
  var productType: ProductType?
  /// The code of the subscription's state; nil for what is no subscription.
  var status: Int64?
  var expiresAt: Instant?
  var renews: Bool?
  var isInBillingRetry: Bool?

  /// Whether the user has access.
  ///
  /// Source: the Unity and Godot SDKs take 0, 1 and 4, and a missing code, for owned.
  var isOwned: Bool {
    switch status {
    case nil, 0, 1, 4: true
    default: false
    }
  }

  /// The state as the fold compares it.
  var observation: Observation {
    var state = Observation()
    state.productType = productType
    state.isOwned = isOwned
    state.isAutoRenewing = renews
    state.isInBillingRetry = isInBillingRetry
    return state
  }
}

/// Reads `data` objects, in webhooks and in answers of the interface.
struct FlobukPurchaseReader {
  private var members = Members<FlobukDataField>()
  private let wordBytesMax: Int

  init(wordBytesMax: Int) { self.wordBytesMax = wordBytesMax }

  mutating func purchase(
    _ data: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> FlobukPurchase {
    members.read(data, of: tape)
    var purchase = FlobukPurchase()
    purchase.product = try tape.identifier(
      members.value(.productID), "data.productId", max: wordBytesMax)
    guard !purchase.product.isEmpty else { throw .missing("data.productId") }
    purchase.group = try tape.identifier(
      members.value(.groupID), "data.groupId", max: wordBytesMax)
    if try tape.truth(members.value(.sandbox), "data.sandbox") == true {
      purchase.environment = .sandbox
    }
    purchase.status = try tape.integer(members.value(.status), "data.status")
    purchase.expiresAt = try tape.instant(members.value(.expiresDate), "data.expiresDate")
    purchase.renews = try tape.truth(members.value(.autoRenew), "data.autoRenew")
    purchase.isInBillingRetry = try tape.truth(
      members.value(.billingRetry), "data.billingRetry")
    let type = try tape.word(members.value(.type), "data.type", max: wordBytesMax)
    purchase.productType = Self.productType(type, hasEnd: purchase.expiresAt != nil)
    return purchase
  }

  /// Apple's subscriptions that do not renew are sent as `Non-Consumable`.
  private static func productType(
    _ type: UnsafeRawBufferPointer, hasEnd: Bool
  ) -> ProductType? {
    if type.isWord("subscription") { return .subscription }
    if type.isWord("consumable") || type.isWord("non-consumable") { return .oneTime }
    return hasEnd ? .subscription : nil
  }
}

extension Store {
  /// The shop that FLOBUK's `store` names.
  init(flobukStore word: UnsafeRawBufferPointer) {
    if word.isWord("googleplay") {
      self = .playStore
    } else if word.isWord("appleappstore") {
      self = .appStore
    } else if word.isWord("macappstore") {
      self = .macAppStore
    } else if word.isWord("paypal") {
      self = .paypal
    } else {
      self = .unknown
    }
  }
}
