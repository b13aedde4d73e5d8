import Domain

/// Up to when the numbers of a feed can no longer change by deliveries in time.
///
/// A period is complete when its end is not after the instant; no period is complete beyond the
/// newest input, nor, in a stale feed, after its last final end.
struct Horizon {
  /// For money: the delivery window has passed.
  let booked: Instant
  /// For subscriptions: the renewal gap has passed, too.
  let settled: Instant
  let ended: Instant

  init(of feed: Feed, by rules: FoldSettings) {
    let window = rules.settlingWindow(of: feed)
    let settledByRule = rules.endsAreFinal(until: feed)
    let reach = rules.watermarks[feed] ?? rules.asOf
    let limit = rules.isStale(feed) ? settledByRule : reach
    booked = min(rules.asOf - window, limit)
    settled = min(settledByRule, limit)
    ended = min(rules.asOf, limit)
  }
}
