import Domain

extension Person {
  /// iaptic's word for the shop, which stands before every id.
  var iapticPlatform: String {
    switch shop.store {
    case .appStore: "apple"
    case .playStore: "google"
    default: "stripe"
    }
  }

  /// A store transaction id as iaptic writes it.
  func iapticID(_ transaction: TransactionNumber) -> String {
    "\(iapticPlatform):\(text(transaction))"
  }

  /// A store product id as iaptic writes it.
  func iapticProduct(_ product: Int) -> String { "\(iapticPlatform):\(app.storeProducts[product])" }

  /// Whether two addresses receive and archive every call.
  var hasTwoAddresses: Bool { shop.provider == .iaptic && noise >> 20 & 3 == 0 }
}

extension Life {
  /// Whether the line is a press of the test button rather than news.
  func isIapticTest(_ happening: Happening) -> Bool {
    happening.kind == .other && (person.shop.isOriginalIaptic || person.noise >> 24 & 1 == 0)
  }
}

/// iaptic's word for why it calls.
func iapticReason(_ happening: Happening, _ person: Person) -> String {
  switch happening.kind {
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

extension Bytes {
  /// An instant as a JSON string with milliseconds, as iaptic writes it.
  mutating func put(milliDate milliseconds: Int64) {
    let whole = Instant(milliseconds: milliseconds - milliseconds % 1_000).text
    put("\"")
    put(word: String(whole.prefix(19)))
    put(".")
    put(digits: UInt64(milliseconds % 1_000), width: 3)
    put("Z\"")
  }
}
