import Formats
import Domain

/// iaptic, formerly Fovea.Billing: one body contains all purchases of a user, the latest per
/// product; newer bodies also report what happened to one of them.
///
/// Sources: iaptic.com and billing.fovea.cc, Webhook.
struct Iaptic: BodyMapper {
  static let provider = Provider.iaptic
  static let secretHeaders: [StaticString] = []
  static let secretMember: String? = "password"
  static var snapshots: (any ProviderSnapshotReader)? { IapticSnapshotReader() }

  /// The id without a platform, which events lose too; `ios-` can be part of an event's id.
  static func eventID(_ id: String) -> String {
    guard id.utf8.contains(UInt8(ascii: ":")) else { return id }
    var id = id
    return id.withUTF8 { text(IapticID(UnsafeRawBufferPointer($0)).text) }
  }

  private var top = Members<IapticField>()
  private var news = Members<IapticNotificationField>("notification.")
  private var reader = IapticPurchaseReader()

  init(_ settings: NormaliserSettings) {}

  mutating func read(_ object: JSONNode, of tape: JSONTape) { top.read(object, of: tape) }

  /// An archive may leave out `password`, which is a secret, so purchases are also enough.
  func isBody(_ tape: JSONTape) -> Bool {
    has(.type) && (has(.password) || holdsPurchases(tape))
  }

  /// A test without `password` is recognised only here: an envelope can have the same `type`.
  func isDamagedBody(_ tape: JSONTape) -> Bool {
    let others: [IapticField] = [
      .applicationUsername, .purchases, .notification, .othersMembers,
    ]
    if let type = top.value(.type), tape.bytes(type).isWord("test"),
      !others.contains(where: has)
    {
      return true
    }
    let named = [IapticField.applicationUsername, .password, .notification].count(where: has)
    return holdsPurchases(tape) ? named >= 1 : named >= 2
  }

  private func has(_ field: IapticField) -> Bool { top.value(field) != nil }

  /// Purchases by product; some languages write an empty object as an empty list.
  private func holdsPurchases(_ tape: JSONTape) -> Bool {
    let purchases = top.value(.purchases)
    return tape.isObject(purchases) || purchases.map { tape.kind($0) == .array } ?? false
  }

  /// Turns the body into its events, or returns why there are none.
  ///
  /// Adds nothing to `batch` before the whole body is checked.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    let type = try tape.word(top[.type])
    guard !type.isEmpty else { throw .missing("type") }
    if type.isWord("test") { return .test }
    var body = IapticBody()
    body.type = type
    body.base.received = delivery.received ?? top.receiveTime(.received, of: tape)
    body.notification = try notification(tape)
    let reason = body.notification.reason
    let known = reason.isEmpty ? .event(.observed) : iapticReasons.entry(of: reason)?.meaning
    let meaning = known ?? .event(.other)
    if case .skipped(let reason) = meaning { return reason }
    try readPurchases(into: &body, tape)
    guard let time = body.time else {
      if body.purchases.isEmpty { return body.isUpdate ? .undatedCollection : .unknownType }
      throw BodyProblem(.badTime, "purchases: they contain no time")
    }
    let isOfNotification = body.notification.date != nil
    try time.instant.checkPossible(isOfNotification ? "notification.date" : "purchases")
    (body.base.time, body.isUndated) = time
    body.base.collection = message(of: body, tape)
    body.base.body = Fingerprint.of(tape.bytes(object))
    body.base.place = delivery.place
    batch.note(roundedAmounts: body.purchases.reduce(0) { $0 + $1.roundedAmounts })
    batch.add(body.drafts(meaning), of: body.user)
    if known == nil { batch.noteUnknown(.eventName, reason, of: delivery) }
    if !body.isUpdate { batch.noteUnknown(.eventName, type, of: delivery) }
    if top.value(.purchases) != nil {
      for platform in reader.unknownPlatforms {
        batch.noteUnknown(.platform, tape.bytes(platform), of: delivery)
      }
      for key in reader.unknownMembers {
        batch.noteUnknown(.member, tape.bytes(key), of: delivery)
      }
    }
    top.noteUnknown(in: object, of: tape, delivery, to: &batch)
    news.noteUnknown(in: top.value(.notification), of: tape, delivery, to: &batch)
    return nil
  }

  private mutating func notification(
    _ tape: JSONTape
  ) throws(BodyProblem) -> IapticNotification {
    var read = IapticNotification()
    guard let sent = try tape.filledObject(top[.notification]) else { return read }
    news.read(sent, of: tape)
    read.reason = try tape.word(news[.reason])
    read.id = try tape.identifier(news[.id])
    read.date = try tape.instant(news[.date])
    read.product = IapticID(try tape.identifier(news[.productID]))
    read.purchase = IapticID(transaction: try tape.identifier(news[.purchaseID]))
    read.transaction = IapticID(transaction: try tape.identifier(news[.transactionID]))
    return read
  }

  private mutating func readPurchases(
    into body: inout IapticBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    body.user = try tape.identifier(top[.applicationUsername])
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

  /// Identifies the user's message by its id or, without an id, by its content and time.
  private func message(of body: IapticBody, _ tape: JSONTape) -> Int64 {
    var message = Fingerprint(seed: 6)
    guard body.notification.id.isEmpty else {
      message.combine(body.user)
      message.combine(body.notification.id)
      return message.value
    }
    message.combine(UInt64(bitPattern: body.state))
    message.combine(UInt64(bitPattern: body.base.time.milliseconds))
    if let news = top.value(.notification) {
      message.combine(UInt64(bitPattern: tape.canonicalFingerprint(news)))
    }
    return message.value
  }
}

/// The members of an iaptic webhook body that are used here; of `password`, the account's secret,
/// only the presence is read.
private enum IapticField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case type, applicationUsername, purchases, notification, password
  /// Members of other webhooks and of responses to failed requests.
  case othersMembers
  case received

  var names: [String] {
    switch self {
    case .othersMembers:
      ["eventTimeMillis", "properties", "transaction", "store", "data", "ok", "code", "error"]
    case .received: receivedNames
    default: [camelCase]
    }
  }

  static let unread = addedNames
}

/// The members of a body's `notification`, which bodies of the first years lack.
private enum IapticNotificationField: Int, MemberField {
  static let table = MemberTable(Self.self)
  case reason, id, date, productID, purchaseID, transactionID
}
