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
  /// A charge that names no transaction of the store.
  case chargeWithoutTransaction = 7
  /// An event, in the UTC hour in which it arrived: hours without any are looked for.
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
  /// Of an arrival, the hour of the day.
  public var hour: UInt8 = 0

  /// Gaps of one sort in a provider's data of an app.
  public init(day: Day, provider: Provider, app: StringID, gap: CoverageGap) {
    self.day = day
    self.provider = provider
    self.app = app
    self.gap = gap
  }

  /// Arrivals in the feed of an app in a UTC hour, numbered since 1970-01-01.
  public init(arrivalsIn hour: Int64, provider: Provider, app: StringID) {
    let day = hour.flooredDividing(by: 24)
    self.init(
      day: Day(number: Int32(clamping: day)), provider: provider, app: app, gap: .arrival)
    self.hour = UInt8(hour - day * 24)
  }
}
