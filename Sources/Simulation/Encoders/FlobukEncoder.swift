import Domain

/// Writes occurrences as FLOBUK sends them: the state of one purchase.
///
/// Sources: docs.iapguard.com and flobuk.gitlab.io/validator, Webhook, as condensed in the notes on
/// providers.
struct FlobukEncoder {
  let customer: CustomerSimulation
  let span: TimeSpan
  private var person: Person { customer.person }

  init(_ customer: CustomerSimulation, _ span: TimeSpan) {
    self.customer = customer
    self.span = span
  }

  /// The JSON body of the `index`th occurrence of the customer.
  func body(of index: Int) -> JSON {
    let occurrence = customer.occurrences[index]
    let isTimed = person.shop.sendsTimestamp(at: occurrence.time, in: span)
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
  /// What FLOBUK knows at `time` of a part of the history.
  func flobukState(_ part: OccurrencePart, at time: Int64) -> FlobukState {
    func isPast(_ moment: Int64?) -> Bool { moment.map { $0 <= time } ?? false }
    switch part {
    case .purchase(let index): return FlobukState(product: purchases[index].product)
    case .trial(let number):
      guard let trial = subscriptions[number].trial else {
        preconditionFailure("an occurrence of a trial has one")
      }
      let isRetrying = isPast(trial.billingIssueAt)
      let isOver = trial.isOver(at: time)
      return FlobukState(
        product: trial.product, expires: trial.end, status: isOver ? 3 : isRetrying ? 4 : 0,
        renews: !isOver && !isPast(trial.canceledAt), isInBillingRetry: isRetrying)
    case .period(let number, let index):
      let period = subscriptions[number].periods[index]
      let isRetrying = isPast(period.billingIssueAt)
      let isOver = isPast(period.gaveUpAt) || period.hasExpired && period.end <= time
      let owned: Int64 = isRetrying ? 4 : Int64(person.noise & 1)
      return FlobukState(
        product: period.charge.product, expires: period.end, status: isOver ? 3 : owned,
        renews: !isOver && !isPast(period.canceledAt), isInBillingRetry: isRetrying)
    }
  }
}

extension TrialPeriod {
  /// Whether the store has given up on it by `time`.
  func isOver(at time: Int64) -> Bool {
    let isRetrying = billingIssueAt.map { $0 <= time } ?? false
    return hasExpired && (isRetrying ? end + 60 * day : end) <= time
  }
}

extension Person {
  /// A time in seconds, as FLOBUK's clock has it; some senders give milliseconds.
  func flobukTime(_ second: Int64) -> Int64 { noise >> 40 & 7 == 0 ? second * 1000 : second }
}

extension Shop {
  /// Whether bodies say when they were made: the oldest ones, of one app, do not.
  func sendsTimestamp(at time: Int64, in span: TimeSpan) -> Bool {
    app == 0 || time >= span.priceRise
  }
}
