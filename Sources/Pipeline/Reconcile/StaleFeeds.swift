import EventStore
import Logging
import Reconciliation
import Domain

/// A `STALE_INPUT` for each silence that is too long at as-of: one for all feeds that it began in
/// within a day.
func staleFeeds(_ ledger: Ledger, _ rules: FoldSettings) -> [Break] {
  let stale = rules.watermarks.filter { rules.isStale($0.key) }.map { feed, newest in
    StaleFeed(
      provider: feed.provider, app: ledger.symbols.words[Int(feed.app)], newest: newest,
      staleAt: newest + rules.silenceMax(of: feed))
  }.sorted { ($0.newest, $0.name) < ($1.newest, $1.name) }
  var silences: [[StaleFeed]] = []
  for feed in stale {
    if let first = silences.last?[0], feed.newest.since(first.newest) <= .day {
      silences[silences.count - 1].append(feed)
    } else {
      silences.append([feed])
    }
  }
  return silences.compactMap { stalled($0, asOf: rules.asOf) }
}

private struct StaleFeed {
  let provider: Provider
  let app: String
  let newest: Instant
  /// When its silence became too long.
  let staleAt: Instant

  var name: String { "\(provider.name) \(app.isEmpty ? "(no app id)" : app.shown())" }
}

/// The break of feeds that stopped together.
///
/// Its id is that of the feed that was stale first, so that the others change nothing.
private func stalled(_ feeds: [StaleFeed], asOf: Instant) -> Break? {
  guard let leader = feeds.min(by: { ($0.staleAt, $0.name) < ($1.staleAt, $1.name) }) else {
    return nil
  }
  var fingerprint = Fingerprint()
  fingerprint.combine(BreakCode.staleInput.rawValue)
  fingerprint.combine(leader.provider.name)
  fingerprint.combine(leader.app)
  var found = Break(id: fingerprint.breakID, code: .staleInput, provider: leader.provider)
  found.app = feeds.count == 1 ? leader.app : ""
  found.severity = .high
  found.expectedAt = leader.staleAt
  let names = feeds.map { "\($0.name) until \($0.newest.text)" }.joined(separator: ", ")
  found.evidence =
    feeds.count == 1
    ? "the newest input is of \(leader.newest.text), as-of is \(asOf.text), and the feed may be "
      + "silent until \(leader.staleAt.text)"
    : "\(feeds.count) feeds stopped within a day, as-of is \(asOf.text): \(names)"
  found.action = BreakCode.staleInput.action(at: leader.provider)
  return found
}

extension RunPipeline {
  /// Warns of an as-of that can only be a mistake: what has not come until then is missing.
  func warnOfLateAsOf() {
    guard plan.hasExplicitAsOf, plan.rules.asOf > plan.now + .days(1) else { return }
    log.warning(
      """
      as-of \(plan.rules.asOf.text) is more than a day from now: what has not come until then \
      counts as ended or missing. Check the time given as --as-of
      """, metadata: ["code": "as_of_late"])
  }
}
