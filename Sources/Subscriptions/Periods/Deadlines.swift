public import Domain

/// When folding the same events again may give something else, because time has passed.
///
/// Every comparison of the fold with as-of is one with a moment named here; a moment too many costs
/// a fold, one too few a wrong number.
///
/// - Parameters:
///   - lives: the lives of one fold group, folded at the as-of of `rules`.
///   - events: the events they were folded from, later ones included.
///   - rules: the settings of that fold.
/// - Returns: the first as-of at which the group must be folded again; nil when only a new event
///   can change it.
public func deadline(of histories: [SubscriptionHistory], events: [Event], rules: FoldSettings)
  -> Instant?
{
  var deadlines = Deadlines(rules: rules)
  for event in events {
    if event.time >= rules.asOf { deadlines.add(after: event.time) }
    // Entitlements of a webhook count from when it was made.
    deadlines.add(at: event.madeAt)
  }
  for history in histories {
    // A subscription of several providers ends by the feed of the last one.
    let last = history.isShared ? history.periods.last : nil
    deadlines.judge(by: last.map { history.events[$0.opener] } ?? history.reported.first)
    if let next = history.nextDerived { deadlines.add(after: next) }
    for period in history.periods { deadlines.add(period) }
  }
  return deadlines.first
}

private struct Deadlines {
  let rules: FoldSettings
  /// Up to when ends are judged: as-of, or the newest input of a stale feed.
  private var horizon: Instant
  private var wait: Interval
  private(set) var first: Instant?

  init(rules: FoldSettings) {
    self.rules = rules
    (horizon, wait) = (rules.asOf, rules.renewalGap)
  }

  /// Judges ends by the feed of `event`.
  mutating func judge(by event: Event?) {
    guard let event else { return }
    wait = rules.renewalGap + rules.settlingWindow(of: event.feed)
    horizon = rules.horizon(of: event.feed)
  }

  mutating func add(_ period: Period) {
    add(after: period.start)
    guard let end = period.effectiveEnd else { return }
    add(after: end)
    if end + wait > horizon { take(end + wait) }
    if let paid = period.end, paid != end { add(after: paid) }
    let collected = end + rules.retryHorizon
    if period.isTrial, collected > horizon { take(collected) }
  }

  /// A moment that counts once it lies before as-of.
  mutating func add(after instant: Instant) { add(at: instant + Interval(milliseconds: 1)) }

  /// A moment that counts once as-of has reached it.
  mutating func add(at instant: Instant) {
    if instant > rules.asOf { take(instant) }
  }

  private mutating func take(_ instant: Instant) {
    first = first.map { min($0, instant) } ?? instant
  }
}
