import Formats
import Domain

/// Qonversion: one body is one event, with its money; reads all generations of bodies since 2020.
struct Qonversion: BodyMapper {
  static let provider = Provider.qonversion
  /// The token is sent unencoded in `Authorization: Basic <token>`.
  static let secretHeaders: [StaticString] = ["authorization", "authorization-token"]

  /// Snapshots in Qonversion's shape use the ids of its events.
  static func withEventIDs(_ entitlement: Entitlement) -> Entitlement { entitlement }

  private let names: QonversionNames
  private let customer: CustomerIDMember?
  private var top = Members<QonversionField>()
  private var transaction = Members<QonversionTransactionField>("transaction.")
  private var revenue = Members<QonversionMoneyField>("revenue.")
  private var price = Members<QonversionMoneyField>("price.")
  private var grants = QonversionGrants()
  private var entitlements = EntitlementReader()

  init(_ settings: NormaliserSettings) {
    names = QonversionNames(configured: settings.eventNames)
    customer = settings.customerID
  }

  mutating func read(_ object: JSONNode, of tape: JSONTape) { top.read(object, of: tape) }

  func isBody(_ tape: JSONTape) -> Bool {
    guard let name = top.value(.eventName), tape.kind(name) == .string else { return false }
    return top.value(.userID) != nil && top.value(.time) != nil
  }

  func isDamagedBody(_ tape: JSONTape) -> Bool {
    let others: [QonversionField] = [.userID, .time, .productID, .transaction, .revenue]
    let seen = others.count { top.value($0) != nil }
    return top.value(.eventName) == nil ? seen >= 4 : seen >= 1
  }

  /// Turns the body into its event, or returns why there is none.
  ///
  /// Adds nothing to `batch` before the whole body is checked.
  mutating func normalise(
    _ object: JSONNode, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) throws(BodyProblem) -> SkipReason? {
    let name = try tape.word(top[.eventName])
    guard !name.isEmpty else { throw .missing("event_name") }
    let meaning = names.meaning(of: name)
    if case .skipped(let reason) = meaning { return reason }
    let kind = if case .event(let kind) = meaning { kind } else { EventKind.other }
    var draft = EventDraft(event: Event(kind: kind, time: Instant(milliseconds: 0)))
    draft.name = name
    try read(into: &draft, tape)
    if let customer {
      var value = top[.userID]
      value.node = tape.member(object, customer.rawValue)
      // A malformed id does not reject the line.
      if let id = try? tape.identifier(value) { draft.customer = id }
    }
    draft.event.body = Fingerprint.of(tape.bytes(object))
    draft.event.received = delivery.received ?? top.receiveTime(.received, of: tape)
    draft.event.place = delivery.place
    batch.note(
      roundedAmounts: draft.roundedAmounts, missingIsProceed: draft.event.lacksIsProceed ? 1 : 0,
      entitlements: entitlements(beyond: draft.event, tape))
    batch.add(draft)
    if meaning == nil { batch.noteUnknown(.eventName, name, of: delivery) }
    noteUnknown(in: object, of: tape, draft.event.store, delivery, to: &batch)
    return nil
  }

  private func noteUnknown(
    in object: JSONNode, of tape: JSONTape, _ store: Store, _ delivery: Delivery,
    to batch: inout EventBatch
  ) {
    if store == .unknown, let platform = top.value(.platform), !tape.bytes(platform).isEmpty {
      batch.noteUnknown(.platform, tape.bytes(platform), of: delivery)
    }
    top.noteUnknown(in: object, of: tape, delivery, to: &batch)
    transaction.noteUnknown(in: top.value(.transaction), of: tape, delivery, to: &batch)
    revenue.noteUnknown(in: top.value(.revenue), of: tape, delivery, to: &batch)
    price.noteUnknown(in: top.value(.price), of: tape, delivery, to: &batch)
  }

  /// Reads all fields except the event's name and kind into the new `draft`.
  private mutating func read(into draft: inout EventDraft, _ tape: JSONTape) throws(BodyProblem) {
    draft.user = try tape.identifier(top[.userID])
    guard !draft.user.isEmpty else { throw .missing("user_id") }
    guard top.value(.time) != nil else { throw .missing("time") }
    guard let time = try tape.eventTime(top[.time]) else {
      throw BodyProblem(.badTime, "time: empty or 0")
    }
    draft.event.time = time
    draft.event.created = try tape.instant(top[.createdAt])
    draft.event.renewalCount = try tape.counter(top[.subscriptionRenewCount])
    if let units = try? tape.counter(top[.quantity]), units > 1 { draft.event.units = units }
    try readPlace(into: &draft, tape)
    try readProducts(into: &draft, tape)
    try readTransaction(into: &draft, tape)
    try readRevenue(into: &draft, tape)
    try readPrice(into: &draft, tape)
  }

  /// Reads the event's environment, store, app and country.
  private func readPlace(into draft: inout EventDraft, _ tape: JSONTape) throws(BodyProblem) {
    draft.event.environment = try tape.environment(top[.environment])
    draft.event.store = Store(Term(bytes: try tape.word(top[.platform]))) ?? .unknown
    draft.app = try tape.identifier(top[.appID])
    if draft.app.isEmpty, let name = top.value(.projectName), tape.kind(name) == .string {
      draft.mark = Fingerprint.of(tape.bytes(name))
    }
    draft.country = try tape.word(top[.country])
    draft.storefront = try tape.word(top[.storefront])
  }

  private mutating func readProducts(
    into draft: inout EventDraft, _ tape: JSONTape
  ) throws(BodyProblem) {
    draft.product = try tape.identifier(top[.productID])
    // On Play, a group is a base plan; a malformed group does not reject the line.
    if draft.event.store == .playStore {
      draft.basePlan = (try? tape.identifier(top[.subscriptionGroup])) ?? .none
    }
    let old = try tape.identifier(top[.oldProductID])
    let new = try tape.identifier(top[.newProductID])
    guard draft.event.kind.isProductChange else { return }
    if !new.isEmpty { draft.product = new }
    draft.previousProduct = old
    draft.event.entitledUntil = top.value(.entitlements).flatMap {
      grants.end(among: $0, for: draft, tape)
    }
  }

  private mutating func readTransaction(
    into draft: inout EventDraft, _ tape: JSONTape
  ) throws(BodyProblem) {
    guard let sent = try tape.filledObject(top[.transaction]) else { return }
    transaction.read(sent, of: tape)
    draft.transaction = try tape.transactionID(transaction[.transactionID])
    let original = try tape.transactionID(transaction[.originalTransactionID])
    draft.original = original.isEmpty ? draft.transaction : original
    draft.event.periodStart = try tape.eventTime(transaction[.transactionDate])
    draft.event.periodEnd = try tape.eventTime(transaction[.expires])
    draft.event.graceEnd = try tape.instant(transaction[.gracePeriodExpires])
  }

  private mutating func readRevenue(
    into draft: inout EventDraft, _ tape: JSONTape
  ) throws(BodyProblem) {
    guard let sent = try tape.filledObject(top[.revenue]) else { return }
    revenue.read(sent, of: tape)
    var money = Revenue()
    money.local = try tape.amount(revenue[.value], rounded: &draft.roundedAmounts)
    money.usd = try tape.dollars(revenue[.valueUSD], rounded: &draft.roundedAmounts)
    try tape.checkWorth(of: money.local, money.usd, in: revenue[.value])
    draft.currency = try tape.word(revenue[.currency])
    money.isProceed = try tape.truth(revenue[.isProceed])
    money.rate = try tape.amount(revenue[.proceedsRate], rounded: &draft.roundedAmounts)
    draft.event.revenue = money
  }

  private mutating func readPrice(
    into draft: inout EventDraft, _ tape: JSONTape
  ) throws(BodyProblem) {
    guard let sent = try tape.filledObject(top[.price]) else { return }
    price.read(sent, of: tape)
    var money = Price()
    money.local = try tape.amount(price[.value], rounded: &draft.roundedAmounts)
    money.usd = try tape.dollars(price[.valueUSD], rounded: &draft.roundedAmounts)
    try tape.checkWorth(of: money.local, money.usd, in: price[.value])
    draft.priceCurrency = try tape.word(price[.currency])
    // The price is per unit, revenue is for all units.
    let units = draft.event.units
    if units > 1 {
      money.local = money.local?.times(Int64(units), max: .lineMax)
      money.usd = money.usd?.times(Int64(units), max: .lineMaxUSD)
    }
    draft.event.price = money
  }

  /// The body's entitlements if they contain more than its event does, else none; ignores malformed
  /// ones.
  private mutating func entitlements(beyond event: Event, _ tape: JSONTape) -> [Entitlement] {
    guard event.environment == .production, let list = top.value(.entitlements),
      grants.showMore(list, than: event, tape)
    else { return [] }
    return (try? entitlements.entitlements(list, of: tape)) ?? []
  }
}

private extension Event {
  /// Whether it is a charge or refund whose money is not marked as price or proceeds.
  var lacksIsProceed: Bool {
    guard let revenue, revenue.isProceed == nil else { return false }
    return kind.chargeKind != nil || kind.isRefund || kind.isProductChange
  }
}
