internal import EventStore
internal import Domain

/// What runs before this one published, and how far this one's rows are complete.
///
/// Made after the temporary tables of `ReportContext`.
final class PublishedHistory {
  let ledger: Ledger
  let plan: ReportPlan
  /// How far each feed is complete now.
  let horizons: [PublishedHorizon]
  /// Closes that are in force, by month.
  let closes: [Month: MonthClose]
  /// The first of the runs up to this one that publish the same; rows are compared with what runs
  /// before it published.
  let first: Int64
  private var newest: [CompletedMonth: Int64?] = [:]

  private struct CompletedMonth: Hashable {
    let month: Month
    let kind: HorizonKind
    let feed: Feed
  }

  init(_ ledger: Ledger, _ plan: ReportPlan) throws {
    self.ledger = ledger
    self.plan = plan
    var horizons: [PublishedHorizon] = []
    try ledger.rows(
      sql: "select provider, app, booked_month, settled_month, ended_month from temp.horizon"
    ) { row in
      horizons.append(
        PublishedHorizon(
          feed: Feed(provider: try row.provider(0), app: try row.symbol(1)), booked: row.month(2),
          settled: row.month(3), ended: row.month(4)))
    }
    self.horizons = horizons
    closes = try ledger.closes(zone: plan.zone, knownTo: plan.run)
    first = try ledger.firstRepetition(of: plan.run)
  }

  /// Whether rows of a feed are complete now for `month`, however few there are.
  func isComplete(_ month: Month, _ kind: HorizonKind, _ feed: Feed?) -> Bool {
    horizons.contains { $0.feed == feed && month < $0.first(kind) }
  }

  /// The newest earlier run in which the rows of a feed were complete for `month`.
  func lastRun(completing month: Month, _ kind: HorizonKind, _ feed: Feed?) throws -> Int64? {
    guard let feed else { return nil }
    let coverage = CompletedMonth(month: month, kind: kind, feed: feed)
    if let known = newest[coverage] { return known }
    let run = try ledger.newestPublication(
      zone: plan.zone, before: first, completing: month, kind, of: feed)
    newest[coverage] = .some(run)
    return run
  }
}

extension ReportPlan {
  /// Time zone of days and months; numbers of another one are not compared.
  var zone: String { rules.calendar.identifier }
}

extension PublishedHorizon {
  func first(_ kind: HorizonKind) -> Month {
    switch kind {
    case .booked: booked
    case .settled: settled
    case .ended: ended
    }
  }
}
