import Formats
import Domain

/// The members of a REST v4 purchase.
private enum QonversionPurchaseField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case platform, productID, purchasedAt, expiresAt, isAutoRenewing, price, currency, storeData

  var names: [String] { [snakeCase] }
}

/// Reads a user's purchases in Qonversion's REST v4, as one entitlement per subscription.
///
/// Source: documentation.qonversion.io, API reference, List purchases for a user.
struct QonversionPurchaseReader {
  private var members = Members<QonversionPurchaseField>()
  private var storeData = Members<SnapshotTransactionField>("store_data.")

  /// Whether `list` contains purchases and not entitlements.
  func isPurchaseList(_ list: JSONNode, of tape: JSONTape) -> Bool {
    guard tape.kind(list) == .array, let first = tape.firstChild(list) else { return false }
    return tape.member(first, "store_data") != nil || tape.member(first, "purchased_at") != nil
  }

  /// One entitlement for each original transaction, in the order in which they first occur.
  mutating func entitlements(
    _ list: JSONNode, of tape: JSONTape
  ) throws(BodyProblem) -> [Entitlement] {
    var all: [Entitlement] = []
    for node in tape.children(of: list) { all.append(try purchase(node, tape)) }
    let purchases = Dictionary(grouping: all) { ExactText($0.id) }
    var seen: Set<ExactText> = []
    return all.filter { seen.insert(ExactText($0.id)).inserted }
      .map { merged(purchases[ExactText($0.id)] ?? [$0]) }
  }

  /// One purchase as the entitlement that it alone would give.
  private mutating func purchase(
    _ node: JSONNode, _ tape: JSONTape
  ) throws(BodyProblem) -> Entitlement {
    guard tape.kind(node) == .object else { throw .bad("data", expected: "a list of objects") }
    members.read(node, of: tape)
    guard let sent = members.value(.storeData) else { throw .missing("store_data") }
    guard tape.kind(sent) == .object else { throw .bad("store_data", expected: "an object") }
    storeData.read(sent, of: tape)
    let id = try tape.transactionID(storeData[.id])
    let original = try tape.transactionID(storeData[.originalID])
    let root = original.isEmpty ? id : original
    let store = Store(try tape.term(members[.platform])) ?? .unknown
    let product = try product(store, tape)
    guard !root.isEmpty || !product.isEmpty else { throw .missing("store_data.transaction_id") }
    var state = Observation()
    state.firstPurchasedAt = try tape.instant(members[.purchasedAt])
    state.lastChargedAt = state.firstPurchasedAt
    let end = try tape.instant(members[.expiresAt])
    state.isAutoRenewing = try tape.truth(members[.isAutoRenewing])
    let isOneTime = end == nil && state.isAutoRenewing != true
    state.productType = isOneTime ? .oneTime : .subscription
    // The content of `store_data` depends on the store: some stores send no transaction id.
    let price = price(tape)
    var entitlement = Entitlement(
      id: root.isEmpty ? product : root, of: product, transaction: id, original: root, state,
      until: end, in: store, .production, price: price,
      currency: try tape.identifier(members[.currency]))
    if !id.isEmpty {
      entitlement.transactions[0].kind = end == nil ? .oneTime : price == .zero ? .free : .unknown
    }
    return entitlement
  }

  /// The store's product id, on Play `product:plan`; the outer one can also be the dashboard's.
  private func product(
    _ store: Store, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    let own = try tape.identifier(storeData[.productID])
    let outer = try tape.identifier(members[.productID])
    let namesPlan = store == .playStore && outer.starts(with: own + [UInt8(ascii: ":")])
    return own.isEmpty || namesPlan ? outer : own
  }

  /// What was paid; nil when not sent or unreadable.
  private func price(_ tape: JSONTape) -> Amount? {
    guard let sent = members.value(.price),
      case .amount(let price, _) = DecimalText.amount(tape.bytes(sent))
    else { return nil }
    return price
  }

  /// The purchases of one subscription as one entitlement; the newest shows its current state.
  ///
  /// A replaced purchase keeps its own end in the list, which may be later.
  private func merged(_ purchases: [Entitlement]) -> Entitlement {
    var entitlement = purchases.max { order($0) < order($1) } ?? purchases[0]
    entitlement.startedAt = purchases.compactMap(\.startedAt).min()
    entitlement.transactions = purchases.flatMap(\.transactions)
    return entitlement
  }

  /// Orders by purchase date; if dates are equal or missing, by the end.
  private func order(_ purchase: Entitlement) -> (Int64, Int64, ExactText) {
    (
      purchase.startedAt?.milliseconds ?? .min, purchase.expiresAt?.milliseconds ?? .min,
      ExactText(purchase.transactions.first?.id ?? "")
    )
  }
}
