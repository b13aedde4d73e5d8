public import Domain

/// The input from which the ledger's cells are computed.
public struct FactCheckpoint: Sendable, Equatable {
  /// Business time at which events were folded.
  public var asOf: Instant
  /// SHA-256 of everything that determines the meaning of events, except the events themselves.
  public var rules: String
  /// SHA-256 of everything else on which the comparison of users with snapshots depends.
  public var reconciliation = ""
  /// The last archive whose events were folded.
  public var archive: Int32
  /// Number of groups when all were last folded.
  public var groups: Int64 = 0
  /// The watermark of each feed.
  public var feeds: [Watermark]
}

extension FactCheckpoint {
  /// Creates a checkpoint for the events in the archives up to `archive`.
  public init(asOf: Instant, rules: String, archive: Int32, feeds: [Watermark] = []) {
    self.init(asOf: asOf, rules: rules, reconciliation: "", archive: archive, feeds: feeds)
  }
}

extension Ledger {
  /// Returns the checkpoint of the cells; nil before the first fold.
  public func foldBasis() throws(SubledgerError) -> FactCheckpoint? {
    try access("read the last fold") { database in
      let feeds = try database.all(
        """
        select provider, app, newest_ms, begin_ms, silence_ms from fold_feed order by provider, app
        """
      ) { row in
        try Watermark(
          of: row.feed(0), newest: row.instant(2), begin: row.instant(3),
          gapMax: Interval(milliseconds: row.int64(4)))
      }
      return try database.first(
        "select as_of_ms, rules, reconciliation, archive, groups from fold"
      ) { row in
        FactCheckpoint(
          asOf: row.instant(0), rules: row.text(1), reconciliation: row.text(2),
          archive: row.archive(3), groups: row.int64(4), feeds: feeds)
      }
    }
  }

  /// Returns the number of the last archive in the ledger; 0 if there is none.
  public func newestArchive() throws(SubledgerError) -> Int32 {
    try access("look for an archive") { try $0.newestArchive() }
  }

  /// Stores `basis` as the checkpoint of the cells, in the transaction that changes them.
  func write(_ basis: FactCheckpoint, to database: Connection) throws {
    try database.run(
      """
      insert or replace into fold (id, as_of_ms, rules, reconciliation, archive, groups)
      values (1, ?, ?, ?, ?, ?)
      """, basis.asOf, basis.rules, basis.reconciliation, basis.archive, basis.groups)
    try database.execute("delete from fold_feed")
    for mark in basis.feeds {
      try database.run(
        """
        insert into fold_feed (provider, app, newest_ms, begin_ms, silence_ms)
        values (?, ?, ?, ?, ?)
        """, mark.feed.provider, mark.feed.app, mark.newest, mark.begin, mark.gapMax.milliseconds)
    }
  }
}
