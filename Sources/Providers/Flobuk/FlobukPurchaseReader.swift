import Formats
import Domain

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

  /// The product, environment, end and `state` of a purchase; it has no time yet.
  mutating func purchase(
    _ data: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> (draft: EventDraft, state: Observation) {
    members.read(data, of: tape)
    let event = Event(provider: .flobuk, kind: .observed, time: Instant(milliseconds: 0))
    var (draft, state) = (EventDraft(event: event), Observation())
    draft.product = try tape.identifier(members[.productID])
    guard !draft.product.isEmpty else { throw .missing("data.productId") }
    draft.group = try tape.identifier(members[.groupID])
    if try tape.truth(members[.sandbox]) == true { draft.event.environment = .sandbox }
    // Source: the Unity and Godot SDKs treat 0, 1, 4 and a missing code as owned.
    state.isOwned = [nil, 0, 1, 4].contains(try tape.integer(members[.status]))
    draft.event.periodEnd = try tape.eventTime(members[.expiresDate])
    state.isAutoRenewing = try tape.truth(members[.autoRenew])
    state.isInBillingRetry = try tape.truth(members[.billingRetry])
    let type = try tape.word(members[.type])
    state.productType = Self.productType(type, hasEnd: draft.event.periodEnd != nil)
    return (draft, state)
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
