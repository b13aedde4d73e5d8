import Domain

/// Writes occurrences as FLOBUK sends them: the state of one purchase.
///
/// Sources: docs.iapguard.com and flobuk.gitlab.io/validator, Webhook, as condensed in the notes on
/// providers.
struct FlobukEncoder {
  let customer: CustomerSimulation
  let span: TimeSpan
  private var person: Person { customer.person }

  /// The JSON body of the `index`th occurrence of the customer.
  func body(of index: Int) -> JSON {
    let occurrence = customer.occurrences[index]
    let isTimed = person.shop.sendsNewerBodies(at: occurrence.time, in: span)
    return [
      "transaction": person.id(occurrence.transaction),
      "data": customer.flobukState(occurrence.part, at: occurrence.time).json(of: person),
      "store": .text(person.shop.flobukStore),
      "user": customer.namesFlobukUser(occurrence) ? .text(person.accountName) : nil,
      "timestamp": isTimed ? .int(person.flobukTime(occurrence.time)) : nil,
    ]
  }
}

/// The state of one purchase as FLOBUK puts it into `data`.
struct FlobukState: Sendable {
  var product: Int
  /// Nil for what does not renew.
  var expires: Int64?
  /// 0, 1 and 4 are access, anything else is none; the vendor's names of them are not published.
  var status: Int64 = 0
  var renews = true
  var isInBillingRetry = false

  /// The object; the newest bodies, those of one app, have a group and a reason, too.
  func json(of person: Person) -> JSON {
    let isNewest = person.shop.app == 0
    let oneTime = Product.all[product].isConsumable ? "Consumable" : "Non-Consumable"
    let subscription: [(String, JSON?)] = [
      ("status", .int(status)), ("type", .text("Subscription")),
      ("expiresDate", expires.map { .int(person.flobukTime($0)) }),
      ("autoRenew", .bool(renews)), ("billingRetry", .bool(isInBillingRetry)),
      ("groupId", isNewest ? .text(person.app.subscriptionGroup) : nil),
      ("cancelReason", isNewest && !renews ? .int(isInBillingRetry ? 1 : 0) : nil),
    ]
    return .object(
      (expires == nil ? [("type", .text(oneTime))] : subscription) + [
        ("productId", .text(person.app.storeProducts[product])),
        ("sandbox", .bool(person.environment == .sandbox)),
      ])
  }
}

extension CustomerSimulation {
  /// FLOBUK's records of a part of the history at `time`.
  func flobukState(_ part: OccurrencePart, at time: Int64) -> FlobukState {
    if case .purchase(let index) = part { return FlobukState(product: purchases[index].product) }
    guard let period = period(of: part)?.known(at: time) else {
      preconditionFailure("an occurrence of a subscription is in one of its periods")
    }
    let isRetrying = period.billingIssueAt != nil
    let isOver = period.gaveUpAt != nil || period.hasExpired
    let owned = if case .trial = part { Int64(0) } else { Int64(person.noise & 1) }
    return FlobukState(
      product: period.product, expires: period.end, status: isOver ? 3 : isRetrying ? 4 : owned,
      renews: !isOver && period.canceledAt == nil, isInBillingRetry: isRetrying)
  }
}

extension Person {
  /// A time in seconds, as FLOBUK's clock has it; some senders give milliseconds.
  func flobukTime(_ second: Int64) -> Int64 { noise >> 40 & 7 == 0 ? second * 1000 : second }
}
