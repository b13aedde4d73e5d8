public import EventStore
public import Domain

/// The tables that queries join to cells: as-of, the calendar, the feeds' horizons and words.
///
/// They are temporary tables of the connection: a query needs no parameters except the requested
/// months, and any SQL engine with the same tables can run it. Words are joined only where rows are
/// few; see `Labels`.
struct ReportContext {
  let ledger: Ledger
  let plan: ReportPlan

  /// Creates the tables that all reports read; returns each feed's first incomplete months.
  @discardableResult
  func prepare() throws -> [Feed: [HorizonKind: Month]] {
    // The printed forms of foreign texts, by which queries sort as these are printed.
    try ledger.define("cell_text", cellText)
    try ledger.define("cell_name", nameText)
    try makeAsOf()
    try make("table", "break_state", as: PackageResources.break_states_sql)
    try run("drop table if exists temp.movement_month")
    try makeBreakCodes()
    try makeCalendar()
    try make("view", "fitting_schedule", as: PackageResources.fitting_schedules_sql)
    try makeWords()
    return try makeHorizons()
  }

  private func makeAsOf() throws {
    try table("as_of", "ms integer, month integer, last_month integer, run integer")
    try insert(
      "as_of", .integer(plan.rules.asOf.milliseconds), .integer(Int64(asOfMonth.number)),
      .integer(Int64(lastMonth.number)), .integer(plan.run))
  }

  /// Lists the months of each row of subscriptions, once for all reports that read them.
  func makeMovementMonths() throws {
    let query = String(decoding: PackageResources.movement_months_sql, as: UTF8.self)
    try run("create temp table if not exists movement_month as \(query)")
  }

  private func make(_ kind: String, _ name: String, as query: [UInt8]) throws {
    try run("drop \(kind) if exists temp.\(name)")
    try run("create temp \(kind) \(name) as \(String(decoding: query, as: UTF8.self))")
  }

  private var asOfMonth: Month { plan.rules.calendar.month(of: plan.rules.asOf) }

  /// The month of the last instant that the reports cover.
  private var lastMonth: Month {
    plan.rules.calendar.month(of: plan.rules.asOf - Interval(milliseconds: 1))
  }

  /// Creates every month from the first cell to the last, and its days.
  private func makeCalendar() throws {
    try table(
      "month",
      """
      number integer primary key, first_day integer, last_day integer, starts_ms integer,
      ends_ms integer
      """)
    let calendar = plan.rules.calendar
    let (first, last) = try span()
    for number in first.number...last.number {
      let month = Month(number: number)
      try insert(
        "month", .integer(Int64(number)), .integer(Int64(month.firstDay.number)),
        .integer(Int64(month.next.firstDay.number) - 1),
        .integer(calendar.start(of: month).milliseconds),
        .integer(calendar.start(of: month.next).milliseconds))
    }
    try table("day", "number integer primary key, month integer")
    try run(
      """
      with recursive walk (number, month, last_day) as (
        select first_day, number, last_day from month
        union all
        select number + 1, month, last_day from walk where number < last_day
      )
      insert into temp.day select number, month from walk
      """)
  }

  private func span() throws -> (first: Month, last: Month) {
    var months = [lastMonth, asOfMonth]
    func add(_ column: String, of rows: String, _ month: (Statement) -> Month) throws {
      // Two lookups; a single statement for both would read the whole table.
      for end in ["min", "max"] {
        try ledger.rows(sql: "select \(end)(\(column)) from \(rows)") { row in
          if !row.isNull(0) { months.append(month(row)) }
        }
      }
    }
    for cells in ["revenue", "trial", "excluded", "coverage"] {
      try add("day", of: "\(cells)_cell") { $0.day(0).month }
    }
    for (cells, column) in [("movement", "month"), ("renewal", "month"), ("retention", "cohort")] {
      try add(column, of: "\(cells)_cell") { $0.month(0) }
    }
    try add("expected_at", of: "temp.break_state where status in ('open', 'reopened')") {
      plan.rules.calendar.month(of: $0.instant(0))
    }
    return (months.min() ?? lastMonth, months.max() ?? lastMonth)
  }

  /// Computes until when each feed's numbers are complete: days and months that end by then are.
  private func makeHorizons() throws -> [Feed: [HorizonKind: Month]] {
    try table(
      "horizon",
      """
      provider integer, app integer, booked_day integer, booked_month integer,
      settled_month integer, ended_month integer, primary key (provider, app)
      """, options: "without rowid")
    let feeds = try plan.feeds ?? reportFeeds(of: ledger, by: plan.rules)
    let calendar = plan.rules.calendar
    let provisional = try ledger.provisionalSince(by: plan.rules)
    var months: [Feed: [HorizonKind: Month]] = [:]
    for feed in feeds {
      let horizon = horizon(of: feed, by: plan.rules, before: provisional[feed])
      let ends = [horizon.booked, horizon.settled, horizon.ended].map(calendar.month(of:))
      months[feed] = [.booked: ends[0], .settled: ends[1], .ended: ends[2]]
      try insert(
        "horizon",
        [
          .integer(Int64(feed.provider.rawValue)), .integer(Int64(feed.app)),
          .integer(Int64(calendar.day(of: horizon.booked).number)),
        ] + ends.map { .integer(Int64($0.number)) })
    }
    return months
  }

  /// Copies the words that the ledger's views lack, and the effects of movements: on active
  /// subscriptions and on recurring revenue, and whether they are reasons.
  private func makeWords() throws {
    let words = [
      ("event_kind_name", Labels.Part.eventKind.names),
      ("gap_name", CoverageGap.allCases.map { (Int64($0.rawValue), $0.name) }),
    ]
    for (name, words) in words {
      try table(name, "id integer primary key, word text")
      for (id, word) in words { try insert(name, .integer(id), .text(word)) }
    }
    try table(
      "movement_name",
      "id integer primary key, word text, active integer, mrr integer, is_reason integer")
    for movement in Movement.allCases {
      try insert(
        "movement_name", .integer(Int64(movement.rawValue)), .text(movement.name),
        .integer(movement.activeSign), .integer(movement.revenueSign),
        .integer(movement.isReason ? 1 : 0))
    }
  }

  func table(_ name: String, _ columns: String, options: String = "") throws {
    try run("drop table if exists temp.\(name)")
    try run("create temp table \(name) (\(columns)) \(options)")
  }

  func insert(_ table: String, _ values: LedgerValue...) throws { try insert(table, values) }

  func insert(_ table: String, _ values: [LedgerValue]) throws {
    let marks = values.map { _ in "?" }.joined(separator: ", ")
    try ledger.rows(sql: "insert into temp.\(table) values (\(marks))", arguments: values) { _ in }
  }

  private func run(_ sql: String) throws { try ledger.rows(sql: sql) { _ in } }
}

/// The feeds that the reports count: each that sent an event or has a cell.
public func reportFeeds(of ledger: Ledger, by rules: FoldSettings) throws -> Set<Feed> {
  var feeds = Set(rules.watermarks.keys)
  for cells in ["revenue_month", "movement", "renewal", "trial", "retention", "coverage"] {
    try ledger.rows(sql: "select distinct provider, app from \(cells)_cell") { row in
      try feeds.insert(Feed(provider: row.provider(0), app: row.symbol(1)))
    }
  }
  return feeds
}
