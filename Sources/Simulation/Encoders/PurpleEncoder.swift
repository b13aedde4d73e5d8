import Domain

/// Writes occurrences as Purple sends them: receipt events.
///
/// Source: docs.purplepublish.com, Receipt Events, as condensed in the notes on providers.
struct PurpleEncoder {
  let customer: CustomerSimulation
  let span: TimeSpan
  private var person: Person { customer.person }

  /// The JSON body of the `index`th occurrence of the customer.
  func body(of index: Int) -> JSON {
    let occurrence = customer.occurrences[index]
    let noise = Randomness.mix(person.noise &+ UInt64(index))
    let purchase: [(String, JSON?)] =
      occurrence.kind == .other
      ? [("appId", .text(person.shop.appID))] : purchase(occurrence, noise)
    let user = (person.hasPurpleAccount ? "accountId" : "deviceId", JSON.text(person.purpleUser))
    return [
      "version": noise % 4 == 0 ? nil : .text("1.0"),
      "type": .text(purpleName(occurrence.kind)),
      "properties": .object(purchase + [user]),
      "eventTimeMillis": .int(person.purpleTime(of: occurrence)),
    ]
  }

  private func purchase(_ occurrence: Occurrence, _ noise: UInt64) -> [(String, JSON?)] {
    let product = JSON.text(person.app.storeProducts[occurrence.product])
    let previous = occurrence.previousProduct.map { JSON.text(person.app.storeProducts[$0]) }
    let sendsOriginal = customer.sendsOriginal(occurrence, in: span)
    let isTrial = occurrence.kind == .trialStarted
    let isStart = occurrence.kind == .started || isTrial
    // The schema declares strings, the text Booleans.
    let flag = { (flag: Bool) in noise % 3 == 0 ? JSON.bool(flag) : .text("\(flag)") }
    return [
      ("packageName", .text(person.shop.appID)),
      ("previousProductId", previous),
      (previous == nil ? "productId" : "nextProductId", product),
      ("transactionId", .text(person.text(occurrence.transaction))),
      (
        "originalTransactionId",
        sendsOriginal ? .text(person.text(occurrence.transaction.original)) : nil
      ),
      ("trialPeriod", isStart ? flag(isTrial) : nil),
      ("introOfferPeriod", isStart ? flag(false) : nil),
    ]
  }
}

extension Person {
  /// Purple's clock has milliseconds.
  func purpleTime(of occurrence: Occurrence) -> Int64 {
    occurrence.time * 1000
      + Int64(Randomness.mix(noise ^ UInt64(bitPattern: occurrence.time)) % 1_000)
  }
}

extension Shop {
  /// Whether FLOBUK's bodies contain their creation time and Purple's name the first transaction:
  /// older ones of one app do not.
  func sendsNewerBodies(at time: Int64, in span: TimeSpan) -> Bool {
    app == 0 || time >= span.priceRise
  }
}

extension CustomerSimulation {
  /// Whether the line of an occurrence names the first transaction; changes of product never do.
  func sendsOriginal(_ occurrence: Occurrence, in span: TimeSpan) -> Bool {
    switch occurrence.kind {
    case .purchased, .purchaseRefunded: false
    default:
      occurrence.previousProduct == nil
        && person.shop.sendsNewerBodies(at: occurrence.time, in: span)
    }
  }
}

func purpleName(_ kind: EventKind) -> String {
  switch kind {
  case .trialStarted, .started: "SUBSCRIPTION_PURCHASED"
  case .renewed: "SUBSCRIPTION_RENEWED"
  case .recovered: "SUBSCRIPTION_RECOVERED"
  case .resubscribed: "SUBSCRIPTION_RESUBSCRIBED"
  case .upgraded: "SUBSCRIPTION_UPGRADED"
  case .downgraded: "SUBSCRIPTION_DOWNGRADED"
  case .canceled: "SUBSCRIPTION_CANCELLED"
  case .graceEntered: "SUBSCRIPTION_RENEWAL_FAILED"
  case .endedInvoluntarily: "SUBSCRIPTION_CANCELLED_INVOLUNTARY"
  case .expired: "SUBSCRIPTION_EXPIRED"
  case .purchased: "PRODUCT_PURCHASED"
  case .purchaseRefunded: "PRODUCT_CANCELLED"
  default: "ACCOUNT_ASSIGNMENTS_CHANGED"
  }
}
