/// What is counted by day of each feed: data that the reports lack, and what arrived.
///
/// Raw values are stored in the ledger.
public enum CoverageGap: UInt8, NamedCode {
  /// A charge with an unknown amount.
  case chargeWithoutAmount = 1
  /// A charge whose amount is the price book's.
  case chargeFromPriceBook = 2
  /// A charge that nothing chains to a subscription; it is in no count of subscriptions.
  case unchainedCharge = 3
  /// A paid period with an unknown end.
  case openEndedPeriod = 4
  /// A paid period whose end follows from the product's configured or listed length.
  case derivedEnd = 5
  /// A charge at an offer that the price book does not list; its amount is unknown.
  case offerWithoutPrice = 6
  /// An event, on the UTC day on which it arrived: days without any are looked for.
  case arrival = 20
}

/// The key of one cell of gaps.
public struct CoverageKey: Sendable, Hashable {
  /// The day of the event, in the report's time zone.
  public var day: Day
  /// The provider that sent it.
  public var provider: Provider
  /// The ledger's symbol of the app; 0 when unknown.
  public var app: StringID
  /// The missing data.
  public var gap: CoverageGap

  /// Gaps of one sort in a provider's data of an app.
  public init(day: Day, provider: Provider, app: StringID, gap: CoverageGap) {
    self.day = day
    self.provider = provider
    self.app = app
    self.gap = gap
  }
}
