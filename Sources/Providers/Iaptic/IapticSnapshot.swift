import Formats
import Domain

/// The members of a customer in iaptic's list of customers, one row per customer.
private enum IapticCustomerField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case applicationUsername, customerInfo, receiptIDs
}

/// The members of a row's `customerInfo`, which summarises the last purchase.
private enum IapticCustomerInfoField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case lastPurchaseID, lastPurchaseDate, expirationDate, activeSubscriber, lapsedSubscriber
  case renewalIntent
}

/// Reads responses of iaptic's API about customers.
///
/// Source: billing.fovea.cc, Customer purchases, Customers and Customer subscription.
struct IapticSnapshotReader: ProviderSnapshotReader {
  private var purchases = IapticPurchaseReader()
  private var customer = Members<IapticCustomerField>("rows.")
  private var info = Members<IapticCustomerInfoField>("customerInfo.")

  func recognises(_ line: Members<SnapshotField>, of tape: JSONTape) -> Bool {
    [.purchases, .subscription, .rows].contains { line.present($0) != nil }
  }

  /// The entitlements of a collection of purchases, keyed by product id or as a list, or the single
  /// one of a `subscription`; none when that is empty.
  mutating func entitlements(
    _ line: Members<SnapshotField>, of tape: JSONTape, at capturedAt: Instant?
  ) throws(BodyProblem) -> [Entitlement]? {
    if let collection = line.value(.purchases) ?? line.value(.rows) {
      return try purchases.purchases(collection, of: tape).map { $0.entitlement(at: capturedAt) }
    }
    guard line.present(.subscription) != nil else { return nil }
    guard let object = try tape.filledObject(line[.subscription]) else { return [] }
    return [try purchases.purchase(object, key: nil, of: tape).entitlement(at: capturedAt)]
  }

  /// The users in a list of customers, each with the known fields of the last purchase; without
  /// users whose purchases are unknown.
  mutating func customers(
    _ line: Members<SnapshotField>, of tape: JSONTape
  ) throws(BodyProblem) -> [(user: String, entitlements: [Entitlement])]? {
    guard let rows = line.value(.rows) else { return nil }
    guard tape.kind(rows) == .array else { throw .bad("rows", expected: "a list") }
    var found: [(user: String, entitlements: [Entitlement])] = []
    for row in tape.children(of: rows) {
      guard tape.kind(row) == .object else { throw .bad("rows", expected: "a list of objects") }
      guard tape.member(row, "purchases") == nil else {
        throw .bad("rows.purchases", expected: "to be in a line of their own customer")
      }
      customer.read(row, of: tape)
      let user = try tape.text(customer[.applicationUsername])
      guard !user.isEmpty else { throw .missing("rows.applicationUsername") }
      if let held = try summary(row, tape) { found.append((user, held)) }
    }
    return found
  }

  /// The last purchase; nil if it is unknown: a user with receipts does not count as a user without
  /// purchases, nor does a purchase.
  private mutating func summary(
    _ row: JSONNode, _ tape: JSONTape
  ) throws(BodyProblem) -> [Entitlement]? {
    guard let sent = try tape.filledObject(customer[.customerInfo]) else {
      guard customer.value(.receiptIDs).map({ tape.count($0) == 0 }) ?? true else { return nil }
      if tape.member(row, "purchaseId") != nil { throw .missing("rows.customerInfo") }
      return []
    }
    info.read(sent, of: tape)
    let purchase = IapticID(transaction: try tape.identifier(info[.lastPurchaseID]))
    guard !purchase.text.isEmpty else { return [] }
    var entitlement = Entitlement(id: text(baseOrder(purchase.text)))
    entitlement.store = purchase.store ?? .unknown
    entitlement.startedAt = try tape.instant(info[.lastPurchaseDate])
    entitlement.expiresAt = try tape.instant(info[.expirationDate])
    let isActive = try tape.truth(info[.activeSubscriber])
    let isLapsed = try tape.truth(info[.lapsedSubscriber])
    entitlement.isActive = isActive == true ? true : isLapsed == true ? false : nil
    let renews = iapticRenews(try tape.word(info[.renewalIntent]))
    let isSubscription =
      renews != nil || entitlement.expiresAt != nil || entitlement.isActive != nil
    entitlement.renewState =
      isSubscription ? renews.map { $0 ? .willRenew : .canceled } : .nonRenewable
    return [entitlement]
  }
}

extension IapticPurchase {
  /// The access that the purchase grants, under the same ids as its events.
  func entitlement(at capturedAt: Instant?) -> Entitlement {
    let root = purchase.isEmpty ? baseOrder(transaction) : purchase
    var entitlement = Entitlement(
      id: root.isEmpty ? product : root, of: product, transaction: transaction, original: root,
      state, until: expiresAt, in: store, environment, price: local, currency: currency)
    let isCurrent = expiresAt.flatMap { end in capturedAt.map { end > $0 } }
    entitlement.isActive = state.isPending ? false : state.isOwned ?? isCurrent
    return entitlement
  }
}
