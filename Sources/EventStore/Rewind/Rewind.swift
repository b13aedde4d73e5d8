internal import Domain

extension Ledger {
  /// Takes this ledger back to what it knew when `run` published, and leaves `run` to be done
  /// again: archives, and what they brought, runs and cells that came later are gone.
  ///
  /// For copies of a ledger; may take as long as reading all of it. What a run makes anew (facts,
  /// the breaks of its as-of, decisions) is left to it.
  public func rewind(to run: Int64) throws(LedgerError) {
    try change("go back to an earlier run") { database in
      let limit = try Statement(
        database, "select id from archive where run <= ? order by id desc limit 1")
      limit.bind(1, run)
      let archive = try limit.first { Int32(truncatingIfNeeded: $0.int64(0)) } ?? 0
      try RewoundEvents(database, words: symbols.words, archive: archive).write()
      for (table, condition) in Self.arrivals {
        let removal = try Statement(database, "delete from \(table) where \(condition)")
        removal.bind(1, Int64(archive))
        try removal.run()
      }
      for (table, condition) in Self.ofRuns {
        let removal = try Statement(database, "delete from \(table) where \(condition)")
        removal.bind(1, run)
        try removal.run()
      }
      try RewoundBreaks(database, run: run).write()
      // Without it, everything is folded.
      try database.execute("delete from fold")
      let reopening = try Statement(
        database, "update run set published = null, record = null where id = ?")
      reopening.bind(1, run)
      try reopening.run()
    }
  }

  /// What came with archives behind the limit.
  private static let arrivals = [
    ("skipped", "archive > ?"), ("rejected", "archive > ?"), ("reject", "archive > ?"),
    ("snapshot", "archive > ?"), ("archive", "id > ?"),
  ]

  /// What came with runs behind the one that is done again; what that one wrote, too.
  private static let ofRuns = [
    ("delivery_cell", "run > ?"), ("latency_cell", "run > ?"), ("receipt_cell", "run > ?"),
    ("failed_attempt", "run > ?"), ("watermark", "run > ?"), ("run_part", "run >= ?"),
    ("publication", "run >= ?"), ("published_horizon", "run >= ?"),
    ("published_row", "version in (select id from published where run >= ?)"),
    ("published", "run >= ?"), ("published_month", "run >= ?"),
    ("closed_report", "act in (select id from act where run >= ?)"), ("act", "run >= ?"),
    ("run", "id > ?"),
  ]
}

/// Takes versions of events back that came with archives behind a number.
private struct RewoundEvents {
  private let archive: Int32
  private let lineages: LineageWriter
  private let versions: EventVersions
  private let page: Statement
  private let removal: Statement
  private let hasContests: Bool

  private struct Row {
    let key: Int64
    let shop: SubscriptionScope
    let events: [UInt8]
  }

  init(_ database: Connection, words: [String], archive: Int32) throws {
    self.archive = archive
    lineages = try LineageWriter(database)
    versions = try EventVersions(database, words: words, lineages: lineages)
    page = try Statement(
      database,
      """
      select key, provider, app, environment, store, events from lineage
      where key >= ? order by key limit 64
      """)
    removal = try Statement(database, "delete from lineage where key = ?")
    hasContests =
      try Statement(database, "select 1 from contested limit 1").first { _ in
        true
      } ?? false
  }

  func write() throws {
    // Versions whose events have others that stay: few, for most events have one.
    var doubts: [EventVersion] = []
    var next: Int64? = .min
    while let start = next {
      page.bind(1, start)
      var rows: [Row] = []
      try page.forEachRow { row in
        rows.append(
          Row(
            key: row.int64(0), shop: try SubscriptionScope(row, from: 1), events: Array(row.blob(5))
          ))
      }
      for row in rows { try take(row, &doubts) }
      next = rows.last.flatMap { $0.key < .max ? $0.key + 1 : nil }
    }
    for doubt in doubts { try versions.settleAgain(doubt) }
  }

  private func take(_ row: Row, _ doubts: inout [EventVersion]) throws {
    try row.events.withUnsafeBytes { bytes in
      var kept: [EventRecord] = []
      var removed: [EventVersion] = []
      try EventRecords.forEach(in: bytes) { record in
        let version = try EventVersion(record, of: row.key, row.shop)
        if version.event.place.archive <= archive {
          kept.append(record)
        } else {
          removed.append(version)
        }
      }
      guard !removed.isEmpty else { return }
      if kept.isEmpty {
        removal.bind(1, row.key)
        try removal.run()
      } else {
        try lineages.renew(row.key, kept)
      }
      for version in removed {
        let isNamed = kept.contains { $0.isNamed(like: version.event) }
        if try isNamed || hasContests && versions.isContested(version) { doubts.append(version) }
      }
    }
  }
}
