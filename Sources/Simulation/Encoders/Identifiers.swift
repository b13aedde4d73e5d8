import Domain

// Ids as the stores and the providers write them.

extension Person {
  var app: App { App.all[shop.app] }

  /// `QON_` and 32 hexadecimal digits; `account` 1 is where a transferred account went, 2 a
  /// member of the family.
  func qonversionUser(account: UInt64 = 0) -> String {
    "QON_" + hexadecimal(Randomness.mix(noise &+ account), 16)
      + hexadecimal(Randomness.mix(noise ^ 0x5bd1_e995 &+ account), 16)
  }

  /// The app's own name for its user.
  var accountName: String { "u-\(number)" }

  /// Purple's name for the user: an account's is that of the app's own user, which other providers
  /// send, too.
  var purpleUser: String {
    hasPurpleAccount ? accountName : "dev-" + hexadecimal(Randomness.mix(noise ^ 0xdec1), 16)
  }

  /// Whether Purple identifies this person by an account rather than by a device.
  var hasPurpleAccount: Bool { noise >> 8 & 3 != 0 }

  /// A store's transaction id as the body of a webhook holds it; some of Apple's are numbers.
  func id(_ transaction: TransactionNumber) -> JSON {
    shop.store == .appStore && noise & 3 != 0
      ? .literal(text(transaction)) : .text(text(transaction))
  }

  /// A store's transaction id: each provider reports apps of its own, and so purchases of its own,
  /// but for a migration.
  func text(_ transaction: TransactionNumber) -> String {
    let provider = UInt64(
      (formerProvider ?? shop.provider).rawValue - Provider.qonversion.rawValue)
    let order = provider * 100_000_000_000 + UInt64(number) * 10 + UInt64(transaction.base)
    switch shop.store {
    case .appStore:
      // Sixteen digits that begin with 2, as Apple's have done since 2021.
      return String(2_000_000_000_000_000 + order * 1_000 + UInt64(transaction.index))
    case .playStore:
      // An order id; renewals append their number from 0.
      let groups = [
        "GPA.33" + decimal(order / 100_000_000_000 % 100, width: 2),
        decimal(order / 10_000_000 % 10_000, width: 4),
        decimal(order / 1_000 % 10_000, width: 4), decimal(order % 1_000, width: 5),
      ]
      let renewal = transaction.index > 0 ? "..\(transaction.index - 1)" : ""
      return groups.joined(separator: "-") + renewal
    default:
      let start = transaction.index == 0 ? "sub_1Q" : "in_1Q"
      let suffix = transaction.index > 0 ? "r\(transaction.index)" : ""
      return (shop.provider == .flobuk ? "I-" : start) + decimal(order, width: 13) + suffix
    }
  }

  /// Whether the storefront is sent, which takes an App Store certificate.
  var hasStorefront: Bool {
    shop.provider == .qonversion && shop.store == .appStore && shop.app == 0
  }
}

// Names of the stores, in the order of `App.stores`.

extension Shop {
  var platform: String { ["iOS", "Android", "Stripe"][storeIndex] }

  /// Qonversion's name for where a purchase was made.
  var entitlementSource: String { ["appstore", "playstore", "stripe"][storeIndex] }

  var flobukStore: String { ["AppleAppStore", "GooglePlay", "PayPal"][storeIndex] }

  /// iaptic's name for the store, which is the prefix of every id.
  var iapticPlatform: String { ["apple", "google", "stripe"][storeIndex] }
}
