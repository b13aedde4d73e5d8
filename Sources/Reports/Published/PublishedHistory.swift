internal import EventStore
internal import Domain

/// What earlier runs published, and how far the rows of this run are complete.
final class PublishedHistory {
  let ledger: Ledger
  let plan: ReportPlan
  /// For each feed the first month that is not complete now.
  let horizons: [Feed: [HorizonKind: Month]]
  /// Closes that are in force, by month.
  let closes: [Month: MonthClose]
  /// The first run that published the same; rows are compared with what earlier runs published.
  let first: Int64
  /// Results of `lastRun`.
  private var lastRuns: [Feed: [HorizonKind: [Month: Int64?]]] = [:]
  private var changes: [Int64: LaterChanges] = [:]

  init(_ ledger: Ledger, _ plan: ReportPlan, _ horizons: [Feed: [HorizonKind: Month]]) throws {
    (self.ledger, self.plan, self.horizons) = (ledger, plan, horizons)
    closes = try ledger.closes(zone: plan.zone, knownTo: plan.run)
    first = try ledger.firstRepetition(of: plan.run)
  }

  /// What changed after run `run` published; read once for all reports of a connection.
  func changes(since run: Int64) -> LaterChanges {
    let found = changes[run] ?? LaterChanges(ledger, plan, since: run)
    changes[run] = found
    return found
  }

  /// Whether rows of a feed for `month` are complete now, even if there are none: as far as they
  /// were if the feed has no more deliveries, because all were retracted.
  func isComplete(_ month: Month, _ kind: HorizonKind, _ feed: Feed?) throws -> Bool {
    guard let feed else { return false }
    if let horizon = horizons[feed]?[kind] { return month < horizon }
    guard let last = try lastRun(completing: month, kind, feed) else { return false }
    return try ledger.run(last).map { plan.rules.asOf >= $0.asOf } ?? false
  }

  /// The newest earlier run in which the rows of a feed were complete for `month`.
  func lastRun(completing month: Month, _ kind: HorizonKind, _ feed: Feed?) throws -> Int64? {
    guard let feed else { return nil }
    if let known = lastRuns[feed]?[kind]?[month] { return known }
    let run = try ledger.newestPublication(
      zone: plan.zone, before: first, completing: month, kind, of: feed)
    lastRuns[feed, default: [:]][kind, default: [:]][month] = .some(run)
    return run
  }
}

extension ReportPlan {
  /// Time zone of days and months; numbers of different zones are not compared.
  var zone: String { rules.calendar.identifier }
}
