import Formats
import Domain

/// sprylab Purple: one body is one event, without money, ends of periods or a mark of the sandbox.
///
/// Source: docs.purplepublish.com, Receipt Events.
struct Purple {
  private var top = Members<PurpleField>()
  private var properties = Members<PurplePropertyField>()
  private let types = PurpleTypes()
  private let wordBytesMax: Int

  init(rules: NormaliserSettings) { wordBytesMax = rules.wordBytesMax }

  /// Turns the body into its event, or says why it is none.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    top.read(object, of: tape)
    let version = try tape.identifier(top.value(.version), "version", max: wordBytesMax)
    guard version.isEmpty || version.elementsEqual("1".utf8) || version.starts(with: "1.".utf8)
    else {
      throw .bad("version", expected: "1.x")
    }
    let type = try tape.word(top.value(.type), "type", max: wordBytesMax)
    guard !type.isEmpty else { throw .missing("type") }
    switch types.meaning(of: type) {
    case (_, .skipped(let reason)): return reason
    case (var name, .event(let kind)):
      var draft = try draft(of: kind, tape)
      draft.event.place = delivery.place
      draft.event.received =
        delivery.received ?? top.first(.received) { receiveTime($0, of: tape) }
      draft.event.body = Fingerprint.of(tape.bytes(object))
      name.withUTF8 {
        draft.name = UnsafeRawBufferPointer($0)
        batch.add(draft)
      }
      return nil
    }
  }

  private mutating func draft(
    of kind: EventKind, _ tape: JSONTape
  ) throws(BodyProblem) -> EventDraft {
    guard let sent = top.value(.properties) else { throw .missing("properties") }
    guard tape.kind(sent) == .object else { throw .bad("properties", expected: "an object") }
    properties.read(sent, of: tape)
    let transaction = try id(.transactionID, "properties.transactionId", tape)
    let original = try id(.originalTransactionID, "properties.originalTransactionId", tape)
    let account = try text(.accountID, "properties.accountId", tape)
    let user = account.isEmpty ? try text(.deviceID, "properties.deviceId", tape) : account
    let anyID = transaction.isEmpty ? original : transaction
    guard !anyID.isEmpty || !user.isEmpty else { throw .missing("properties.transactionId") }
    var draft = EventDraft(
      event: Event(
        provider: .purple, store: Store(transactionID: anyID), kind: kind, time: try time(tape)),
      root: anyID.isEmpty
        ? .userAndProduct : .original(baseOrder(original.isEmpty ? transaction : original)))
    draft.user = user
    draft.transaction = transaction
    draft.app = try text(.packageName, "properties.packageName", tape)
    try readProducts(into: &draft, tape)
    if kind == .endedInvoluntarily { draft.event.reason = .involuntary }
    let isTrial = try tape.truth(
      properties.value(.trialPeriod), "properties.trialPeriod")
    if kind == .started, isTrial == true { draft.event.kind = .trialStarted }
    let isOffer = try tape.truth(
      properties.value(.introOfferPeriod), "properties.introOfferPeriod")
    if isOffer == true { draft.offer = .introductoryOffer }
    return draft
  }

  private func time(_ tape: JSONTape) throws(BodyProblem) -> Instant {
    guard let sent = top.value(.eventTime) else { throw .missing("eventTimeMillis") }
    let text = tape.bytes(sent)
    guard tape.kind(sent) == .number || tape.kind(sent) == .string, !text.isEmpty,
      let time = InstantText.epoch(text, unit: .milliseconds), time >= firstShop
    else {
      throw BodyProblem(.badTime, "eventTimeMillis: not milliseconds of a time since 2008")
    }
    return time
  }

  /// Product changes name the two products instead of one.
  private func readProducts(into draft: inout EventDraft, _ tape: JSONTape) throws(BodyProblem) {
    let next = try text(.nextProductID, "properties.nextProductId", tape)
    let only = try text(.productID, "properties.productId", tape)
    draft.product = next.isEmpty ? only : next
    draft.previousProduct = try text(.previousProductID, "properties.previousProductId", tape)
  }

  private func text(
    _ field: PurplePropertyField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    try tape.identifier(properties.value(field), name, max: wordBytesMax)
  }

  private func id(
    _ field: PurplePropertyField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    try tape.transactionID(properties.value(field), name, max: wordBytesMax)
  }
}
