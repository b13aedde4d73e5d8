import Formats
import Domain

/// iaptic, once Fovea.Billing: one body holds all purchases of a user, the last of each product,
/// and newer ones say what happened to one of them.
///
/// Sources: iaptic.com and billing.fovea.cc, Webhook.
struct Iaptic {
  private var top = Members<IapticField>()
  private var news = Members<IapticNotificationField>()
  private var reader: IapticPurchaseReader
  private let reasons = IapticReasons()
  private let wordBytesMax: Int

  init(rules: NormaliserSettings) {
    reader = IapticPurchaseReader(wordBytesMax: rules.wordBytesMax)
    wordBytesMax = rules.wordBytesMax
  }

  /// Turns the body into its events, or says why there are none.
  ///
  /// Nothing reaches `batch` before the whole body is checked.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    top.read(object, of: tape)
    let type = try tape.word(top.value(.type), "type", max: wordBytesMax)
    guard !type.isEmpty else { throw .missing("type") }
    if type.isWord("test") { return .test }
    var body = IapticBody()
    body.type = type
    body.received =
      delivery.received ?? top.first(.received) { receiveTime($0, of: tape) }
    body.notification = try notification(tape)
    let meaning =
      body.notification.reason.isEmpty ? .state : reasons.meaning(of: body.notification.reason)
    if case .skipped(let reason) = meaning { return reason }
    try readPurchases(into: &body, tape)
    guard let time = body.time else {
      if body.purchases.isEmpty { return body.isUpdate ? .undatedCollection : .unknownType }
      throw BodyProblem(.badTime, "purchases: nothing in them tells when they were so")
    }
    body.collection = message(of: body, at: time.instant, tape)
    var events = IapticEvents(body: body, time: time.instant, isUndated: time.isUndated)
    events.place = delivery.place
    events.fingerprint = Fingerprint.of(tape.bytes(object))
    batch.note(roundedAmounts: body.purchases.reduce(0) { $0 + $1.roundedAmounts })
    batch.add(events.drafts(meaning), of: body.user)
    return nil
  }

  private mutating func notification(
    _ tape: JSONTape
  ) throws(BodyProblem) -> IapticNotification {
    var read = IapticNotification()
    let sent = try tape.filledObject(top.value(.notification), "notification")
    guard let sent else { return read }
    news.read(sent, of: tape)
    read.reason = try tape.word(
      news.value(.reason), "notification.reason", max: wordBytesMax)
    read.id = try text(.id, "notification.id", tape)
    read.date = try tape.instant(news.value(.date), "notification.date")
    read.product = IapticID(try text(.productID, "notification.productId", tape))
    read.purchase = IapticID(transaction: try text(.purchaseID, "notification.purchaseId", tape))
    read.transaction = IapticID(
      transaction: try text(.transactionID, "notification.transactionId", tape))
    return read
  }

  private func text(
    _ field: IapticNotificationField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    try tape.identifier(news.value(field), name, max: wordBytesMax)
  }

  private mutating func readPurchases(
    into body: inout IapticBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    body.user = try tape.identifier(
      top.value(.username), "applicationUsername", max: wordBytesMax)
    let sent = top.value(.purchases)
    if let sent {
      body.purchases = try reader.purchases(sent, of: tape)
      body.nameSubject()
    } else if body.isUpdate {
      throw .missing("purchases")
    }
    let isAboutNothing = body.purchases.isEmpty && !body.notification.namesSubject
    if body.isUpdate, isAboutNothing, body.user.isEmpty {
      throw .missing("applicationUsername")
    }
    var state = Fingerprint(seed: 4)
    state.combine(body.user)
    if let sent { state.combine(UInt64(bitPattern: tape.canonicalFingerprint(sent))) }
    body.state = state.value
  }

  /// The user's message by its id; of one without id, what it says and when that was so.
  private func message(of body: IapticBody, at time: Instant, _ tape: JSONTape) -> Int64 {
    var message = Fingerprint(seed: 6)
    guard body.notification.id.isEmpty else {
      message.combine(body.user)
      message.combine(body.notification.id)
      return message.value
    }
    message.combine(UInt64(bitPattern: body.state))
    message.combine(UInt64(bitPattern: time.milliseconds))
    if let news = top.value(.notification) {
      message.combine(UInt64(bitPattern: tape.canonicalFingerprint(news)))
    }
    return message.value
  }
}

extension IapticBody {
  /// Whether the body is of the one type that is documented to hold purchases.
  var isUpdate: Bool { type.isWord("purchases.updated") }
}
