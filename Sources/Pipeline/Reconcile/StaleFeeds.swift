import EventStore
import Logging
import Reconciliation
import Domain

/// A `STALE_INPUT` for each feed whose newest input is older than `freshness_max` at as-of.
func staleFeeds(_ ledger: Ledger, _ rules: FoldSettings) -> [Break] {
  rules.watermarks.filter { rules.isStale($0.key) }.map { feed, watermark in
    let app = ledger.symbols.words[Int(feed.app)]
    var fingerprint = Fingerprint()
    fingerprint.combine(BreakCode.staleInput.rawValue)
    fingerprint.combine(feed.provider.name)
    fingerprint.combine(app)
    var found = Break(
      id: fingerprint.breakID, code: .staleInput,
      provider: feed.provider)
    found.app = app
    found.severity = .high
    found.expectedAt = watermark + rules.freshnessMax
    found.evidence = "the newest input is of \(watermark.text), as-of is \(rules.asOf.text)"
    found.action = BreakCode.staleInput.action(at: feed.provider)
    return found
  }
}

extension RunPipeline {
  /// Warns of newest inputs that cannot be true: until they have come, their feeds are never stale.
  ///
  /// Only the default of as-of is the time that it is: an as-of that is said may look back.
  func warnOfFutureInput(of ledger: Ledger) throws {
    let latest = plan.now + .days(1)
    guard !plan.hasExplicitAsOf else {
      guard plan.rules.asOf > latest else { return }
      return log.warning(
        """
        as-of \(plan.rules.asOf.text) is more than a day from now: what has not come until then \
        counts as ended or missing. Check the time given as --as-of
        """)
    }
    for mark in try ledger.watermarks() where mark.newest > latest {
      let app = ledger.symbols.words[Int(mark.app)].shown()
      log.warning(
        """
        the newest input of \(mark.provider.name) \(app.isEmpty ? "(no app id)" : app) is of \
        \(mark.newest.text), more than a day from now: until then the feed cannot be \
        stale. Look in the archives for that time, and at the clock that wrote it
        """)
    }
  }
}
