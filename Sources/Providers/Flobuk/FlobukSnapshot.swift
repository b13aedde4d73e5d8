import Formats
import Domain

/// The members of one of a user's purchases in FLOBUK's list.
///
/// Source: the Unity SDK reads `data`; the other members are undocumented and named as in webhooks.
private enum FlobukSnapshotField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case data, transaction, store
}

/// Reads responses of FLOBUK's Get User: one entry per product, the newest, without consumables.
struct FlobukSnapshotReader: ProviderSnapshotReader {
  private var members = Members<FlobukSnapshotField>("purchases.")
  private var purchases = FlobukPurchaseReader()

  /// Whether the line lists purchases that have `data`, or lacks iaptic's name of the user.
  func recognises(_ line: Members<SnapshotField>, of tape: JSONTape) -> Bool {
    guard let list = line.value(.purchases), tape.kind(list) == .array else { return false }
    return tape.holds(tape.firstChild(list), oneOf: ["data"])
      || !tape.holds(0, oneOf: ["applicationUsername"])
  }

  mutating func entitlements(
    _ line: Members<SnapshotField>, of tape: JSONTape, at capturedAt: Instant?
  ) throws(BodyProblem) -> [Entitlement]? {
    guard let list = line.value(.purchases) else { return nil }
    guard tape.kind(list) == .array else { throw .bad("purchases", expected: "a list") }
    return try tape.children(of: list).map { node throws(BodyProblem) in
      guard tape.kind(node) == .object else {
        throw .bad("purchases", expected: "a list of objects")
      }
      members.read(node, of: tape)
      guard let data = members.value(.data) else { throw .missing("purchases.data") }
      guard tape.kind(data) == .object else { throw .bad("purchases.data", expected: "an object") }
      let (draft, state) = try purchases.purchase(data, of: tape)
      let (product, end) = (draft.product, draft.event.periodEnd)
      let store = Store(Term(bytes: try tape.word(members[.store]))) ?? .unknown
      let transaction = try tape.transactionID(members[.transaction])
      let root = baseOrder(transaction.isEmpty ? product : transaction)
      var entitlement = Entitlement(
        id: product, of: product, transaction: transaction, original: root, state, until: end,
        in: store, draft.event.environment)
      let isPast = end.flatMap { end in capturedAt.map { end <= $0 } } ?? false
      entitlement.isActive = state.isOwned == true && !isPast
      return entitlement
    }
  }
}
