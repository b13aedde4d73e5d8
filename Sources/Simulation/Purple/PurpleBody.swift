import Domain

/// Writes happenings as Purple sends them: receipt events.
///
/// Source: docs.purplepublish.com, Receipt Events, as condensed in the notes on providers.
struct PurpleBody {
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
    let noise = Randomness.mix(person.noise &+ UInt64(index))
    bytes.put(noise % 4 == 0 ? "{\"type\":" : "{\"version\":\"1.0\",\"type\":")
    bytes.put(quoted: purpleName(happening.kind))
    bytes.put(",\"properties\":{")
    if happening.kind == .other {
      bytes.put("\"appId\":")
      bytes.put(quoted: person.shop.appID)
    } else {
      writePurchase(happening, noise, into: &bytes)
    }
    bytes.put(person.hasPurpleAccount ? ",\"accountId\":" : ",\"deviceId\":")
    bytes.put(quoted: person.purpleUser)
    bytes.put("},\"eventTimeMillis\":")
    bytes.put(person.purpleTime(of: happening))
    bytes.put("}")
  }

  private func writePurchase(_ happening: Happening, _ noise: UInt64, into bytes: inout Bytes) {
    bytes.put("\"packageName\":")
    bytes.put(quoted: person.shop.appID)
    let names = person.app.storeProducts
    if let previous = happening.previousProduct {
      bytes.put(",\"previousProductId\":")
      bytes.put(quoted: names[previous])
      bytes.put(",\"nextProductId\":")
      bytes.put(quoted: names[happening.product])
    } else {
      bytes.put(",\"productId\":")
      bytes.put(quoted: names[happening.product])
    }
    bytes.put(",\"transactionId\":")
    bytes.put(quoted: person.text(happening.transaction))
    if life.sendsOriginal(happening, in: span) {
      bytes.put(",\"originalTransactionId\":")
      bytes.put(quoted: person.text(happening.transaction.original))
    }
    guard happening.kind == .started || happening.kind == .trialStarted else { return }
    let isTrial = happening.kind == .trialStarted
    // The schema declares strings, the text Booleans.
    if noise % 3 == 0 {
      bytes.put(isTrial ? ",\"trialPeriod\":true" : ",\"trialPeriod\":false")
      bytes.put(",\"introOfferPeriod\":false")
    } else {
      bytes.put(isTrial ? ",\"trialPeriod\":\"true\"" : ",\"trialPeriod\":\"false\"")
      bytes.put(",\"introOfferPeriod\":\"false\"")
    }
  }
}

extension Person {
  /// Whether Purple knows this person by an account rather than by a device.
  var hasPurpleAccount: Bool { noise >> 8 & 3 != 0 }

  /// An account's name is that of the app's own user, which other providers send, too.
  var purpleUser: String {
    guard !hasPurpleAccount else { return accountName }
    var bytes = Bytes()
    bytes.put("dev-")
    bytes.put(hex: Randomness.mix(noise ^ 0xdec1), count: 16)
    return bytes.text
  }

  /// The app's own name for its user.
  var accountName: String { "u-\(number)" }

  /// Purple's clock has milliseconds.
  func purpleTime(of happening: Happening) -> Int64 {
    happening.time * 1000
      + Int64(Randomness.mix(noise ^ UInt64(bitPattern: happening.time)) % 1_000)
  }
}

extension Shop {
  /// Whether Purple's lines name the first transaction: older ones of one app do not.
  func sendsOriginal(at time: Int64, in span: Span) -> Bool { app == 0 || time >= span.priceRise }
}

extension Life {
  /// Whether the line of a happening names the first transaction; changes of product never do.
  func sendsOriginal(_ happening: Happening, in span: Span) -> Bool {
    switch happening.kind {
    case .purchased, .purchaseRefunded: false
    default:
      happening.previousProduct == nil
        && person.shop.sendsOriginal(at: happening.time, in: span)
    }
  }
}

/// Purple's name for what it tells.
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
