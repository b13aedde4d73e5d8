import Domain

/// Up to when the numbers of a feed can no longer change by deliveries in time.
///
/// A period is complete when its end is not after the instant; no period is complete beyond the
/// newest input, nor, in a stale feed, after its last final end.
struct Horizon {
  /// For money: the delivery window has passed.
  private(set) var booked: Instant
  /// For subscriptions: the renewal gap has passed, too.
  private(set) var settled: Instant
  /// For trials: the delivery window has passed; each waits for its own end besides.
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

  /// Ends money before `booked` and everything else before `others`, because of lines that may be
  /// wrong.
  mutating func end(booked event: Instant, others: Instant) {
    booked = min(booked, event)
    settled = min(settled, others)
    ended = min(ended, others)
  }
}
