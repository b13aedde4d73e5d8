import Decode
import Vocabulary

/// Reads the purchases that Qonversion's REST v4 lists for a user, one entitlement per
/// subscription.
///
/// Source: documentation.qonversion.io, API reference, List purchases for a user.
struct PurchaseReader {
  private var members = Members<PurchaseField>()
  private var storeData = Members<SnapshotTransactionField>()

  /// Whether `list` holds purchases rather than entitlements.
  func isPurchaseList(_ list: JSONNode, of tape: JSONTape) -> Bool {
    guard tape.kind(list) == .array, let first = tape.firstChild(list) else { return false }
    return tape.member(first, "store_data") != nil || tape.member(first, "purchased_at") != nil
  }

  /// One entitlement for each original transaction, in the order of their first mention.
  ///
  /// - Parameter isWhole: whether the response holds all of the user's purchases.
  mutating func entitlements(
    _ list: JSONNode, of tape: JSONTape, isWhole: Bool
  ) throws(BodyProblem) -> [Entitlement] {
    var found: [Entitlement] = []
    var places: [ExactText: Int] = [:]
    var newest: [Instant] = []
    var child = tape.firstChild(list)
    while let node = child {
      let purchase = try purchase(node, tape)
      let at = purchase.startedAt ?? Instant(milliseconds: 0)
      if let place = places[ExactText(purchase.id)] {
        found[place].merge(purchase, isNewer: at > newest[place])
        newest[place] = max(newest[place], at)
      } else {
        places[ExactText(purchase.id)] = found.count
        found.append(purchase)
        newest.append(at)
      }
      child = tape.next(node)
    }
    return found.map { right in
      var right = right
      right.listsTransactions = isWhole && !right.transactions.isEmpty
      return right
    }
  }

  /// One purchase as the entitlement it would give alone.
  private mutating func purchase(
    _ node: JSONNode, _ tape: JSONTape
  ) throws(BodyProblem) -> Entitlement {
    guard tape.kind(node) == .object else { throw .bad("data", expected: "a list of objects") }
    members.read(node, of: tape)
    guard let sent = members.value(.storeData) else { throw .missing("store_data") }
    guard tape.kind(sent) == .object else { throw .bad("store_data", expected: "an object") }
    storeData.read(sent, of: tape)
    let id = try tape.text(storeData.value(.id), "store_data.transaction_id")
    let original = try tape.text(
      storeData.value(.originalID), "store_data.original_transaction_id")
    let root = original.isEmpty || original == "0" ? id : original
    let platform = try tape.term(members.value(.platform), "platform")
    let store = Store(snapshotSource: platform)
    let product = try product(store, tape)
    guard !root.isEmpty || !product.isEmpty else { throw .missing("store_data.transaction_id") }
    // What a store's data hold depends on the store: some name no transaction.
    var right = Entitlement(id: root.isEmpty ? product : root, store: store)
    right.product = product
    right.startedAt = try tape.instant(members.value(.purchasedAt), "purchased_at")
    right.expiresAt = try tape.instant(members.value(.expiresAt), "expires_at")
    let renews = try tape.truth(members.value(.isAutoRenewing), "is_auto_renewing")
    right.renewState = renewState(renews, hasEnd: right.expiresAt != nil)
    guard !id.isEmpty else { return right }
    right.transactions = [
      SnapshotTransaction(
        id: id, originalID: root, kind: right.expiresAt == nil ? .oneTime : .unknown,
        product: right.product, at: right.startedAt, expiresAt: right.expiresAt)
    ]
    return right
  }

  /// The store's product id; Play's outer one also names the base plan: `product:plan`.
  private func product(_ store: Store, _ tape: JSONTape) throws(BodyProblem) -> String {
    let own = try tape.text(storeData.value(.productID), "store_data.product_id")
    if !own.isEmpty { return own }
    let outer = try tape.text(members.value(.productID), "product_id")
    guard store == .playStore else { return outer }
    return String(decoding: outer.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
  }

  private func renewState(_ renews: Bool?, hasEnd: Bool) -> RenewState? {
    if renews == true { return .willRenew }
    if !hasEnd { return .nonRenewable }
    return renews == nil ? nil : .canceled
  }
}

extension Entitlement {
  /// Adds another purchase of the same subscription; the newest one tells how it goes on.
  mutating func merge(_ other: Entitlement, isNewer: Bool) {
    if isNewer {
      product = other.product
      renewState = other.renewState
      store = other.store
    }
    if let start = other.startedAt { startedAt = min(startedAt ?? start, start) }
    if let end = other.expiresAt { expiresAt = max(expiresAt ?? end, end) }
    transactions += other.transactions
  }
}
