import Formats
import Domain

/// One validated purchase in a FLOBUK body, before it is stored.
///
/// Its bytes are in the line.
struct FlobukPurchase {
  var product = UnsafeRawBufferPointer.none
  var group = UnsafeRawBufferPointer.none
  var environment = Environment.production
  var expiresAt: Instant?
  /// The state as the fold compares it.
  var state = Observation()
}

/// The members of `data`, in webhooks and API responses.
///
/// Source: the response types of the Unity SDK 1.2 to 1.4. `cancelReason` is left out because the
/// meaning of its numbers is not published.
enum FlobukDataField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case productID, type, sandbox, status, expiresDate, autoRenew, billingRetry, groupID

  static let unread = ["cancelReason"]
}

/// Reads `data` objects in webhooks and API responses.
struct FlobukPurchaseReader {
  private(set) var members = Members<FlobukDataField>("data.")

  mutating func purchase(
    _ data: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> FlobukPurchase {
    members.read(data, of: tape)
    var purchase = FlobukPurchase()
    purchase.product = try tape.identifier(members[.productID])
    guard !purchase.product.isEmpty else { throw .missing("data.productId") }
    purchase.group = try tape.identifier(members[.groupID])
    if try tape.truth(members[.sandbox]) == true {
      purchase.environment = .sandbox
    }
    // Source: the Unity and Godot SDKs treat 0, 1, 4 and a missing code as owned.
    purchase.state.isOwned = [nil, 0, 1, 4].contains(try tape.integer(members[.status]))
    purchase.expiresAt = try tape.eventTime(members[.expiresDate])
    purchase.state.isAutoRenewing = try tape.truth(members[.autoRenew])
    purchase.state.isInBillingRetry = try tape.truth(members[.billingRetry])
    let type = try tape.word(members[.type])
    purchase.state.productType = Self.productType(type, hasEnd: purchase.expiresAt != nil)
    return purchase
  }

  /// Apple's non-renewing subscriptions are sent as `Non-Consumable`.
  private static func productType(
    _ type: UnsafeRawBufferPointer, hasEnd: Bool
  ) -> ProductType? {
    if type.isWord("subscription") { return .subscription }
    if type.isWord("consumable") || type.isWord("non-consumable") { return .oneTime }
    return hasEnd ? .subscription : nil
  }
}
