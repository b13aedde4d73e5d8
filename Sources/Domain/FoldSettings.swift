/// Everything that the meaning of events depends on besides the events themselves.
public struct FoldSettings: Sendable {
  /// Business time of the reports; events at or after it do not count yet.
  public var asOf: Instant
  /// Days and months.
  public var calendar: CivilCalendar
  /// The longest time between the end of a period and the next charge that is not a lapse.
  public var renewalGap = Interval.hours(24)
  /// How long after a period's end a charge is still a recovery.
  public var retryHorizon = Interval.days(60)
  /// How late a provider can still deliver a message.
  public var deliveryWindows = Dictionary(
    uniqueKeysWithValues: Provider.allCases.map { ($0, $0.interface.retries.deliveryWindow) })
  /// What each feed needs besides from an event to the making of its message.
  public var creationLags: [Feed: Interval] = [:]
  /// Configured periods by the ledger's symbol of the store product id.
  public var periods: [StringID: PeriodLength] = [:]
  /// The app of each provider that has only one.
  public var onlyApps: [Provider: StringID] = [:]
  /// The base plans of Play's products.
  public var basePlans = BasePlans()
  /// Prices for charges whose provider sends no money.
  public var prices = PriceBook()
  /// What becomes of a second charge of a store transaction, and of refunds beyond their charge.
  public var doubleCharges = DoubleChargePolicy.hold
  /// Whose report of a store transaction counts, of several: the first.
  public var authority: [Provider] = [.qonversion, .iaptic, .flobuk, .purple]
  /// Newest input of each feed, not after as-of: received, else created, else event time.
  public var watermarks: [Feed: Instant] = [:]
  /// How old it may be before it is stale, where that is not `FeedRhythm.silenceLeast`.
  public var silencesMax: [Feed: Interval] = [:]

  /// Before when an arrival is no part of its feed, where there is one.
  public var clockBegins: [Feed: Instant] = [:]
  /// Whether events after as-of are known, so that times after it are no wonder.
  public var isLookBack = false

  /// The contract's defaults at `asOf`.
  public init(asOf: Instant, calendar: CivilCalendar = .utc) {
    self.asOf = asOf
    self.calendar = calendar
  }

  /// Whether the newest input of `feed` is so old at as-of that silence proves nothing.
  public func isStale(_ feed: Feed) -> Bool {
    guard let watermark = watermarks[feed] else { return false }
    return asOf.since(watermark) > silenceMax(of: feed)
  }

  /// When messages of `feed` came, without those far from all the rest.
  public func arrivals(of feed: Feed) -> ClosedRange<Instant> {
    let newest = watermarks[feed] ?? Instant(milliseconds: .max)
    return min(newest, clockBegins[feed] ?? Instant(milliseconds: .min))...newest
  }

  /// How long `feed` may be silent before its input is stale.
  public func silenceMax(of feed: Feed) -> Interval {
    silencesMax[feed] ?? FeedRhythm.silenceLeast
  }

  /// Up to when silence proves anything: as-of, or the newest input of a stale feed.
  public func horizon(of feed: Feed) -> Instant {
    isStale(feed) ? min(asOf, watermarks[feed] ?? asOf) : asOf
  }

  /// The last moment at which an end without a charge counts as an end for sure.
  ///
  /// The gap and the settling window must have passed at as-of, or at the newest input of a
  /// stale feed.
  public func endsAreFinal(until feed: Feed) -> Instant {
    horizon(of: feed) - (renewalGap + settlingWindow(of: feed))
  }

  /// How long after it happened an event of `feed` can still come.
  public func settlingWindow(of feed: Feed) -> Interval {
    deliveryWindow(feed.provider) + (creationLags[feed] ?? .seconds(0))
  }

  /// What a window needs besides when messages are made `lag` after their events.
  ///
  /// Five minutes are part of a window's tolerance. Longer lags count as the next of 1, 2, 4, 8 …
  /// hours, so that a window seldom changes, and as 7 days at most: imports are made later.
  public static func allowance(for lag: Interval) -> Interval {
    guard lag > .minutes(5) else { return .seconds(0) }
    var allowance = Interval.hour
    while allowance < lag, allowance < .days(7) { allowance = allowance + allowance }
    return min(allowance, .days(7))
  }

  /// How long after it was made a message of `provider` can still come.
  public func deliveryWindow(_ provider: Provider) -> Interval {
    deliveryWindows[provider] ?? .seconds(0)
  }
}

/// What becomes of money that the store cannot have moved: the second charge of a transaction, and
/// what refunds give back beyond their charge.
public enum DoubleChargePolicy: String, CaseIterable, Sendable {
  /// It is held out of the sums and counted as excluded.
  case hold
  /// It is booked as sent.
  case book
}
