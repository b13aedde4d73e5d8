import Domain

/// Writes happenings as iaptic sends them: the user's whole collection, and in newer bodies why.
///
/// Sources: iaptic.com and billing.fovea.cc, Webhook, as condensed in the notes on providers.
struct IapticBody {
  let life: Life
  let span: Span
  private var person: Person { life.person }
  private var isOriginal: Bool { person.shop.isOriginalIaptic }

  init(_ life: Life, _ span: Span) {
    self.life = life
    self.span = span
  }

  /// Appends the JSON body of the `index`th happening of the life.
  func write(_ index: Int, into bytes: inout Bytes) {
    let happening = life.happenings[index]
    if life.isIapticTest(happening) {
      bytes.put(person.noise % 2 == 0 ? "{\"type\":\"test\"" : "{\"type\":\"TEST\"")
      writePassword(into: &bytes)
      return bytes.put("}")
    }
    bytes.put("{\"type\":\"purchases.updated\"")
    if !isOriginal { writeNotification(index, happening, into: &bytes) }
    bytes.put(",\"applicationUsername\":")
    bytes.put(quoted: person.accountName)
    writePassword(into: &bytes)
    bytes.put(",\"purchases\":")
    writeIapticPurchases(life.collection(at: happening.time, span), of: person, into: &bytes)
    bytes.put("}")
  }

  /// The secret is here to be looked for where it must not be.
  private func writePassword(into bytes: inout Bytes) {
    bytes.put(",\"password\":\"51a7e1a1-5ec2-4e70-8000-000000000000\"")
  }

  private func writeNotification(
    _ index: Int, _ happening: Happening, into bytes: inout Bytes
  ) {
    bytes.put(",\"notification\":{\"reason\":")
    bytes.put(quoted: iapticReason(happening, person))
    bytes.put(",\"id\":\"ntf-")
    bytes.put(hex: Randomness.mix(person.noise &+ UInt64(index) &* 977), count: 16)
    bytes.put("\",\"date\":")
    bytes.put(
      milliDate: happening.time * 1000 + Int64((person.noise &+ UInt64(index)) % 1_000))
    if happening.kind != .other {
      bytes.put(",\"productId\":")
      bytes.put(quoted: person.iapticProduct(happening.product))
      bytes.put(",\"purchaseId\":")
      bytes.put(quoted: person.iapticID(happening.transaction.original))
      bytes.put(",\"transactionId\":")
      bytes.put(quoted: person.iapticID(happening.transaction))
    }
    bytes.put("}")
  }
}

/// A collection of purchases by product, in webhooks and in snapshots.
func writeIapticPurchases(
  _ purchases: [IapticPurchase], of person: Person, into bytes: inout Bytes
) {
  bytes.put("{")
  for (place, purchase) in purchases.enumerated() {
    if place > 0 { bytes.put(",") }
    bytes.put(quoted: person.iapticProduct(purchase.product))
    bytes.put(":")
    write(purchase, of: person, into: &bytes)
  }
  bytes.put("}")
}

private func write(_ purchase: IapticPurchase, of person: Person, into bytes: inout Bytes) {
  let isOriginal = person.shop.isOriginalIaptic
  bytes.put("{\"productId\":")
  bytes.put(quoted: person.iapticProduct(purchase.product))
  bytes.put(",\"purchaseId\":")
  bytes.put(quoted: person.iapticID(purchase.transaction.original))
  if !isOriginal {
    bytes.put(",\"transactionId\":")
    bytes.put(quoted: person.iapticID(purchase.transaction))
  }
  bytes.put(",\"platform\":")
  bytes.put(quoted: person.iapticPlatform)
  bytes.put(person.environment == .sandbox ? ",\"sandbox\":true" : ",\"sandbox\":false")
  bytes.put(",\"purchaseDate\":")
  bytes.put(milliDate: purchase.purchasedAt * 1000)
  if let expires = purchase.expires {
    writePeriod(purchase, until: expires, isOriginal, into: &bytes)
  }
  bytes.put(",\"cancelationReason\":")
  bytes.put(quoted: purchase.reason)
  if !isOriginal { writeNewer(purchase, of: person, into: &bytes) }
  bytes.put("}")
}

private func writePeriod(
  _ purchase: IapticPurchase, until expires: Int64, _ isOriginal: Bool, into bytes: inout Bytes
) {
  if !isOriginal {
    bytes.put(",\"lastRenewalDate\":")
    bytes.put(milliDate: purchase.renewedAt * 1000)
  }
  bytes.put(",\"expirationDate\":")
  bytes.put(milliDate: expires * 1000)
  bytes.put(purchase.isExpired ? ",\"isExpired\":true" : ",\"isExpired\":false")
  if let since = purchase.lapsesSince {
    bytes.put(",\"renewalIntent\":\"Lapse\",\"renewalIntentChangeDate\":")
    bytes.put(milliDate: since * 1000)
  } else if !purchase.isExpired {
    bytes.put(",\"renewalIntent\":\"Renew\"")
  }
  bytes.put(
    purchase.isInBillingRetry
      ? ",\"isBillingRetryPeriod\":true" : ",\"isBillingRetryPeriod\":false")
  bytes.put(purchase.isTrial ? ",\"isTrialPeriod\":true" : ",\"isTrialPeriod\":false")
  bytes.put(",\"isIntroPeriod\":false")
}

private func writeNewer(_ purchase: IapticPurchase, of person: Person, into bytes: inout Bytes) {
  bytes.put(",\"isPending\":false,\"isAcknowledged\":true,\"quantity\":1")
  if Product.all[purchase.product].isConsumable { bytes.put(",\"isConsumed\":true") }
  if let paid = purchase.paid, !person.isWithoutAmounts {
    bytes.put(",\"currency\":")
    bytes.put(quoted: person.market.currency)
    bytes.put(",\"amountMicros\":")
    bytes.put(paid.local)
    bytes.put(",\"amountUSD\":")
    bytes.put(micros: paid.usd)
  } else {
    bytes.put(",\"currency\":null,\"amountMicros\":null,\"amountUSD\":null")
  }
}
