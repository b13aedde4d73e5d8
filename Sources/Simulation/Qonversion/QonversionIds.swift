import Domain

// Ids as Qonversion and the stores write them.

extension Bytes {
  /// `QON_` and 32 hexadecimal digits; `account` 1 is where a transferred account went, 2 a
  /// member of the family.
  mutating func put(user person: Person, account: UInt64 = 0) {
    put("QON_")
    put(hex: Randomness.mix(person.noise &+ account), count: 16)
    put(hex: Randomness.mix(person.noise ^ 0x5bd1_e995 &+ account), count: 16)
  }

  /// A store's transaction id, as text without quotation marks.
  mutating func put(transaction: TransactionNumber, of person: Person) {
    let life = UInt64(person.number) * 10 + UInt64(transaction.base)
    switch person.shop.store {
    case .appStore:
      // Sixteen digits that begin with 2, as Apple's have done since 2021.
      put(digits: 2_000_000_000_000_000 + life * 1_000 + UInt64(transaction.index), width: 16)
    case .playStore:
      // An order id; renewals append their number from 0.
      put("GPA.33")
      put(digits: life / 100_000_000_000 % 100, width: 2)
      put("-")
      put(digits: life / 10_000_000 % 10_000, width: 4)
      put("-")
      put(digits: life / 1_000 % 10_000, width: 4)
      put("-")
      put(digits: life % 1_000, width: 5)
      if transaction.index > 0 {
        put("..")
        put(Int64(transaction.index - 1))
      }
    default:
      if person.shop.provider == .flobuk {
        put("I-")
      } else {
        put(transaction.index == 0 ? "sub_1Q" : "in_1Q")
      }
      put(digits: life, width: 13)
      if transaction.index > 0 {
        put("r")
        put(Int64(transaction.index))
      }
    }
  }
}

extension Person {
  /// Whether this person's Apple ids are sent as JSON numbers.
  var hasNumericIDs: Bool { shop.store == .appStore && noise & 3 != 0 }

  /// The id as text.
  func text(_ transaction: TransactionNumber) -> String {
    var bytes = Bytes()
    bytes.put(transaction: transaction, of: self)
    return bytes.text
  }

  /// The user id as text.
  func userText(account: UInt64 = 0) -> String {
    var bytes = Bytes()
    bytes.put(user: self, account: account)
    return bytes.text
  }

  var app: App { App.all[shop.app] }

  var entitlementSource: String {
    switch shop.store {
    case .appStore: "appstore"
    case .playStore: "playstore"
    default: "stripe"
    }
  }
}

extension Bytes {
  var text: String { String(decoding: array, as: UTF8.self) }
}

/// Qonversion's default names.
func qonversionName(_ kind: EventKind) -> StaticString {
  switch kind {
  case .trialStarted: "trial_started"
  case .trialConverted: "trial_converted"
  case .trialCanceled: "trial_canceled"
  case .trialBillingRetry: "trial_billing_retry_entered"
  case .trialExpired: "trial_expired"
  case .started: "subscription_started"
  case .renewed: "subscription_renewed"
  case .upgraded: "subscription_upgraded"
  case .downgraded: "subscription_downgraded"
  case .productChanged: "subscription_product_changed"
  case .canceled: "subscription_canceled"
  case .billingRetry: "subscription_billing_retry_entered"
  case .expired: "subscription_expired"
  case .refunded: "subscription_refunded"
  case .purchased: "in_app_purchase"
  case .purchaseRefunded: "in_app_refunded"
  default: "trial_still_active"
  }
}
