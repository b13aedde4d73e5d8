import Domain
import EventStore
import Providers
import Reconciliation

/// Finds the days on which a feed, or a provider as a whole, went silent.
struct FeedGapBreaks {
  let ledger: Ledger
  let rules: FoldSettings
  /// A gap is less likely than 1 in so many.
  let odds: Int

  /// A `FEED_GAP` for each such day, from the facts that the ledger has now.
  ///
  /// A day is one of the provider as a whole when none of its apps shows it alone.
  func run() throws -> [Break] {
    let arrivals = Dictionary(grouping: try ledger.arrivals(), by: \.feed.provider)
    var breaks: [Break] = []
    for (provider, rows) in arrivals {
      var found: Set<Day> = []
      let apps = Dictionary(grouping: rows, by: \.feed.app)
      for (app, rows) in apps {
        let days = Dictionary(rows.map { ($0.day, $0.events) }) { $0 + $1 }
        for gap in gaps(days, of: provider, [app]) {
          found.insert(gap.day)
          breaks.append(try made(gap, of: provider, app))
        }
      }
      guard apps.count > 1 else { continue }
      let days = Dictionary(rows.map { ($0.day, $0.events) }) { $0 + $1 }
      for gap in gaps(days, of: provider, Array(apps.keys)) where !found.contains(gap.day) {
        breaks.append(try made(gap, of: provider, nil))
      }
    }
    return breaks
  }

  /// The gaps up to the last whole day that the apps are known of.
  private func gaps(
    _ days: [Day: Int64], of provider: Provider, _ apps: [StringID]
  ) -> [FeedGap] {
    let newest = apps.compactMap { rules.watermarks[Feed(provider: provider, app: $0)] }.max()
    guard let known = newest.map({ min($0, rules.asOf) }) else { return [] }
    let last = Day(number: CivilCalendar.utc.day(of: known).number - 1)
    return feedGaps(days, through: last, odds: odds)
  }

  private func made(
    _ gap: FeedGap, of provider: Provider, _ app: StringID?
  ) throws -> Break {
    let name = app.map { ledger.symbols.words[Int($0)] }
    let id = feedGapID(
      provider: provider, app: name ?? "", day: gap.day, isWholeProvider: app == nil)
    var found = Break(id: id, code: .feedGap, provider: provider)
    found.app = name ?? ""
    found.severity = .high
    let start = CivilCalendar.utc.start(of: gap.day)
    found.expectedAt = start
    let settlesAt = start + .days(1) + rules.deliveryWindow(provider)
    found.settlesAt = settlesAt
    let newest =
      rules.watermarks.filter {
        $0.key.provider == provider && (app == nil || $0.key.app == app)
      }.values.max() ?? rules.asOf
    found.status = settlesAt <= min(rules.asOf, newest) ? .open : .pending
    found.estimatedUSD = try worth(gap, provider, app)
    found.basis = found.estimatedUSD == nil ? .none : .provider
    found.evidence = try evidence(gap, of: app == nil ? "all apps" : "the app")
    found.action = BreakCode.feedGap.action(at: provider)
    return found
  }

  /// The usual net revenue of the events that are missing.
  private func worth(_ gap: FeedGap, _ provider: Provider, _ app: StringID?) throws -> Amount? {
    let net = try ledger.netUSD(of: gap.days, provider: provider, app: app)
    let missing = net * Int128(gap.expected - gap.delivered)
    guard gap.compared > 0, missing > 0 else { return nil }
    return Int64(exactly: missing.dividedHalfToEven(by: Int128(gap.compared)))
      .map(Amount.init(micros:))
  }

  private func evidence(_ gap: FeedGap, of whom: String) throws -> String {
    let day = CivilCalendar.utc.start(of: gap.day).text.prefix(10)
    let archives = try archivesCover(gap.day) ? "" : "; no archive covers \(day)"
    return "\(gap.delivered) events of \(whom) arrived on \(day) (UTC), about \(gap.expected) "
      + "were to be expected by the days around it; so few are less likely than 1 in \(odds)"
      + archives
  }

  /// Whether an archive's name has the date, or names have no dates.
  private func archivesCover(_ day: Day) throws -> Bool {
    let named = try ledger.archives().filter { $0.kind == .events }.map {
      captureTime(fileName: $0.name, in: .utc).map(CivilCalendar.utc.day)
    }
    return named.contains(nil) || named.contains(day) || named.isEmpty
  }
}
