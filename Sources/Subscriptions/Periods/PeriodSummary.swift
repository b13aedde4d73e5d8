public import Domain

/// The public part of a `Period`, without its indices into the events of the subscription.
public struct PeriodSummary: Sendable {
  /// Whether it is a trial rather than paid.
  public let isTrial: Bool
  /// StringID of the store product id.
  public let product: StringID
  /// When it began.
  public let start: Instant
  /// As paid or tried, without grace; nil if unknown.
  public let end: Instant?
  /// Whether `end` follows from the length of the product's period alone.
  public let isEndDerived: Bool
  /// The end of grace; nil without.
  public let graceEnd: Instant?
  /// When a refund or a revocation took access away; nil when none did.
  public let revokedAt: Instant?
}

extension SubscriptionHistory {
  /// The subscription's periods in order.
  public var spells: [PeriodSummary] {
    periods.map {
      PeriodSummary(
        isTrial: $0.isTrial, product: $0.product, start: $0.start, end: $0.end,
        isEndDerived: $0.isEndDerived, graceEnd: $0.graceEnd, revokedAt: $0.revokedAt)
    }
  }
}
