public import Domain

/// The times at which a fold of the same events may give another result: time has passed.
///
/// Each comparison of the fold with as-of uses a moment recorded here. An unnecessary moment costs
/// a fold; a missing one causes a wrong number.
public struct Deadlines {
  private let asOf: Instant
  /// The first as-of at which to fold the group again; nil when only a new event can change it.
  public private(set) var first: Instant?

  /// The deadlines of a fold group's events, including later ones, under `rules`.
  public init(_ events: [Event], rules: borrowing FoldSettings) {
    asOf = rules.asOf
    for event in events {
      if event.time >= asOf { add(after: event.time) }
      // Entitlements in a webhook count from the creation of its message.
      add(at: event.createdAt)
    }
  }

  /// Adds the deadlines of one of the group's histories under the same rules.
  public mutating func add(_ history: SubscriptionHistory) {
    if let next = history.nextDerived { add(after: next) }
    for period in history.periods {
      add(after: period.start)
      guard let end = period.effectiveEnd else { continue }
      add(after: end)
      if let paid = period.end, paid != end { add(after: paid) }
    }
    // Any feed that reported a subscription can show that nothing followed.
    let own = history.reported.prefix(1).map(\.feed)
    for feed in Set(history.isShared ? history.events.map(\.feed) : own) {
      addEnds(of: history.periods, in: feed, history.rules)
    }
  }

  /// Adds the moments at which ends are final by what has arrived of `feed`.
  private mutating func addEnds(of periods: [Period], in feed: Feed, _ rules: FoldSettings) {
    let wait = rules.renewalGap + rules.settlingWindow(of: feed)
    let horizon = rules.horizon(of: feed)
    for period in periods {
      guard let end = period.effectiveEnd else { continue }
      if end + wait > horizon { take(end + wait) }
      let collected = end + rules.retryHorizon
      if period.isTrial, collected > horizon { take(collected) }
    }
  }

  /// Adds a moment that counts when it is before as-of.
  private mutating func add(after instant: Instant) { add(at: instant + Interval(milliseconds: 1)) }

  /// Adds a moment that counts when as-of has reached it.
  private mutating func add(at instant: Instant) {
    if instant > asOf { take(instant) }
  }

  private mutating func take(_ instant: Instant) {
    first = first.map { min($0, instant) } ?? instant
  }
}
