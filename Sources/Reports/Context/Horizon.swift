import Domain

/// Returns the instants up to which no timely delivery can change a feed's numbers about money,
/// subscriptions and trials.
///
/// A period is complete when it ends at or before the instant. No period is complete after the
/// newest input or, in a stale feed, after its last final end. From `wrong` on, lines may be wrong:
/// money is complete up to the first such event, all else up to the first subscription with one.
func horizon(
  of feed: Feed, by rules: FoldSettings,
  before wrong: (event: Instant, subscription: Instant)? = nil
) -> (booked: Instant, settled: Instant, ended: Instant) {
  // Subscriptions wait for the renewal gap, too; each trial also waits for its own end.
  let settled = rules.endsAreFinal(until: feed)
  let limit = rules.isStale(feed) ? settled : rules.watermarks[feed]?.newest ?? rules.asOf
  let booked = min(rules.asOf - rules.settlingWindow(of: feed), limit)
  let (event, others) = (wrong?.event ?? booked, wrong?.subscription ?? limit)
  return (min(booked, event), min(settled, limit, others), min(booked, others))
}
