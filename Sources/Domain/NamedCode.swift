/// An enumeration that the ledger stores as a number and that reports, configuration and messages
/// write as its case name in snake case: `oneTime` as `one_time`.
public protocol NamedCode: CaseIterable, RawRepresentable, Codable, Sendable
where RawValue == UInt8 {}

extension NamedCode {
  /// The name in reports, configuration and messages.
  public var name: String { "\(self)".inSnakeCase }

  /// The case with that name; nil if there is none.
  public init?(name: String) {
    guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }
}

extension String {
  /// The text in snake case: `oneTime` becomes `one_time`.
  public var inSnakeCase: String {
    // Most names have no capitals.
    guard lowercased() != self else { return self }
    let bytes = utf8.flatMap { 65...90 ~= $0 ? [UInt8(ascii: "_"), $0 + 32] : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The store that took the money.
public enum Store: UInt8, NamedCode {
  /// The provider sends no store, or one that is not listed here.
  case unknown = 0
  case appStore = 1
  case macAppStore = 2
  case playStore = 3
  case stripe = 4
  case amazon = 5
  case windows = 6
  case paypal = 7

  /// Whether it is one of Apple's.
  public var isApple: Bool { self == .appStore || self == .macAppStore }

  /// Whether two reports can mean the same store: one is unknown, or both are Apple's.
  public func mayBe(_ other: Store) -> Bool {
    self == other || self == .unknown || other == .unknown || isApple && other.isApple
  }

  /// The stores that a report of this one can mean, itself first.
  public var possible: [Store] { [self] + Self.allCases.filter { $0 != self && mayBe($0) } }

  /// Whether the first transaction of a subscription has the subscription's id, so that a different
  /// id proves an earlier transaction.
  ///
  /// Stripe's invoices, for example, never have the id of their subscription.
  public var startsWithOriginal: Bool {
    switch self {
    case .appStore, .macAppStore, .playStore, .unknown: true
    case .stripe, .amazon, .windows, .paypal: false
    }
  }
}

/// Whether real money moved.
public enum Environment: UInt8, NamedCode {
  case production = 0
  case sandbox = 1
}

/// The source of an amount in a report.
public enum AmountBasis: UInt8, NamedCode {
  /// No amount is known; amount cells are empty.
  case none = 0
  /// The provider sent the amount.
  case provider = 1
  /// The amount is from the operator's price book.
  case priceBook = 2
}

/// Whether the product renews.
public enum ProductType: UInt8, NamedCode {
  case subscription = 0
  case oneTime = 1
}

/// The step of a subscription that a charge pays for.
public enum ChargeKind: UInt8, NamedCode {
  /// The first paid period without a trial, or after a lapse.
  case first = 0
  /// The first paid period after a trial.
  case conversion = 1
  /// A period that continues a paid one.
  case renewal = 2
  /// A charge, or a refunded remainder, when moving to another product.
  case productChange = 3
  /// A one-time purchase.
  case oneTime = 4
}

/// Why a subscription ended; the first reason that fits counts.
public enum ChurnReason: UInt8, NamedCode {
  /// A full refund or a revocation ended the period.
  case refund = 1
  /// The payment failed: billing retry or grace was seen, or the provider reports it.
  case involuntary = 2
  /// The user did not agree to a higher price.
  case priceIncrease = 3
  /// The developer ended it.
  case developer = 4
  /// Auto-renew was off before the end.
  case voluntary = 5
  /// No reason is known.
  case unknown = 6
}
