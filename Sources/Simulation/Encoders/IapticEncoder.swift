import Domain

/// Writes occurrences as iaptic sends them: the user's whole collection, and in newer bodies why.
///
/// Sources: iaptic.com and billing.fovea.cc, Webhook, as condensed in the notes on providers.
struct IapticEncoder {
  let customer: CustomerSimulation
  let span: TimeSpan
  private var person: Person { customer.person }

  /// The JSON body of the `index`th occurrence of the customer.
  func body(of index: Int) -> JSON {
    let occurrence = customer.occurrences[index]
    // The secret is here to be looked for where it must not be.
    let password = JSON.text("51a7e1a1-5ec2-4e70-8000-000000000000")
    if customer.isIapticTest(occurrence) {
      return ["type": .text(person.noise % 2 == 0 ? "test" : "TEST"), "password": password]
    }
    return [
      "type": .text("purchases.updated"),
      "notification": person.shop.isOriginalIaptic ? nil : notification(index, occurrence),
      "applicationUsername": .text(person.accountName),
      "password": password,
      "purchases": customer.iapticPurchases(at: occurrence.time, span),
    ]
  }

  private func notification(_ index: Int, _ occurrence: Occurrence) -> JSON {
    let milliseconds = Int64((person.noise &+ UInt64(index)) % 1_000)
    let isAboutPurchase = occurrence.kind != .other
    let original = occurrence.transaction.original
    return [
      "reason": .text(iapticReason(occurrence, person)),
      "id": .text("ntf-" + hexadecimal(Randomness.mix(person.noise &+ UInt64(index) &* 977), 16)),
      "date": .iapticDate(occurrence.time * 1000 + milliseconds),
      "productId": isAboutPurchase ? .text(person.iapticProduct(occurrence.product)) : nil,
      "purchaseId": isAboutPurchase ? .text(person.iapticID(original)) : nil,
      "transactionId": isAboutPurchase ? .text(person.iapticID(occurrence.transaction)) : nil,
    ]
  }
}

extension CustomerSimulation {
  /// The collection of purchases by product, in webhooks and in snapshots.
  func iapticPurchases(at time: Int64, _ span: TimeSpan) -> JSON {
    .object(
      collection(at: time, span).map { (person.iapticProduct($0.product), $0.json(of: person)) })
  }

  /// Whether the line is a press of the test button rather than news.
  func isIapticTest(_ occurrence: Occurrence) -> Bool {
    occurrence.kind == .other && (person.shop.isOriginalIaptic || person.noise >> 24 & 1 == 0)
  }
}

extension IapticPurchase {
  func json(of person: Person) -> JSON {
    let isNewer = !person.shop.isOriginalIaptic
    let identity: [(String, JSON?)] = [
      ("productId", .text(person.iapticProduct(product))),
      ("purchaseId", .text(person.iapticID(transaction.original))),
      ("transactionId", isNewer ? .text(person.iapticID(transaction)) : nil),
      ("platform", .text(person.shop.iapticPlatform)),
      ("sandbox", .bool(person.environment == .sandbox)),
      ("purchaseDate", .iapticDate(purchasedAt * 1000)),
    ]
    let dates = expires.map { period(until: $0, isNewer) } ?? []
    let end: [(String, JSON?)] = [("cancelationReason", .text(reason))]
    return .object(identity + dates + end + (isNewer ? newer(of: person) : []))
  }

  private func period(until expires: Int64, _ isNewer: Bool) -> [(String, JSON?)] {
    let intent = lapsesSince != nil ? "Lapse" : isExpired ? nil : "Renew"
    return [
      ("lastRenewalDate", isNewer ? .iapticDate(renewedAt * 1000) : nil),
      ("expirationDate", .iapticDate(expires * 1000)),
      ("isExpired", .bool(isExpired)),
      ("renewalIntent", intent.map { .text($0) }),
      ("renewalIntentChangeDate", lapsesSince.map { .iapticDate($0 * 1000) }),
      ("isBillingRetryPeriod", .bool(isInBillingRetry)),
      ("isTrialPeriod", .bool(isTrial)),
      ("isIntroPeriod", .bool(isIntro)),
    ]
  }

  private func newer(of person: Person) -> [(String, JSON?)] {
    let paid = person.isWithoutAmounts ? nil : paid
    return [
      ("isPending", .bool(false)), ("isAcknowledged", .bool(true)), ("quantity", .int(1)),
      ("isConsumed", Product.all[product].isConsumable ? .bool(true) : nil),
      ("currency", paid.map { _ in .text(person.market.currency) } ?? .null),
      ("amountMicros", .number(paid?.local)),
      ("amountUSD", paid.map { .micros($0.usd) } ?? .null),
    ]
  }
}

extension Person {
  func iapticID(_ transaction: TransactionNumber) -> String {
    "\(shop.iapticPlatform):\(text(transaction))"
  }

  /// A store product id as iaptic writes it.
  func iapticProduct(_ product: Int) -> String {
    "\(shop.iapticPlatform):\(app.storeProducts[product])"
  }
}

/// iaptic's name for why it calls.
func iapticReason(_ occurrence: Occurrence, _ person: Person) -> String {
  switch occurrence.kind {
  case .trialStarted, .started, .purchased: "PURCHASED"
  case .renewed: "RENEWED"
  case .canceled, .trialCanceled: "WILL_LAPSE"
  case .graceEntered: "ENTERED_GRACE_PERIOD"
  case .expired, .trialExpired: "EXPIRED"
  case .refunded, .purchaseRefunded: "REFUNDED"
  case .other: person.noise >> 25 & 1 == 0 ? "RECEIPT_REFRESHED" : "WEBHOOK_REPEATED"
  default: "OTHER"
  }
}

extension JSON {
  static func iapticDate(_ milliseconds: Int64) -> JSON {
    let second = Instant(milliseconds: milliseconds - milliseconds % 1_000).text.prefix(19)
    return .text("\(second).\(decimal(UInt64(milliseconds % 1_000), width: 3))Z")
  }
}
