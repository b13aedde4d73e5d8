/// The systems whose webhooks the ledger understands.
///
/// Raw values are stored in the ledger and never change their meaning.
public enum Provider: UInt8, CaseIterable, Sendable {
  case qonversion = 1
  /// IAPGUARD by FLOBUK.
  case flobuk = 2
  case iaptic = 3
  case purple = 4

  /// The word that reports and configuration use.
  public var name: String {
    switch self {
    case .qonversion: "qonversion"
    case .flobuk: "flobuk"
    case .iaptic: "iaptic"
    case .purple: "purple"
    }
  }

  /// The provider that `name` stands for, when there is one.
  public init?(name: String) {
    guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }
}

/// The shop that took the money.
///
/// Raw values are stored in the ledger.
public enum Store: UInt8, CaseIterable, Sendable {
  /// The provider does not say, or names a shop that has no word here.
  case unknown = 0
  case appStore = 1
  case macAppStore = 2
  case playStore = 3
  case stripe = 4
  case amazon = 5
  case windows = 6
  case paypal = 7

  /// The word that reports use.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .appStore: "app_store"
    case .macAppStore: "mac_app_store"
    case .playStore: "play_store"
    case .stripe: "stripe"
    case .amazon: "amazon"
    case .windows: "windows"
    case .paypal: "paypal"
    }
  }
}

/// Whether money really moved.
///
/// Raw values are stored in the ledger.
public enum Environment: UInt8, CaseIterable, Sendable {
  case production = 0
  case sandbox = 1

  /// The word that reports use.
  public var name: String { self == .production ? "production" : "sandbox" }
}

/// What an amount in a report rests on.
///
/// Raw values are stored in the ledger.
public enum AmountBasis: UInt8, CaseIterable, Sendable {
  /// No amount is known; amount cells are empty.
  case none = 0
  /// The provider sent the amount.
  case provider = 1
  /// The amount comes from the operator's price book.
  case priceBook = 2

  /// The word that reports use.
  public var name: String {
    switch self {
    case .none: "none"
    case .provider: "provider"
    case .priceBook: "price_book"
    }
  }
}

/// Whether the thing sold renews.
///
/// Raw values are stored in the ledger.
public enum ProductType: UInt8, CaseIterable, Sendable {
  case subscription = 0
  case oneTime = 1

  /// The word that reports use.
  public var name: String { self == .subscription ? "subscription" : "one_time" }
}

/// Which step in a lineage's life a charge is.
///
/// Raw values are stored in the ledger.
public enum ChargeKind: UInt8, CaseIterable, Sendable {
  /// The first paid period of a life without a trial, or after a lapse.
  case first = 0
  /// The first paid period after a trial.
  case conversion = 1
  /// A period that continues a paid one.
  case renewal = 2
  /// A charge, or refunded remainder, of a move to another product.
  case productChange = 3
  /// Something that does not renew.
  case oneTime = 4

  /// The word that reports use.
  public var name: String {
    switch self {
    case .first: "first"
    case .conversion: "conversion"
    case .renewal: "renewal"
    case .productChange: "product_change"
    case .oneTime: "one_time"
    }
  }
}

extension Store {
  /// Whether the first transaction of a subscription has the subscription's own id, so that another
  /// id proves a transaction before it.
  ///
  /// Stripe's invoices, for one, never have the id of their subscription.
  public var startsWithOriginal: Bool {
    switch self {
    case .appStore, .macAppStore, .playStore, .unknown: true
    case .stripe, .amazon, .windows, .paypal: false
    }
  }
}
