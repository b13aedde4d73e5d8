internal import EventStore
internal import Domain

/// What runs before this one published, and how far this one's rows are complete.
///
/// Made after the helping tables of `ReportContext`.
final class PublishedHistory {
  let ledger: Ledger
  let plan: ReportPlan
  /// How far each feed is complete now.
  let horizons: [PublishedHorizon]
  /// Closes that stand, by month.
  let closes: [Month: MonthClose]
  /// Publications before this run are compared with: the runs from it on say the same again.
  let first: Int64
  private var feeds: [ExactText: PublishedHorizon] = [:]
  private var newest: [CompletedMonth: Int64?] = [:]

  private struct CompletedMonth: Hashable {
    let month: Month
    let kind: HorizonKind
    let feed: Feed?
  }

  init(_ ledger: Ledger, _ plan: ReportPlan) throws {
    self.ledger = ledger
    self.plan = plan
    var horizons: [PublishedHorizon] = []
    var names: [ExactText] = []
    try ledger.rows(
      sql: """
        select h.provider, h.app, h.booked_month, h.settled_month, h.ended_month,
          provider.word, app.word
        from temp.horizon as h
        join temp.provider_name as provider on provider.id = h.provider
        join temp.word as app on app.id = h.app
        order by h.provider, app.word
        """
    ) { row in
      let horizon = try PublishedHorizon(row)
      horizons.append(horizon)
      names.append(ExactText("\(row.text(5)),\(quoted(row.text(6)))"))
    }
    self.horizons = horizons
    feeds = Dictionary(zip(names, horizons), uniquingKeysWith: { first, _ in first })
    closes = try ledger.closes(zone: plan.zone, knownTo: plan.run)
    first = try ledger.firstRepetition(of: plan.run)
  }

  /// Whether rows of a feed are complete now for `month`, however few there are.
  func isComplete(_ month: Month, _ kind: HorizonKind, feed: ExactText) -> Bool {
    guard let horizon = feeds[feed] else { return false }
    return month < horizon.first(kind)
  }

  /// The newest earlier run whose rows of `month` were complete, of a feed as it is printed.
  func newestPublication(
    completing month: Month, _ kind: HorizonKind, feed: ExactText
  ) throws -> Int64? {
    guard let horizon = feeds[feed] else { return nil }
    return try newestPublication(CompletedMonth(month: month, kind: kind, feed: horizon.feed))
  }

  /// Whether an earlier run could publish complete rows of `month`.
  func wasComplete(_ month: Month, _ kind: HorizonKind) throws -> Bool {
    try newestPublication(CompletedMonth(month: month, kind: kind, feed: nil)) != nil
  }

  private func newestPublication(_ coverage: CompletedMonth) throws -> Int64? {
    if let known = newest[coverage] { return known }
    let run = try ledger.newestPublication(
      zone: plan.zone, before: first, completing: coverage.month, coverage.kind,
      of: coverage.feed)
    newest[coverage] = .some(run)
    return run
  }
}

extension ReportPlan {
  /// Time zone of days and months; numbers of another one are not compared.
  var zone: String { rules.calendar.identifier }
}

extension PublishedHorizon {
  init(_ row: LedgerRow) throws(LedgerError) {
    self.init(
      feed: Feed(provider: try row.provider(0), app: try row.symbol(1)), booked: row.month(2),
      settled: row.month(3), ended: row.month(4))
  }

  /// The first month that is not complete.
  func first(_ kind: HorizonKind) -> Month {
    switch kind {
    case .booked: booked
    case .settled: settled
    case .ended: ended
    }
  }
}

/// Text of a cell as it stands in the file.
func quoted(_ cell: String) -> String {
  var line = CSVLine()
  line.add(printed: cell)
  return String(decoding: line.buffer, as: UTF8.self)
}
