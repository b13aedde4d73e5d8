public import Domain

extension Ledger {
  /// Removes everything that arrived after `run` had read its archives, so that `run` can be
  /// repeated: later archives and their contents, later runs, and what `run` itself wrote.
  ///
  /// For copies of a ledger; may take as long as reading all of it. Results that a run computes
  /// again (facts, the breaks of its as-of, decisions) are left for it to replace.
  public func rewind(to run: Int64) throws(SubledgerError) {
    try change("go back to an earlier run") { database in
      let archive =
        try database.first(
          "select id from archive where run <= ? order by id desc limit 1", run
        ) { $0.archive(0) } ?? 0
      try removeVersions(after: archive, in: database)
      for table in SealedTables.ofArchives + ["customer", "snapshot"] {
        try database.run("delete from \(table) where archive > ?", archive)
      }
      try database.run("delete from archive where id > ?", archive)
      for (table, condition) in Self.ofRuns {
        try database.run("delete from \(table) where \(condition)", run)
      }
      try database.rewindBreaks(to: run)
      // Without these rows, everything is linked and folded again.
      try database.execute(
        "delete from fold; delete from store_transaction; delete from lineage_link")
      try database.run("update run set published = null, record = null where id = ?", run)
    }
  }

  /// Rows that the run itself and later ones wrote, and later runs.
  private static let ofRuns =
    SealedTables.arrivals.map { ($0, "run > ?") } + [
      ("run_part", "run >= ?"), ("drill", "run >= ?"), ("publication", "run >= ?"),
      ("published_horizon", "run >= ?"),
      ("published_row", "version in (select id from published where run >= ?)"),
      ("published", "run >= ?"), ("published_month", "run >= ?"),
      ("closed_report", "act in (select id from act where run >= ?)"), ("act", "run >= ?"),
      ("run", "id > ?"),
    ]
}

extension Connection {
  /// Restores breaks to their state before `run`.
  ///
  /// A run with an as-of not before the break was last seen resolves an open break that it does not
  /// find. So every such run up to the end of an episode found the break, and the runs need not be
  /// stored.
  func rewindBreaks(to run: Int64) throws {
    try self.run("delete from break_episode where first_run >= ?1", run)
    try self.run(
      """
      update break_episode set resolved_ms = null, resolved_run = null where resolved_run >= ?1
      """, run)
    try self.run(
      """
      update break_episode set
        last_seen_ms = max(
          first_seen_ms,
          (select max(as_of_ms) from run where id >= break_episode.first_run and id < ?1)),
        last_run = (select max(id) from run where id < ?1)
      where last_run >= ?1
      """, run)
  }
}

extension Ledger {
  /// Removes versions of events that arrived in archives after `archive`.
  private func removeVersions(after archive: Int32, in database: Connection) throws {
    let lineages = try LineageWriter(database)
    let versions = EventVersions(database, words: symbols.words, lineages: lineages)
    let hasConflicts = try database.isAny("event_conflict")
    // Removed versions of events that keep others: few, because most events have one version.
    var contested: [MergeNotes.ContestedEvent] = []
    try database.forEachRow("\(LineageRow.selectWithEvents) order by l.key") { row in
      let scope = try SubscriptionScope(row)
      var kept: [EventRecord] = []
      var removed: [Event] = []
      try EventRecords.forEach(in: row.blob(LineageRow.eventsColumn)) { record in
        let event = try record.event(of: scope)
        if event.place.archive <= archive { kept.append(record) } else { removed.append(event) }
      }
      guard !removed.isEmpty else { return }
      // SQLite allows a change of the row that a query has reached.
      try lineages.renew(scope.lineage, kept)
      let named = Set(kept.map(\.identity))
      for event in removed {
        let isNamed = named.contains(event.identity)
        let isElsewhere =
          try hasConflicts
          && !database.holders(of: event.identity, at: event.time.milliseconds).isEmpty
        if isNamed || isElsewhere { contested.append(MergeNotes.ContestedEvent(event)) }
      }
    }
    try versions.select(versionsOf: contested)
  }
}

extension Ledger {
  /// Removes an event in all its versions, as if it had never arrived.
  ///
  /// For copies of a ledger: the counts of archives and deliveries do not change, and the index of
  /// identities keeps an entry without target.
  public func remove(_ event: Event) throws(SubledgerError) {
    try change("remove an event") { database in
      try database.forEachRow("select events from lineage where key = ?", event.lineage) { row in
        var records: [EventRecord] = []
        try EventRecords.forEach(in: row.blob(0)) { record in
          let isOther =
            record.identity != event.identity || record.time != event.time.milliseconds
          if isOther { records.append(record) }
        }
        try LineageWriter(database).renew(event.lineage, records)
      }
      try database.run(
        "delete from event_conflict where identity = ? and time = ? and lineage = ?",
        event.identity, event.time, event.lineage)
    }
  }
}
