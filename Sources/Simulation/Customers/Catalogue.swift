import Domain

/// A product on sale.
///
/// Raw values are the last part of the store product id and of the dashboard product id.
enum Product: String, CaseIterable, Sendable {
  case weekly, monthly, plus, yearly, coins, lifetime

  /// Nil for a one-time purchase.
  var period: PeriodLength? {
    switch self {
    case .weekly: .days(7)
    case .monthly, .plus: .months(1)
    case .yearly: .months(12)
    case .coins, .lifetime: nil
    }
  }

  var trialDays: Int64 {
    switch self {
    case .weekly: 3
    case .monthly, .yearly: 7
    case .plus, .coins, .lifetime: 0
    }
  }

  var isConsumable: Bool { self == .coins }

  func end(from start: Int64) -> Int64 {
    period.map { $0.end(from: Instant(seconds: start)).milliseconds / 1000 } ?? start
  }

  var isoPeriod: String? {
    switch period {
    case .days(let count): "P\(count)D"
    case .months(let count): count % 12 == 0 ? "P\(count / 12)Y" : "P\(count)M"
    case nil: nil
    }
  }
}

/// An app on sale in several stores.
enum App: String, CaseIterable, Sendable {
  case pro, reader

  static let stores: [Store] = [.appStore, .playStore, .stripe]

  var project: String { self == .pro ? "Example Pro" : "Example Reader" }
  var subscriptionGroup: String { self == .pro ? "21000000" : "21477001" }
  /// The value of the header `X-App-Id`: sixteen letters and digits.
  var flobukID: String { "Fl0b\(id(in: .appStore))" + (self == .pro ? "3p" : "6r") }

  /// App Store id, package name or Stripe's substitute.
  func id(in store: Store) -> String {
    switch store {
    case .appStore: self == .pro ? "1234567890" : "1487650321"
    case .playStore: "com.example.\(rawValue)"
    default: "\(rawValue)-web"
    }
  }

  func storeID(of product: Product) -> String { "com.example.\(rawValue).\(product.rawValue)" }

  func dashboardID(of product: Product) -> String { "\(rawValue)_\(product.rawValue)" }
}

/// One app in one store, with its terms.
struct Shop: Sendable, Hashable {
  let app: App
  /// Index into `App.stores`.
  let storeIndex: Int
  var provider = Provider.qonversion
  /// Whether its archives contain bodies without the headers that name the app.
  var isBare = false

  var store: Store { App.stores[storeIndex] }

  /// Whether revenue is sent as proceeds: a setting of the integration that was switched for one
  /// app, while older events stayed as they were.
  func sendsProceeds(at second: Int64, in span: TimeSpan) -> Bool {
    guard app == .reader else { return false }
    return store == .appStore || second < span.proceedSwitch
  }

  /// Percent left after commission, for a customer who has paid since `firstPaid`.
  ///
  /// Source: Apple pays 70 % in the first year of paid service and 85 % after it, or 85 %
  /// throughout to small businesses; Google pays 85 % on subscriptions since 2022.
  func proceedsRate(at second: Int64, paidSince firstPaid: Int64) -> Int64 {
    switch store {
    case .appStore: app == .reader || second - firstPaid >= 365 * day ? 85 : 70
    case .playStore: 85
    default: 97
    }
  }
}

/// The deliveries of one provider for one app.
struct NamedFeed: Sendable, Hashable {
  var provider: Provider
  var app: String
}

extension Shop {
  /// Every shop, once per provider.
  static var all: [Shop] {
    Provider.allCases.flatMap { provider in
      App.allCases.flatMap { app in
        App.stores.indices.flatMap { store in
          (provider.sender.namesAppInHeaders ? [false, true] : [false]).map { isBare in
            Shop(app: app, storeIndex: store, provider: provider, isBare: isBare)
          }
        }
      }
    }
  }

  var feed: NamedFeed { NamedFeed(provider: provider, app: appID) }
}

// Ids in the formats of stores and providers.

extension Person {
  var app: App { shop.app }

  /// `QON_` and 32 hexadecimal digits; `account` 1 is the target of a transferred account, 2 a
  /// family member.
  func qonversionUser(account: UInt64 = 0) -> String {
    "QON_" + Randomness.mix(noise &+ account).hexadecimal
      + Randomness.mix(noise ^ 0x5bd1_e995 &+ account).hexadecimal
  }

  var accountName: String { "u-\(number)" }

  /// A store's transaction id as in webhook bodies; some of Apple's are numbers.
  func id(_ transaction: TransactionNumber) -> JSON {
    shop.store == .appStore && noise & 3 != 0
      ? JSON(text: text(transaction)) : text(transaction).json
  }

  /// A store's transaction id: each provider reports its own apps, and so its own purchases, except
  /// in a migration.
  func text(_ transaction: TransactionNumber) -> String {
    let provider = UInt64(
      (previousProvider ?? shop.provider).rawValue - Provider.qonversion.rawValue)
    let order = provider * 100_000_000_000 + UInt64(number) * 10 + UInt64(transaction.base)
    switch shop.store {
    case .appStore:
      // Sixteen digits that begin with 2, as in Apple's ids since 2021.
      return String(2_000_000_000_000_000 + order * 1_000 + UInt64(transaction.index))
    case .playStore:
      // An order id; renewals append a number from 0.
      let groups = [
        "GPA.33" + String(order / 100_000_000_000 % 100).zeroPadded(to: 2),
        String(order / 10_000_000 % 10_000).zeroPadded(to: 4),
        String(order / 1_000 % 10_000).zeroPadded(to: 4),
        String(order % 1_000).zeroPadded(to: 5),
      ]
      let renewal = transaction.index > 0 ? "..\(transaction.index - 1)" : ""
      return groups.joined(separator: "-") + renewal
    default:
      let start = transaction.index == 0 ? "sub_1Q" : "in_1Q"
      let suffix = transaction.index > 0 ? "r\(transaction.index)" : ""
      let prefix = shop.reportedStore == .paypal ? "I-" : start
      return prefix + String(order).zeroPadded(to: 13) + suffix
    }
  }

  /// Whether the storefront is sent, which requires an App Store certificate.
  var hasStorefront: Bool {
    shop.sender.isDetailed && shop.store == .appStore && shop.app == .pro
  }
}

extension Shop {
  /// Qonversion's name for the source of a purchase.
  var entitlementSource: String { ["appstore", "playstore", "stripe"][storeIndex] }
}

extension CustomerSimulation {
  /// Whether FLOBUK's bodies contain their creation time and Purple's name the first transaction;
  /// older bodies of one app do not.
  func sendsNewerBodies(at time: Int64) -> Bool {
    person.shop.app == .pro || time >= span.priceRise
  }
}
