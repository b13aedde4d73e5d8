import Domain

extension Sender {
  static let iaptic = Sender(
    attempts: [0, 60, 660, 4_260, 25_860, 79_860],
    hasSecondAddress: { $0.noise >> 20 & 3 == 0 },
    coverage: { _, shop in
      shop.isOriginalIaptic
        ? (.near, "no date of a renewal is sent: late and recovered ones cannot be dated")
        : (.exact, "kinds and periods are sent; amounts are sent or the list's")
    },
    seen: { $1.withIntroOffer($0.seenByIaptic) },
    body: { event, _, _ in event.iapticBody },
    snapshot: { customer in
      // `GET /v2/customers/{applicationUsername}/purchases`.
      let end = customer.span.end
      return [
        "applicationUsername": customer.person.accountName, "captured_at": JSON.date(end),
        "purchases": customer.iapticPurchases(at: end),
      ]
    },
    nameOfOther: { $0.isIapticTest ? "skipped" : "observed" },
    name: {
      let reason = $0.person.shop.isOriginalIaptic ? "purchases.updated" : $0.iapticReason
      return $0.isIapticTest ? "test" : reason
    },
    user: \.person.accountName, evidence: \.ofIaptic)
}

// iaptic's bodies: the user's whole collection and, in newer bodies, the reason.
//
// Sources: iaptic.com and billing.fovea.cc, Webhook, as summarized in the notes on providers.

extension SentEvent {
  var iapticBody: JSON {
    // A secret that tests search for where it must not appear.
    let password = "51a7e1a1-5ec2-4e70-8000-000000000000"
    if isIapticTest {
      return ["type": person.noise % 2 == 0 ? "test" : "TEST", "password": password]
    }
    return [
      "type": "purchases.updated",
      "notification": person.shop.isOriginalIaptic ? nil : notification,
      "applicationUsername": person.accountName, "password": password,
      "purchases": customer.iapticPurchases(at: occurrence.time),
    ]
  }

  private var notification: JSON {
    let milliseconds = Int64((person.noise &+ UInt64(index)) % 1_000)
    let notification: JSON = [
      "reason": iapticReason,
      "id": "ntf-" + Randomness.mix(person.noise &+ UInt64(index) &* 977).hexadecimal,
      "date": iapticDate(occurrence.time * 1000 + milliseconds),
    ]
    guard occurrence.kind != .other else { return notification }
    return notification + [
      "productId": person.iapticProduct(occurrence.product),
      "purchaseId": person.iapticID(occurrence.transaction.original),
      "transactionId": person.iapticID(occurrence.transaction),
    ]
  }

  /// iaptic's reason for the call.
  var iapticReason: String {
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

  var isIapticTest: Bool { customer.isIapticTest(occurrence) }
}

extension CustomerSimulation {
  /// The purchases by product, in webhooks and in snapshots.
  func iapticPurchases(at time: Int64) -> JSON {
    JSON(
      collection(at: time).map {
        (person.iapticProduct($0.charge.product), $0.json(of: person))
      })
  }

  /// Whether the line comes from the test button.
  func isIapticTest(_ occurrence: Occurrence) -> Bool {
    occurrence.kind == .other && (person.shop.isOriginalIaptic || person.noise >> 24 & 1 == 0)
  }

  /// All purchases of the user at `time`, the last of each product, in the order of products.
  ///
  /// Charges before the archives begin also precede the use of iaptic.
  func collection(at time: Int64) -> [IapticPurchase] {
    var held: [Product: IapticPurchase] = [:]
    for subscription in subscriptions {
      let start = subscription.trial?.start ?? subscription.periods.first?.start ?? time
      if let trial = subscription.trial, (span.start...time).contains(trial.start) {
        held[trial.product] = purchase(trial, isTrial: true, from: trial.start, at: time)
      }
      for period in subscription.periods
      where period.charge.time >= span.start && period.charge.time <= time {
        for (product, other) in held where product != period.product && !other.isExpired {
          held[product]?.isExpired = true
          held[product]?.reason = "System.Replaced"
        }
        held[period.product] = purchase(period, from: start, at: time)
      }
    }
    // Collections of the first years omit refunded purchases.
    if person.shop.isOriginalIaptic {
      for period in paidPeriods where period.revokedAt.map({ $0 <= time }) ?? false {
        if held[period.product]?.charge.transaction == period.charge.transaction {
          held[period.product] = nil
        }
      }
    }
    for charge in purchases where charge.time <= time {
      let isGone = charge.wholeRefundAt.map { $0 <= time } ?? false
      guard !isGone || !person.shop.isOriginalIaptic else { continue }
      held[charge.product] = IapticPurchase(
        charge: charge, purchasedAt: charge.time, reason: isGone ? "Customer" : "")
    }
    return Product.allCases.compactMap { held[$0] }
  }

  /// The purchase for a period of a subscription that began at `start`.
  private func purchase(
    _ period: AccessPeriod, isTrial: Bool = false, from start: Int64, at time: Int64
  ) -> IapticPurchase {
    let known = period.known(at: time)
    let isRetrying = known.billingIssueAt != nil
    let hasFailed = known.gaveUpAt != nil || known.hasExpired && isRetrying
    var reason = known.hasExpired ? "Unknown" : ""
    if hasFailed {
      reason = "System.BillingError"
    } else if known.revokedAt != nil {
      reason = "Customer"
    } else if known.canceledAt != nil {
      let isRefusal = reportedReason(of: period) == .priceIncrease
      let own = person.noise % 3 == 0 ? "Customer.Cost" : "Customer"
      reason = isTrial ? "Customer" : isRefusal ? "Customer.PriceIncrease" : own
    }
    return IapticPurchase(
      charge: period.charge, purchasedAt: start, period: known, isTrial: isTrial,
      isExpired: hasFailed || known.revokedAt != nil || known.hasExpired,
      isInBillingRetry: isRetrying && !hasFailed, reason: reason)
  }
}

/// One purchase in iaptic's collections: the last transaction of a product.
struct IapticPurchase: Sendable {
  var charge: Charge
  var purchasedAt: Int64
  /// Nil for purchases that do not renew.
  var period: AccessPeriod?
  var isTrial = false
  var isExpired = false
  var isInBillingRetry = false
  /// The reason for a cancellation or an end; otherwise empty.
  var reason: String

  func json(of person: Person) -> JSON {
    let isNewer = !person.shop.isOriginalIaptic
    let identity: JSON = [
      "productId": person.iapticProduct(charge.product),
      "purchaseId": person.iapticID(charge.transaction.original),
      "transactionId": isNewer ? person.iapticID(charge.transaction) : nil,
      "platform": person.shop.iapticPlatform, "sandbox": person.environment == .sandbox,
      "purchaseDate": iapticDate(purchasedAt * 1000),
    ]
    let state = period.map { identity + dates(of: $0, isNewer) } ?? identity
    let body = state + ["cancelationReason": reason]
    guard isNewer else { return body }
    let paid = isTrial || person.isWithoutAmounts ? nil : charge.gross
    return body + [
      "isPending": false, "isAcknowledged": true, "quantity": 1,
      "isConsumed": charge.product.isConsumable ? true : nil,
      "currency": paid.map { _ in person.market.currency }.orNull,
      "amountMicros": (paid?.local).orNull, "amountUSD": paid.map { JSON.micros($0.usd) }.orNull,
    ]
  }

  private func dates(of period: AccessPeriod, _ isNewer: Bool) -> JSON {
    [
      "lastRenewalDate": isNewer ? iapticDate(period.start * 1000) : nil,
      "expirationDate": iapticDate(period.end * 1000), "isExpired": isExpired,
      "renewalIntent": period.canceledAt != nil ? "Lapse" : isExpired ? nil : "Renew",
      "renewalIntentChangeDate": period.canceledAt.map { iapticDate($0 * 1000) },
      "isBillingRetryPeriod": isInBillingRetry, "isTrialPeriod": isTrial,
      "isIntroPeriod": charge.kind == .first && charge.isOffer,
    ]
  }
}

extension Shop {
  /// Whether the integration is from the first years: no reason, no transaction id, no money.
  var isOriginalIaptic: Bool { app == .reader }

  /// iaptic's name for the store, which prefixes every id.
  var iapticPlatform: String { ["apple", "google", "stripe"][storeIndex] }
}

extension Person {
  /// Whether iaptic has no amounts for this person, which may be null.
  var isWithoutAmounts: Bool { shop.isOriginalIaptic || noise >> 12 & 3 == 0 }

  func iapticID(_ transaction: TransactionNumber) -> String {
    "\(shop.iapticPlatform):\(text(transaction))"
  }

  /// A store product id in iaptic's format.
  func iapticProduct(_ product: Product) -> String {
    "\(shop.iapticPlatform):\(app.storeID(of: product))"
  }
}

private func iapticDate(_ milliseconds: Int64) -> String {
  let second = Instant(milliseconds: milliseconds - milliseconds % 1_000).text.prefix(19)
  return "\(second).\(String(milliseconds % 1_000).zeroPadded(to: 3))Z"
}
