/// What is counted per day and feed: data that the reports lack, and arrivals.
///
/// Raw values are stored in the ledger.
public enum CoverageGap: UInt8, NamedCode {
  /// A charge that cannot be linked to a subscription; no count of subscriptions includes it.
  case unchainedCharge = 1
  /// A paid period with an unknown end.
  case openEndedPeriod = 2
  /// A paid period whose end follows from the product's configured or listed length.
  case derivedEnd = 3
  /// A charge at an offer that the price book does not list; its amount is unknown.
  case offerWithoutPrice = 4
  /// A charge without the store's transaction id.
  case chargeWithoutTransaction = 5
  /// An event that arrived, in the UTC hour of its creation; hours without events are searched for
  /// gaps.
  case arrival = 20
}

/// The key of one cell of gaps.
public struct CoverageKey: Sendable, Hashable {
  /// The day of the event, in the report's time zone.
  public var day: Day
  /// The feed that contained it.
  public var feed: Feed
  /// The missing data.
  public var gap: CoverageGap
  /// For an arrival, the hour of the day.
  public var hour: UInt8 = 0

  /// Gaps of one kind in a feed's data.
  public init(day: Day, feed: Feed, gap: CoverageGap) {
    self.day = day
    self.feed = feed
    self.gap = gap
  }

  /// Events of a feed that were created in one UTC hour, numbered since 1970-01-01.
  public init(arrivalsIn hour: Int64, feed: Feed) {
    let day = hour.flooredDividing(by: 24)
    self.init(day: Day(number: Int32(clamping: day)), feed: feed, gap: .arrival)
    self.hour = UInt8(hour - day * 24)
  }
}
