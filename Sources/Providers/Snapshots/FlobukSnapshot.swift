import Formats
import Domain

/// The members of one purchase of a user, as FLOBUK lists them.
///
/// Source: the Unity SDK reads `data`; whatever else stands beside it is not documented, and
/// webhooks name it so.
enum FlobukSnapshotField: Int, MemberField {
  case data, transaction, store

  var names: [String] {
    switch self {
    case .data: ["data"]
    case .transaction: ["transaction"]
    case .store: ["store"]
    }
  }
}

/// Reads what FLOBUK's Get User answers: one entry for each product, the newest, without
/// consumables.
struct FlobukSnapshotReader {
  private var members = Members<FlobukSnapshotField>()
  private var purchases = FlobukPurchaseReader(wordBytesMax: snapshotWordBytesMax)

  /// Whether `list` holds purchases in this shape.
  func isPurchaseList(_ list: JSONNode, of tape: JSONTape) -> Bool {
    guard tape.kind(list) == .array, let first = tape.firstChild(list) else { return false }
    return tape.member(first, "data") != nil
  }

  /// The entitlements of the purchases in `list`.
  ///
  /// - Parameter capturedAt: tells which have ended; nil when unknown.
  mutating func entitlements(
    _ list: JSONNode, of tape: JSONTape, at capturedAt: Instant?
  ) throws(BodyProblem) -> [Entitlement] {
    guard tape.kind(list) == .array else { throw .bad("purchases", expected: "a list") }
    var found: [Entitlement] = []
    for node in tape.children(of: list) {
      guard tape.kind(node) == .object else {
        throw .bad("purchases", expected: "a list of objects")
      }
      members.read(node, of: tape)
      guard let data = members.value(.data) else { throw .missing("purchases.data") }
      guard tape.kind(data) == .object else { throw .bad("purchases.data", expected: "an object") }
      let purchase = try purchases.purchase(data, of: tape)
      found.append(try entitlement(purchase, at: capturedAt, tape))
    }
    return found
  }

  private func entitlement(
    _ purchase: FlobukPurchase, at capturedAt: Instant?, _ tape: JSONTape
  ) throws(BodyProblem) -> Entitlement {
    let product = text(purchase.product)
    var right = Entitlement(id: product, product: product)
    let isPast = purchase.expiresAt.flatMap { end in capturedAt.map { end <= $0 } } ?? false
    right.isActive = purchase.isOwned && !isPast
    right.expiresAt = purchase.expiresAt
    right.renewState = RenewState(
      productType: purchase.productType, renews: purchase.renews,
      isInBillingRetry: purchase.isInBillingRetry)
    right.store = Store(
      flobukStore: try tape.word(
        members.value(.store), "purchases.store", max: snapshotWordBytesMax))
    let transaction = try tape.transactionID(
      members.value(.transaction), "purchases.transaction", max: snapshotWordBytesMax)
    // An answer without transaction ids says only by one of its own that it is of the sandbox.
    let isTested = purchase.environment == .sandbox
    let id = transaction.isEmpty && isTested ? purchase.product : transaction
    guard !id.isEmpty else { return right }
    var sale = SnapshotTransaction(id: text(id), originalID: text(baseOrder(id)))
    sale.product = product
    sale.kind = purchase.productType == .oneTime ? .oneTime : .unknown
    sale.expiresAt = purchase.expiresAt
    sale.environment = purchase.environment
    right.transactions = [sale]
    return right
  }
}
