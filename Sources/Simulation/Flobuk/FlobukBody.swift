import Domain

/// Writes happenings as FLOBUK sends them: the state of one purchase.
///
/// Sources: docs.iapguard.com and flobuk.gitlab.io/validator, Webhook, as condensed in the notes on
/// providers.
struct FlobukBody {
  let life: Life
  let span: Span
  private var person: Person { life.person }

  init(_ life: Life, _ span: Span) {
    self.life = life
    self.span = span
  }

  /// Appends the JSON body of the `index`th happening of the life.
  func write(_ index: Int, into bytes: inout Bytes) {
    let happening = life.happenings[index]
    bytes.put("{\"transaction\":")
    if person.hasNumericIDs {
      bytes.put(word: person.text(happening.transaction))
    } else {
      bytes.put(quoted: person.text(happening.transaction))
    }
    bytes.put(",\"data\":")
    life.flobukState(happening.part, at: happening.time)
      .write(of: person, isNewest: person.shop.app == 0, into: &bytes)
    bytes.put(",\"store\":")
    bytes.put(quoted: person.flobukStore)
    if life.namesFlobukUser(happening) {
      bytes.put(",\"user\":")
      bytes.put(quoted: person.accountName)
    }
    if person.shop.sendsTimestamp(at: happening.time, in: span) {
      bytes.put(",\"timestamp\":")
      bytes.put(person.flobukTime(happening.time))
    }
    bytes.put("}")
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

  /// Appends the object; the newest bodies have a group and a reason, too.
  func write(of person: Person, isNewest: Bool, into bytes: inout Bytes) {
    bytes.put("{")
    guard let expires else {
      bytes.put(
        Product.all[product].isConsumable
          ? "\"type\":\"Consumable\"" : "\"type\":\"Non-Consumable\"")
      return writeEnd(of: person, into: &bytes)
    }
    bytes.put("\"status\":")
    bytes.put(status)
    bytes.put(",\"type\":\"Subscription\",\"expiresDate\":")
    bytes.put(person.flobukTime(expires))
    bytes.put(renews ? ",\"autoRenew\":true" : ",\"autoRenew\":false")
    bytes.put(isInBillingRetry ? ",\"billingRetry\":true" : ",\"billingRetry\":false")
    if isNewest {
      bytes.put(",\"groupId\":")
      bytes.put(quoted: person.app.subscriptionGroup)
      if !renews { bytes.put(isInBillingRetry ? ",\"cancelReason\":1" : ",\"cancelReason\":0") }
    }
    bytes.put(",")
    writeEnd(of: person, isFirst: true, into: &bytes)
  }

  private func writeEnd(of person: Person, isFirst: Bool = false, into bytes: inout Bytes) {
    bytes.put(isFirst ? "\"productId\":" : ",\"productId\":")
    bytes.put(quoted: person.app.storeProducts[product])
    bytes.put(person.environment == .sandbox ? ",\"sandbox\":true}" : ",\"sandbox\":false}")
  }
}

extension Life {
  /// What FLOBUK knows at `time` of a part of the life.
  func flobukState(_ part: LifePart, at time: Int64) -> FlobukState {
    func isPast(_ moment: Int64?) -> Bool { moment.map { $0 <= time } ?? false }
    switch part {
    case .purchase(let index): return FlobukState(product: purchases[index].product)
    case .trial(let number):
      guard let trial = subscriptions[number].trial else {
        preconditionFailure("a happening of a trial has one")
      }
      let isRetrying = isPast(trial.billingIssueAt)
      let over = isRetrying ? trial.end + 60 * day : trial.end
      let isOver = trial.isToldExpired && over <= time
      return FlobukState(
        product: trial.product, expires: trial.end, status: isOver ? 3 : isRetrying ? 4 : 0,
        renews: !isOver && !isPast(trial.canceledAt), isInBillingRetry: isRetrying)
    case .period(let number, let index):
      let period = subscriptions[number].periods[index]
      let isRetrying = isPast(period.billingIssueAt)
      let isOver = isPast(period.gaveUpAt) || period.isToldExpired && period.end <= time
      let owned: Int64 = isRetrying ? 4 : Int64(person.noise & 1)
      return FlobukState(
        product: period.charge.product, expires: period.end, status: isOver ? 3 : owned,
        renews: !isOver && !isPast(period.canceledAt), isInBillingRetry: isRetrying)
    }
  }
}

extension Person {
  /// FLOBUK's word for the shop.
  var flobukStore: String {
    switch shop.store {
    case .appStore: "AppleAppStore"
    case .playStore: "GooglePlay"
    default: "PayPal"
    }
  }

  /// A time in seconds, as FLOBUK's clock has it; some senders give milliseconds.
  func flobukTime(_ second: Int64) -> Int64 { noise >> 40 & 7 == 0 ? second * 1000 : second }
}

extension Shop {
  /// Whether bodies tell when they were made: the oldest ones, of one app, do not.
  func sendsTimestamp(at time: Int64, in span: Span) -> Bool { app == 0 || time >= span.priceRise }
}
