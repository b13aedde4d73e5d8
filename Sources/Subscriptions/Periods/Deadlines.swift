public import Domain

/// When folding the same events again may give something else, because time has passed.
///
/// Every comparison of the fold with as-of is one with a moment named here; a moment too many costs
/// a fold, one too few a wrong number.
public struct Deadlines {
  private let rules: FoldSettings
  /// Up to when ends are judged: as-of, or the newest input of a stale feed.
  private var horizon: Instant
  private var wait: Interval
  /// The first as-of at which the fold group must be folded again; nil when only a new event can
  /// change it.
  public private(set) var first: Instant?

  /// Those of the events of a fold group, later ones included, folded by `rules`.
  public init(_ events: [Event], rules: FoldSettings) {
    self.rules = rules
    (horizon, wait) = (rules.asOf, rules.renewalGap)
    for event in events {
      if event.time >= rules.asOf { add(after: event.time) }
      // Entitlements of a webhook count from when it was made.
      add(at: event.madeAt)
    }
  }

  /// Adds those of one of its histories.
  public mutating func add(_ history: SubscriptionHistory) {
    // A subscription of several providers ends by the feed of the last one.
    let last = history.isShared ? history.periods.last : nil
    judge(by: last.map { history.events[$0.opener] } ?? history.reported.first)
    if let next = history.nextDerived { add(after: next) }
    for period in history.periods { add(period) }
  }

  /// Judges ends by the feed of `event`.
  private mutating func judge(by event: Event?) {
    guard let event else { return }
    wait = rules.renewalGap + rules.settlingWindow(of: event.feed)
    horizon = rules.horizon(of: event.feed)
  }

  private mutating func add(_ period: Period) {
    add(after: period.start)
    guard let end = period.effectiveEnd else { return }
    add(after: end)
    if end + wait > horizon { take(end + wait) }
    if let paid = period.end, paid != end { add(after: paid) }
    let collected = end + rules.retryHorizon
    if period.isTrial, collected > horizon { take(collected) }
  }

  /// A moment that counts once it lies before as-of.
  private mutating func add(after instant: Instant) { add(at: instant + Interval(milliseconds: 1)) }

  /// A moment that counts once as-of has reached it.
  private mutating func add(at instant: Instant) {
    if instant > rules.asOf { take(instant) }
  }

  private mutating func take(_ instant: Instant) {
    first = first.map { min($0, instant) } ?? instant
  }
}
