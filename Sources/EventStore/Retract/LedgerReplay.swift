public import Domain

/// Fills a copy of a ledger from the archives again, without the retracted lines.
///
/// Archives keep their numbers and runs. Words, runs, published rows, closes, breaks and users that
/// anything still refers to stay unchanged; the next run folds everything.
public final class LedgerReplay {
  /// The copy.
  public let ledger: Ledger
  private let before: SealedParts

  /// Removes from `copy` everything that lines contributed.
  public init(_ copy: Ledger) throws(SubledgerError) {
    ledger = copy
    before = try copy.change("read the archives again") { database in
      let before = try SealedParts(of: Set(Self.emptied), in: database)
      try database.execute("create temp table previous as select * from archive")
      for table in Self.emptied { try database.execute("delete from \(table)") }
      return before
    }
  }

  /// Lists the archives again, those of `retracted` without counted lines; records the audit entry.
  public func finish(
    _ retractions: [Retraction], _ months: RetractedMonths,
    retracted: [Int64: RetractedLines], as new: AuditEntry
  ) throws(SubledgerError) {
    try ledger.change("record what was retracted") { database in
      try database.execute(
        """
        update archive set (run, name, path, bytes, modified_ms, inode, status, damage_offset) = (
          select run, name, path, bytes, modified_ms, inode, status, damage_offset
          from previous where previous.id = archive.id);
        insert into archive select * from previous where id not in (select id from archive);
        drop table previous;
        """)
      for archive in retracted.filter(\.value.isWhole).keys.sorted() {
        try database.run(
          """
          update archive set
            accepted = 0, duplicates = 0, rejected = 0, skipped = lines, rounded_amounts = 0,
            missing_is_proceed = 0, first_event_ms = null, last_event_ms = null,
            imported_until = null, beginning = null,
            snapshots_check = iif(snapshots_check is null, null, 0)
          where id = ?
          """, archive)
        try database.run(
          """
          insert into skipped (archive, reason, lines)
          select id, '\(retractedReason)', lines from archive where id = ? and lines > 0
          """, archive)
      }
      try removeUnnamedUsers(from: database)
      var act = new
      let facts = try retractions.map(\.text) + months.lines + before.rewritings().map(\.line)
      act.content = facts.joined(separator: "\n")
      try ledger.record(act)
    }
  }

  /// Removes users whom only retracted lines named.
  private func removeUnnamedUsers(from database: Connection) throws {
    var unnamed = Set(
      try database.all(
        """
        select key from user where key not in (
          select user from lineage union all select user from snapshot
          union all select user from customer union all select user from break_episode
          union all select key from erased)
        """
      ) { $0.int64(0) })
    guard !unnamed.isEmpty else { return }
    // A lineage can contain events of users other than the newest one's.
    try database.forEachRow("select events from lineage") { row in
      try EventRecords.forEach(in: row.blob(0)) { unnamed.remove($0.user) }
    }
    for user in unnamed { try database.run("delete from user where key = ?", user) }
  }

  /// Tables filled from lines, and results that no run computes; tables that refer to others first.
  private static let emptied =
    SealedTables.ofArchives + ["customer", "snapshot", "snapshot_content", "archive"]
    + SealedTables.arrivals + [
      "lineage", "identity", "event_conflict", "store_transaction", "lineage_link", "fold", "due",
      "reconciled", "snapshot_due",
    ]
}

extension Ledger {
  /// Prepares to read an archive again, which keeps its number and run; nil after the last one.
  ///
  /// Archives are read in the order of their numbers.
  public func expect(_ archive: ArchiveRecord?) {
    if let archive { lastArchive = Int32(truncatingIfNeeded: archive.id) - 1 }
    replayedRun = archive?.run
  }
}

/// The reason for which retracted lines are skipped.
public let retractedReason = "retracted"
