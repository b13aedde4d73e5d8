/// Everything besides the events that their meaning depends on.
public struct FoldSettings: Sendable {
  /// Business time of the reports; events at or after it do not count yet.
  public var asOf: Instant
  /// The calendar for days and months.
  public var calendar: CivilCalendar
  /// The longest time between the end of a period and the next charge that is not a lapse.
  public var renewalGap = Interval.hours(24)
  /// How long after a period's end a charge still counts as a recovery.
  public var retryHorizon = Interval.days(60)
  /// How late a provider can still deliver a message.
  public var deliveryWindows = Dictionary(
    uniqueKeysWithValues: Provider.allCases.map { ($0, $0.interface.retries.deliveryWindow) })
  /// The additional time each feed needs from an event to the creation of its message.
  public var creationLags: [Feed: Interval] = [:]
  /// Configured periods by the ledger's symbol of the store product id.
  public var periods: [StringID: PeriodLength] = [:]
  /// The app of each provider that has only one.
  public var onlyApps: [Provider: StringID] = [:]
  /// The base plans of Play's products.
  public var basePlans = BasePlans()
  /// Prices for charges whose provider sends no money.
  public var prices = PriceBook()
  /// How second charges of a store transaction, and refunds beyond their charge, are booked.
  public var doubleCharges = ExcessMoneyPolicy.hold
  /// The order of providers: if several report a store transaction, the first one's report counts.
  public var authority: [Provider] = [.qonversion, .iaptic, .flobuk, .purple]
  /// How far each feed reaches, not after as-of.
  public var watermarks: [Feed: Watermark] = [:]
  /// Whether events after as-of are known, so that times after as-of are expected.
  public var isRetrospective = false

  /// The contract's defaults at `asOf`.
  public init(asOf: Instant, calendar: CivilCalendar = .utc) {
    self.asOf = asOf
    self.calendar = calendar
  }

  /// Whether the newest input of `feed` is so old at as-of that a missing event proves nothing.
  public func isStale(_ feed: Feed) -> Bool { horizon(of: feed) < asOf }

  /// When messages of `feed` arrived, without arrivals far away from the rest; a body without an
  /// app can be of any app of its provider.
  public func arrivals(of feed: Feed) -> ClosedRange<Instant> {
    let never = Instant(milliseconds: .min)
    let own = watermarks[feed]
    let unnamed =
      feed.provider.capabilities.omitsApps
      ? watermarks[Feed(provider: feed.provider, app: 0)] ?? own : own
    guard let own = own ?? unnamed, let unnamed else { return never...Instant(milliseconds: .max) }
    // Of the hour in which as-of lies, only the first and the last arrival are known.
    let last = max(own.newest, unnamed.newest) + .hours(1)
    return min(last, own.trustedFrom ?? never, unnamed.trustedFrom ?? never)...last
  }

  /// The time until which a missing event proves something: as-of, or a stale feed's newest input.
  public func horizon(of feed: Feed) -> Instant {
    guard let watermark = watermarks[feed], asOf.since(watermark.newest) > watermark.gapMax
    else { return asOf }
    return watermark.newest
  }

  /// The last moment at which an end without a charge certainly counts as an end.
  ///
  /// The renewal gap and the settling window must have passed at as-of, or at a stale feed's newest
  /// input.
  public func endsAreFinal(until feed: Feed) -> Instant {
    horizon(of: feed) - (renewalGap + settlingWindow(of: feed))
  }

  /// How long after it happened an event of `feed` can still arrive.
  public func settlingWindow(of feed: Feed) -> Interval {
    deliveryWindow(feed.provider) + (creationLags[feed] ?? .seconds(0))
  }

  /// The additional settling time when messages are created `lag` after their events.
  ///
  /// A window tolerates five minutes. Longer lags are rounded up to 1, 2, 4, 8 … hours, so that a
  /// window seldom changes, and to 7 days at most: imports are created later.
  public static func allowance(for lag: Interval) -> Interval {
    guard lag > .minutes(5) else { return .seconds(0) }
    var allowance = Interval.hours(1)
    while allowance < lag, allowance < .days(7) { allowance = allowance + allowance }
    return min(allowance, .days(7))
  }

  /// The length of the event's product: as listed for its offer, as configured, else as listed.
  public func periodLength(of event: Event) -> PeriodLength? {
    let time = event.periodStart ?? event.time
    if event.offer != 0,
      let period = prices.period(of: event.product, in: event.store, offer: event.offer, at: time)
    {
      return period
    }
    return periods[event.product] ?? prices.period(of: event.product, in: event.store, at: time)
  }

  /// How long after its creation a message of `provider` can still arrive.
  public func deliveryWindow(_ provider: Provider) -> Interval {
    deliveryWindows[provider] ?? .seconds(0)
  }
}

/// How to book money that the store cannot have moved: the second charge of a transaction, and the
/// part of refunds beyond their charge.
public enum ExcessMoneyPolicy: String, CaseIterable, Sendable {
  /// Leaves it out of the sums and counts it as excluded.
  case hold
  /// Books it as sent.
  case book
}
