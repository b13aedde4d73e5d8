import Formats
import Domain

/// FLOBUK's Receipt Validator, now IAPGUARD: one body is the state of one purchase, without money.
///
/// Only a header contains the app, and only events that the user's own device caused contain the
/// user. Sources: flobuk.gitlab.io/validator and docs.iapguard.com, Webhook.
struct Flobuk: BodyMapper {
  static let provider = Provider.flobuk
  static let secretHeaders: [StaticString] = ["x-auth-key"]
  static let appHeader: StaticString? = "x-app-id"
  static var snapshots: (any ProviderSnapshotReader)? { FlobukSnapshotReader() }

  private var top = Members<FlobukField>()
  private var reader = FlobukPurchaseReader()
  /// The `data` of a body that stores it as text.
  private var dataTape = JSONTape()

  init(_ settings: NormaliserSettings) {}

  mutating func read(_ object: JSONNode, of tape: JSONTape) { top.read(object, of: tape) }

  func isBody(_ tape: JSONTape) -> Bool {
    guard hasBoth, let data = top.value(.data) else { return false }
    // Some writers store nested JSON as text.
    let isText = tape.kind(data) == .string && tape.bytes(data).trimmed.first == UInt8(ascii: "{")
    return isText || tape.isObject(data)
  }

  func isDamagedBody(_ tape: JSONTape) -> Bool {
    let hasOne = top.value(.transaction) != nil || top.value(.store) != nil
    return hasBoth || hasOne && tape.holds(top.value(.data), oneOf: Self.ownData)
  }

  private var hasBoth: Bool { top.value(.transaction) != nil && top.value(.store) != nil }

  /// Members of `data` that are rare in other objects.
  private static let ownData = [
    "productId", "expiresDate", "autoRenew", "billingRetry",
  ]

  /// Turns the body into its one event, an observation.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    let transaction = try tape.transactionID(top[.transaction])
    guard !transaction.isEmpty else { throw .missing("transaction") }
    let store = try tape.word(top[.store])
    guard !store.isEmpty else { throw .missing("store") }
    guard let data = top.value(.data) else { throw .missing("data") }
    let sent = try sentState(data, tape)
    var (draft, state) = try reader.purchase(sent.object, of: sent.tape)
    // Vector writes its `timestamp` as RFC 3339, FLOBUK as a number; the oldest bodies have none.
    let archived = top.value(.timestamp).flatMap { sent in
      tape.kind(sent) == .string && InstantText.rfc3339(tape.bytes(sent)) != nil ? sent : nil
    }
    let created = archived == nil ? try tape.instant(top[.timestamp]) : nil
    let received =
      delivery.received ?? top.receiveTime(.received, of: tape)
      ?? archived.flatMap(tape.receiveTime)
    guard let time = created ?? received ?? draft.event.periodEnd else {
      throw BodyProblem(.badTime, "timestamp: neither the body nor its envelope contains a time")
    }
    try time.checkPossible("timestamp")
    draft.event.time = time
    draft.event.store = Store(Term(bytes: store)) ?? .unknown
    draft.event.place = delivery.place
    draft.event.created = created
    draft.event.received = received
    state.isUndated = created == nil && received == nil
    draft.event.observation = state
    draft.event.body = Fingerprint.of(tape.bytes(object))
    draft.original = baseOrder(transaction)
    draft.app = delivery.app
    guard draft.app.count <= NormaliserSettings.wordBytesMax else { throw .longText("X-App-Id") }
    draft.user = try tape.identifier(top[.user])
    draft.transaction = transaction
    draft.mark = sent.tape.canonicalFingerprint(sent.object)
    batch.add(draft)
    if draft.event.store == .unknown { batch.noteUnknown(.store, store, of: delivery) }
    top.noteUnknown(in: object, of: tape, delivery, to: &batch)
    reader.members.noteUnknown(in: sent.object, of: sent.tape, delivery, to: &batch)
    return nil
  }

  /// The purchase's state: an object, or JSON text of an object.
  private mutating func sentState(
    _ data: JSONNode, _ tape: JSONTape
  ) throws(BodyProblem) -> (tape: JSONTape, object: JSONNode) {
    if tape.kind(data) == .object { return (tape, data) }
    let text = tape.bytes(data).trimmed
    guard tape.kind(data) == .string, let end = try? dataTape.read(text, from: 0),
      end == text.count, dataTape.kind(0) == .object
    else { throw .bad("data", expected: "an object") }
    return (dataTape, 0)
  }
}

/// The members of a FLOBUK webhook body.
private enum FlobukField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case transaction, data, store, user, timestamp
  /// Vector's `timestamp` is left out: the body has a member of that name, so its format decides.
  case received

  var names: [String] {
    self == .received ? receivedNames.filter { $0 != "timestamp" } : [camelCase]
  }

  static let unread = addedNames
}
