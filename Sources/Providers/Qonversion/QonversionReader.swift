import Formats
import Domain

/// Reads Qonversion bodies of every generation since 2020, field by field.
struct QonversionReader {
  private let names: QonversionNames
  private let wordBytesMax: Int
  private(set) var top = Members<QonversionField>()
  private var transaction = Members<QonversionTransactionField>()
  private var money = Members<QonversionMoneyField>()
  private var grants = QonversionGrants()

  init(rules: NormaliserSettings) {
    names = QonversionNames(configured: rules.eventNames)
    wordBytesMax = rules.wordBytesMax
  }

  /// Looks the members of `object` up; everything else speaks of this object.
  mutating func look(at object: JSONNode, of tape: JSONTape) { top.read(object, of: tape) }

  /// Whether the object is surely a whole body.
  func isBody(_ tape: JSONTape) -> Bool {
    guard let name = top.value(.eventName), tape.kind(name) == .string else { return false }
    return top.value(.userID) != nil && top.value(.time) != nil
  }

  /// Whether the object can only be a body that lacks something.
  var isDamagedBody: Bool {
    let others: [QonversionField] = [.userID, .time, .productID, .transaction, .revenue]
    let seen = others.count { top.value($0) != nil }
    return top.value(.eventName) == nil ? seen >= 4 : seen >= 1
  }

  /// When the archive's writer received the body, when it says so beside the body's members.
  func received(_ tape: JSONTape) -> Instant? {
    top.first(.received) { receiveTime($0, of: tape) }
  }

  /// The body's name and what it means.
  func meaning(_ tape: JSONTape) throws(BodyProblem) -> Meaning {
    names.meaning(of: try name(tape))
  }

  /// Puts everything the body says about an event of `kind` into `body`, which is new.
  mutating func read(
    _ kind: EventKind, into body: inout QonversionBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    body.name = try name(tape)
    body.kind = kind
    body.user = try tape.identifier(top.value(.userID), "user_id", max: wordBytesMax)
    guard !body.user.isEmpty else { throw .missing("user_id") }
    body.time = try time(tape)
    body.created = try tape.instant(top.value(.createdAt), "created_at")
    body.renewalCount = try tape.counter(
      top.value(.renewCount), "subscription_renew_count")
    try readPlace(into: &body, tape)
    try readProducts(into: &body, tape)
    try readTransaction(into: &body, tape)
    try readRevenue(into: &body, tape)
    try readPrice(into: &body, tape)
  }

  private func name(_ tape: JSONTape) throws(BodyProblem) -> UnsafeRawBufferPointer {
    let name = try tape.word(top.value(.eventName), "event_name", max: wordBytesMax)
    guard !name.isEmpty else { throw .missing("event_name") }
    return name
  }

  private func time(_ tape: JSONTape) throws(BodyProblem) -> Instant {
    guard let sent = top.value(.time) else { throw .missing("time") }
    guard let time = try tape.instant(sent, "time") else {
      throw BodyProblem(.badTime, "time: empty or 0")
    }
    return time
  }

  /// Where the event happened: environment, shop, app, country.
  private func readPlace(into body: inout QonversionBody, _ tape: JSONTape) throws(BodyProblem) {
    let word = try tape.word(top.value(.environment), "environment", max: wordBytesMax)
    guard let environment = Environment(word: word) else {
      throw .bad("environment", expected: "production or sandbox")
    }
    body.environment = environment
    body.store = Store(
      qonversionPlatform: try tape.word(
        top.value(.platform), "platform", max: wordBytesMax))
    body.app = try tape.identifier(top.value(.appID), "app_id", max: wordBytesMax)
    if body.app.isEmpty, let name = top.value(.project), tape.kind(name) == .string {
      body.project = Fingerprint.of(tape.bytes(name))
    }
    body.country = try tape.word(top.value(.country), "country", max: wordBytesMax)
    body.storefront = try tape.word(top.value(.storefront), "storefront", max: wordBytesMax)
  }

  private mutating func readProducts(
    into body: inout QonversionBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    body.product = try tape.identifier(
      top.value(.productID), "product_id", max: wordBytesMax)
    let old = try tape.identifier(
      top.value(.oldProductID), "old_product_id", max: wordBytesMax)
    let new = try tape.identifier(
      top.value(.newProductID), "new_product_id", max: wordBytesMax)
    guard body.kind.isProductChange else { return }
    if !new.isEmpty { body.product = new }
    body.previousProduct = old
    body.entitledUntil = top.value(.entitlements).flatMap {
      grants.end(among: $0, for: body, tape)
    }
  }

  private mutating func readTransaction(
    into body: inout QonversionBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    let sent = try tape.filledObject(top.value(.transaction), "transaction")
    guard let sent else { return }
    transaction.read(sent, of: tape)
    body.transaction = try tape.transactionID(
      transaction.value(.id), "transaction.transaction_id", max: wordBytesMax)
    body.original = try tape.transactionID(
      transaction.value(.originalID), "transaction.original_transaction_id",
      max: wordBytesMax)
    body.periodStart = try tape.instant(
      transaction.value(.date), "transaction.transaction_date")
    body.periodEnd = try tape.instant(transaction.value(.expires), "transaction.expires")
    body.graceEnd = try tape.instant(
      transaction.value(.graceExpires), "transaction.grace_period_expires")
  }

  private mutating func readRevenue(
    into body: inout QonversionBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    let sent = try tape.filledObject(top.value(.revenue), "revenue")
    guard let sent else { return }
    money.read(sent, of: tape)
    var revenue = QonversionMoney()
    revenue.local = try amount(.value, "revenue.value", of: &body, tape)
    revenue.usd = try dollars("revenue.value_usd", of: &body, tape)
    revenue.currency = try word(.currency, "revenue.currency", tape)
    revenue.isProceed = try tape.truth(money.value(.isProceed), "revenue.is_proceed")
    revenue.rate = try amount(.proceedsRate, "revenue.proceeds_rate", of: &body, tape)
    body.revenue = revenue
  }

  private mutating func readPrice(
    into body: inout QonversionBody, _ tape: JSONTape
  ) throws(BodyProblem) {
    let sent = try tape.filledObject(top.value(.price), "price")
    guard let sent else { return }
    money.read(sent, of: tape)
    var price = QonversionMoney()
    price.local = try amount(.value, "price.value", of: &body, tape)
    price.usd = try dollars("price.value_usd", of: &body, tape)
    price.currency = try word(.currency, "price.currency", tape)
    body.price = price
  }

  private func amount(
    _ field: QonversionMoneyField, _ name: StaticString, of body: inout QonversionBody,
    _ tape: JSONTape
  ) throws(BodyProblem) -> Amount? {
    try tape.amount(money.value(field), name, rounded: &body.roundedAmounts)
  }

  private func dollars(
    _ name: StaticString, of body: inout QonversionBody, _ tape: JSONTape
  ) throws(BodyProblem) -> Amount? {
    try tape.dollars(money.value(.valueUSD), name, rounded: &body.roundedAmounts)
  }

  private func word(
    _ field: QonversionMoneyField, _ name: StaticString, _ tape: JSONTape
  ) throws(BodyProblem) -> UnsafeRawBufferPointer {
    try tape.word(money.value(field), name, max: wordBytesMax)
  }
}
