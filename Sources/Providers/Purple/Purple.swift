import Formats
import Domain

/// sprylab Purple: one body is one event, without money, period ends or sandbox mark.
///
/// Source: docs.purplepublish.com, Receipt Events.
struct Purple: BodyMapper {
  static let provider = Provider.purple
  /// How deliveries are secured is not published, so either header may contain the secret.
  static let secretHeaders: [StaticString] = ["authorization", "x-auth-key"]

  private var top = Members<PurpleField>()
  private var properties = Members<PurplePropertyField>("properties.")

  init(_ settings: NormaliserSettings) {}

  mutating func read(_ object: JSONNode, of tape: JSONTape) { top.read(object, of: tape) }

  func isBody(_ tape: JSONTape) -> Bool {
    top.value(.type) != nil && top.value(.eventTimeMillis) != nil
      && tape.isObject(top.value(.properties))
  }

  func isDamagedBody(_ tape: JSONTape) -> Bool {
    let properties = top.value(.properties)
    let hasType = top.value(.type) != nil
    if top.value(.eventTimeMillis) != nil, hasType || tape.isObject(properties) { return true }
    return hasType && tape.holds(properties, oneOf: Self.ownProperties)
  }

  /// Members of `properties` that are rare in other objects.
  private static let ownProperties = [
    "packageName", "productId", "previousProductId", "originalTransactionId",
  ]

  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    let version = top[.version].node.map(tape.bytes) ?? .none
    guard version.isEmpty || version.elementsEqual("1".utf8) || version.starts(with: "1.".utf8)
    else {
      throw .bad("version", expected: "1.x")
    }
    let type = try tape.word(top[.type])
    guard !type.isEmpty else { throw .missing("type") }
    let known = purpleTypes.entry(of: type)
    let meaning = known?.meaning
    if case .skipped(let reason) = meaning { return reason }
    // An unknown type is stored in the form of the known ones.
    let capitals = type.map { " .-".utf8.contains($0) ? UInt8(ascii: "_") : raised($0) }
    var name = known?.name ?? String(decoding: capitals, as: UTF8.self)
    let kind = if case .event(let kind) = meaning { kind } else { EventKind.other }
    var draft = try draft(of: kind, tape)
    draft.event.place = delivery.place
    draft.event.received = delivery.received ?? top.receiveTime(.received, of: tape)
    draft.event.body = Fingerprint.of(tape.bytes(object))
    name.withUTF8 {
      draft.name = UnsafeRawBufferPointer($0)
      batch.add(draft)
    }
    if meaning == nil { batch.noteUnknown(.eventName, type, of: delivery) }
    top.noteUnknown(in: object, of: tape, delivery, to: &batch)
    properties.noteUnknown(in: top.value(.properties), of: tape, delivery, to: &batch)
    return nil
  }

  private mutating func draft(
    of kind: EventKind, _ tape: JSONTape
  ) throws(BodyProblem) -> EventDraft {
    guard let sent = top.value(.properties) else { throw .missing("properties") }
    guard tape.kind(sent) == .object else { throw .bad("properties", expected: "an object") }
    properties.read(sent, of: tape)
    let transaction = try tape.transactionID(properties[.transactionID])
    let original = try tape.transactionID(properties[.originalTransactionID])
    let account = try tape.identifier(properties[.accountID])
    let user = account.isEmpty ? try tape.identifier(properties[.deviceID]) : account
    let anyID = transaction.isEmpty ? original : transaction
    guard !anyID.isEmpty || !user.isEmpty else { throw .missing("properties.transactionId") }
    var draft = EventDraft(
      event: Event(
        provider: .purple, store: Store(transactionID: anyID), kind: kind, time: try time(tape)))
    draft.original = baseOrder(original.isEmpty ? transaction : original)
    draft.user = user
    draft.transaction = transaction
    draft.app = try tape.identifier(properties[.packageName])
    // Product changes name two products instead of one.
    let next = try tape.identifier(properties[.nextProductID])
    let only = try tape.identifier(properties[.productID])
    draft.product = next.isEmpty ? only : next
    draft.previousProduct = try tape.identifier(properties[.previousProductID])
    if kind == .endedInvoluntarily { draft.event.reason = .involuntary }
    let isTrial = try tape.truth(properties[.trialPeriod])
    if kind == .started, isTrial == true { draft.event.kind = .trialStarted }
    let isOffer = try tape.truth(properties[.introOfferPeriod])
    if isOffer == true { draft.offer = .introductoryOffer }
    return draft
  }

  private func time(_ tape: JSONTape) throws(BodyProblem) -> Instant {
    guard let sent = top.value(.eventTimeMillis) else { throw .missing("eventTimeMillis") }
    let text = tape.bytes(sent)
    guard tape.kind(sent) == .number || tape.kind(sent) == .string, !text.isEmpty,
      let time = InstantText.epoch(text, isMilliseconds: true), time.milliseconds > 0
    else {
      throw BodyProblem(.badTime, "eventTimeMillis: not milliseconds since 1970")
    }
    try time.checkPossible("eventTimeMillis")
    return time
  }
}

/// The members of a Purple event, and the members that archive writers add at top level.
private enum PurpleField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case version, type, eventTimeMillis, properties
  case received

  var names: [String] { self == .received ? receivedNames : [camelCase] }

  static let unread = addedNames
}

/// The members of an event's `properties`, whose values the schema declares to be strings.
private enum PurplePropertyField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case packageName, productID, previousProductID, nextProductID
  case transactionID, originalTransactionID, accountID, deviceID, trialPeriod
  case introOfferPeriod

  static let unread = ["appId"]
}

/// Purple's event types and their meaning; stored copies of its page spell them in several ways.
private let purpleTypes = EventNames([
  ("PRODUCT_PURCHASED", .event(.purchased)),
  ("PRODUCT_CANCELLED", .event(.purchaseRefunded)),
  ("SUBSCRIPTION_PURCHASED", .event(.started)),
  ("SUBSCRIPTION_UPGRADED", .event(.upgraded)),
  ("SUBSCRIPTION_DOWNGRADED", .event(.downgraded)),
  ("SUBSCRIPTION_RESUBSCRIBED", .event(.resubscribed)),
  ("SUBSCRIPTION_RESUBSCRIBED_OTHER", .event(.resubscribed)),
  ("SUBSCRIPTION_CANCELLED", .event(.canceled)),
  ("SUBSCRIPTION_CANCELLED_INVOLUNTARY", .event(.endedInvoluntarily)),
  ("SUBSCRIPTION_RENEWED", .event(.renewed)),
  ("SUBSCRIPTION_RENEWAL_FAILED", .event(.graceEntered)),
  ("SUBSCRIPTION_RECOVERED", .event(.recovered)),
  ("SUBSCRIPTION_EXPIRED", .event(.expired)),
  ("ACCOUNT_ASSIGNMENTS_CHANGED", .skipped(.accountAssignmentsChanged)),
])
