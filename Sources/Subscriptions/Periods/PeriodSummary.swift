public import Domain

/// The public part of a `Period`, without its indices into the events of the subscription.
public struct PeriodSummary: Sendable {
  /// Whether it is a trial rather than paid.
  public let isTrial: Bool
  /// The subscription as the provider reported its opener: `lineageKey`.
  public let lineage: Int64
  /// Provider, app, store and product of the row that reports show it in.
  public let productKey: ProductKey
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
    zip(periods.indices, periods).map { index, period in
      PeriodSummary(
        isTrial: period.isTrial, lineage: events[period.opener].lineage,
        productKey: productKey(ofPeriod: index), start: period.start, end: period.end,
        isEndDerived: period.isEndDerived, graceEnd: period.graceEnd, revokedAt: period.revokedAt)
    }
  }
}
