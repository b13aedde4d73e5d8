internal import Domain

/// Writes the changes that one run makes to the episodes of breaks.
///
/// A run as of a time before the end of the last episode is not part of the break's history: its
/// breaks are stored as episode 0 until the next run.
struct BreakEpisodes {
  private let database: Connection
  private let asOf: Int64
  private let run: Int64
  private let last: Statement
  private let upsert: Statement

  init(_ database: Connection, asOf: Instant, run: Int64) throws {
    self.database = database
    self.asOf = asOf.milliseconds
    self.run = run
    last = try database.statement(
      """
      select episode, resolved_ms from break_episode
      where break_id = ? order by episode desc limit 1
      """)
    let columns = BreakContent.columns
    let marks = columns.indices.map { "?\($0 + 5)" }.joined(separator: ", ")
    upsert = try database.statement(
      """
      insert into break_episode (
        break_id, episode, first_seen_ms, last_seen_ms, first_run, last_run,
        \(columns.joined(separator: ", ")))
      values (?1, ?2, ?3, ?3, ?4, ?4, \(marks))
      on conflict (break_id, episode) do update set
        last_seen_ms = max(last_seen_ms, ?3), last_run = ?4,
        \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      """)
  }

  /// Undoes an earlier attempt at this run that ended before it published, and removes episodes 0
  /// of the previous run.
  func undoAttempt() throws {
    try database.execute("delete from break_episode where episode = 0")
    try database.rewindBreaks(to: run)
  }

  func see(_ item: Break, _ counts: inout BreakCounts) throws {
    last.bind(1, item.id)
    let known = try last.first { ($0.int64(0), $0.optionalInt64(1)) }
    guard let (episode, resolved) = known else {
      counts.new += 1
      return try write(item, episode: 1)
    }
    guard let resolved else { return try write(item, episode: episode) }
    guard asOf >= resolved else { return try write(item, episode: 0) }
    counts.reopened += 1
    try write(item, episode: episode + 1)
  }

  /// Ends the episodes that this run did not find; returns how many.
  func resolveUnseen() throws -> Int64 {
    try database.run(
      """
      update break_episode set resolved_ms = ?1, resolved_run = ?2
      where resolved_ms is null and last_run <> ?2 and last_seen_ms <= ?1
      """, asOf, run)
    return Int64(database.changesCount)
  }

  private func write(_ item: Break, episode: Int64) throws {
    upsert.bindAll(item.id, episode, asOf, run)
    BreakContent.bind(item, to: upsert, from: 5)
    try upsert.run()
  }
}

/// The columns of `break_episode` that describe the break, without its key and its dates.
enum BreakContent {
  static let columns = [
    "code", "status", "severity", "provider", "app", "environment", "store", "user",
    "subscription", "transaction_id", "product_id", "expected_ms", "settles_ms",
    "evidence_expires_ms", "missing_events", "estimated_usd", "amount_basis", "evidence", "action",
    "lineage",
  ]

  static let selected = columns.joined(separator: ", ") + ", break_id"

  /// Binds the columns of `item` from parameter `first` on, in the order of `columns`.
  static func bind(_ item: Break, to row: Statement, from first: Int32) {
    let values: [any Bindable] = [
      item.code, item.status, item.severity, item.provider, item.app, item.environment, item.store,
      Int64(userKeyText: item.user), item.subscription, item.transaction, item.product,
      item.expectedAt, item.settlesAt, item.evidenceExpiresAt, item.missingEvents,
      item.estimatedUSD?.micros, item.basis, item.evidence, item.action, item.lineage,
    ]
    for (offset, value) in values.enumerated() {
      value.bind(to: row, at: first + Int32(offset))
    }
  }

  static func read(_ row: Statement) throws(SubledgerError) -> Break {
    var item = Break(id: row.text(20), code: try row.value(0), provider: try row.value(3))
    item.status = try row.value(1)
    item.severity = try row.value(2)
    item.app = row.text(4)
    item.environment = try row.value(5)
    item.store = try row.value(6)
    item.user = row.int64(7).userKeyText
    item.subscription = row.text(8)
    item.transaction = row.text(9)
    item.product = row.text(10)
    item.expectedAt = row.optionalInstant(11)
    item.settlesAt = row.optionalInstant(12)
    item.evidenceExpiresAt = row.optionalInstant(13)
    item.missingEvents = row.int64(14)
    item.estimatedUSD = row.optionalInt64(15).map(Amount.init(micros:))
    item.basis = try row.value(16)
    item.evidence = row.text(17)
    item.action = row.text(18)
    item.lineage = row.int64(19)
    return item
  }
}
