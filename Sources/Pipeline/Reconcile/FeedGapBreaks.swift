import Domain
import EventStore
import Logging
import Providers
import Reconciliation

/// Finds the days and hours in which deliveries of a feed, or of a whole provider, are missing.
struct FeedGapBreaks {
  let ledger: Ledger
  let rules: FoldSettings
  /// All archives that were read.
  let archives: [ArchiveRecord]

  /// Returns a `FEED_GAP` for each of them, from the current facts of the ledger.
  ///
  /// A gap is attributed to the whole provider only when none of its apps shows it alone.
  func run() throws -> [Break] {
    let arrivals = Dictionary(grouping: try ledger.arrivals(), by: \.key.provider)
    var breaks: [Break] = []
    for (provider, apps) in arrivals {
      let all = apps.count > 1 ? [(StringID?.none, apps.flatMap(\.value))] : []
      var ofApps: [FeedGap] = []
      for (app, hours) in apps.map({ (Optional($0.key.app), $0.value) }) + all {
        guard let known = known(of: provider, app) else { continue }
        // Only up to the last full hour.
        for gap in feedGaps(hours, before: known.hour)
        where app != nil || !ofApps.contains(where: { $0.hours.overlaps(gap.hours) }) {
          if app != nil { ofApps.append(gap) }
          breaks.append(try makeBreak(for: gap, of: provider, app, knownAt: known))
        }
      }
    }
    return breaks
  }

  /// Returns the time of the newest input of an app, or of all apps; nil if there is none.
  private func known(of provider: Provider, _ app: StringID?) -> Instant? {
    let newest = rules.watermarks.filter {
      $0.key.provider == provider && (app == nil || $0.key.app == app)
    }.values.map(\.newest).max()
    return newest.map { min($0, rules.asOf) }
  }

  private func makeBreak(
    for gap: FeedGap, of provider: Provider, _ app: StringID?, knownAt known: Instant
  ) throws -> Break {
    let name = app.map { ledger.symbols.words[Int($0)] } ?? ""
    let id = feedGapID(gap, provider: provider, app: name, isWholeProvider: app == nil)
    var found = Break(id: id, code: .feedGap, provider: provider)
    found.app = name
    found.severity = .high
    let settlesAt = Instant(hour: gap.hours.upperBound) + rules.deliveryWindow(provider)
    (found.expectedAt, found.settlesAt) = (Instant(hour: gap.hours.lowerBound), settlesAt)
    found.status = settlesAt <= known ? .open : .pending
    found.estimatedUSD = try worth(gap, provider, app)
    found.basis = found.estimatedUSD == nil ? .none : .provider
    found.evidence = evidence(gap, of: app == nil ? "all apps" : "the app")
    found.action = BreakCode.feedGap.action(at: provider)
    return found
  }

  /// Returns the usual net revenue of the missing events.
  private func worth(_ gap: FeedGap, _ provider: Provider, _ app: StringID?) throws -> Amount? {
    let net = try ledger.netUSD(of: gap.days, provider: provider, app: app)
    let missing = net * Int128(gap.expected - gap.delivered)
    guard gap.compared > 0, missing > 0 else { return nil }
    return Int64(exactly: missing.dividedHalfToEven(by: Int128(gap.compared)))
      .map(Amount.init(micros:))
  }

  private func evidence(_ gap: FeedGap, of whom: String) -> String {
    let when =
      gap.day.map { "created on \($0.text) (UTC)" }
      ?? "created from \(Instant(hour: gap.hours.lowerBound).text) to "
      + Instant(hour: gap.hours.upperBound).text
    let others = gap.day == nil ? "the same hours of the days" : "the days"
    let day = gap.day.flatMap { archivesCover($0) ? nil : "; no archive covers \($0.text)" }
    return "\(counted(gap.delivered, "event")) of \(whom) \(when) arrived, about \(gap.expected) "
      + "were expected from \(others) around it; so few are less likely than 1 in \(feedGapOdds)"
      + (day ?? "")
  }

  /// Whether an archive's name has the date, or names have no dates.
  private func archivesCover(_ day: Day) -> Bool {
    let days = archives.lazy.filter { $0.kind == .events }.map {
      captureTime(fileName: $0.name, in: .utc).map(CivilCalendar.utc.day)
    }
    return days.isEmpty || days.contains(nil) || days.contains(day)
  }
}

/// Returns a `STALE_INPUT` break for each feed that is silent for too long at as-of; feeds that
/// stopped within a day share one.
func staleFeeds(_ rules: FoldSettings) -> [Break] {
  let stale = rules.watermarks.values.filter { rules.isStale($0.feed) }
    .sorted { ($0.newest, $0.name) < ($1.newest, $1.name) }
  var together: [[Watermark]] = []
  for feed in stale {
    if let first = together.last?[0], feed.newest.since(first.newest) <= .days(1) {
      together[together.count - 1].append(feed)
    } else {
      together.append([feed])
    }
  }
  return together.compactMap { stalled($0, asOf: rules.asOf) }
}

private extension Watermark {
  /// Time at which the gap becomes too long.
  var staleAt: Instant { newest + gapMax }

  var name: String { "\(feed.provider.name) \(app.isEmpty ? "(no app id)" : app.shown())" }
}

/// Returns the break of feeds that stopped together.
///
/// Its id is that of the feed that became stale first, so that the others do not change it.
private func stalled(_ feeds: [Watermark], asOf: Instant) -> Break? {
  guard let leader = feeds.min(by: { ($0.staleAt, $0.name) < ($1.staleAt, $1.name) }) else {
    return nil
  }
  var fingerprint = Fingerprint()
  fingerprint.combine(BreakCode.staleInput.rawValue)
  fingerprint.combine(leader.feed.provider.name)
  fingerprint.combine(leader.app)
  var found = Break(id: fingerprint.breakID, code: .staleInput, provider: leader.feed.provider)
  found.app = feeds.count == 1 ? leader.app : ""
  found.severity = .high
  found.expectedAt = leader.staleAt
  let names = feeds.map { "\($0.name) until \($0.newest.text)" }.joined(separator: ", ")
  found.evidence =
    feeds.count == 1
    ? "the newest input of \(leader.name) is of \(leader.newest.text), as-of is \(asOf.text), and "
      + "the feed may be silent until \(leader.staleAt.text)"
    : "\(feeds.count) feeds stopped within a day, as-of is \(asOf.text): \(names)"
  found.action = BreakCode.staleInput.action(at: leader.feed.provider)
  return found
}

extension RunPipeline {
  /// Warns of an as-of that must be a mistake: whatever has not arrived until then counts as
  /// missing.
  func warnOfLateAsOf() {
    guard plan.hasExplicitAsOf, plan.rules.asOf > plan.now + .days(1) else { return }
    log.warning(
      """
      as-of \(plan.rules.asOf.text) is more than a day from now: what has not arrived by then \
      counts as ended or missing. Check --as-of
      """, metadata: ["code": "as_of_late"])
  }
}
