import Domain

/// The instant up to which no timely delivery can change a feed's numbers.
///
/// A period is complete when it ends at or before the instant. No period is complete after the
/// newest input or, in a stale feed, after its last final end.
struct Horizon {
  /// For money: the delivery window has passed.
  private(set) var booked: Instant
  /// For subscriptions: the renewal gap has passed, too.
  private(set) var settled: Instant
  /// For trials: the delivery window has passed; each trial also waits for its own end.
  private(set) var ended: Instant

  init(of feed: Feed, by rules: FoldSettings) {
    let window = rules.settlingWindow(of: feed)
    let settledByRule = rules.endsAreFinal(until: feed)
    let reach = rules.watermarks[feed] ?? rules.asOf
    let limit = rules.isStale(feed) ? settledByRule : reach
    booked = min(rules.asOf - window, limit)
    settled = min(settledByRule, limit)
    ended = booked
  }

  /// Limits money to `booked` and everything else to `others`, because lines may be wrong.
  mutating func end(booked event: Instant, others: Instant) {
    booked = min(booked, event)
    settled = min(settled, others)
    ended = min(ended, others)
  }
}
