/// An archive with the account of its lines.
public struct ArchiveAccount: Sendable, Equatable {
  /// Path relative to the root it was given under.
  public var name: String
  /// Of the file's bytes, as 64 hexadecimal digits.
  public var sha256: String
  /// Events or snapshots.
  public var kind: ArchiveKind
  /// How it was read.
  public var status: ArchiveStatus
  /// What became of its lines; event times are left out.
  public var tallies: ArchiveTallies
}

extension Ledger {
  /// Every archive ever seen, by kind, name and content.
  public func archives() throws(LedgerError) -> [ArchiveAccount] {
    try access("list the archives") { database in
      let statement = try Statement(
        database,
        """
        select name, sha256, kind, status, lines, accepted, duplicates, skipped, rejected,
          rounded_amounts, missing_is_proceed
        from archive order by kind, name, sha256
        """)
      var archives: [ArchiveAccount] = []
      try statement.forEachRow { try archives.append(ArchiveAccount($0)) }
      return archives
    }
  }
}

extension Ledger {
  /// How many archives of events were read for a run, and what became of their lines.
  ///
  /// Those that came in before the run was broken off, and carried on, are among them. Event times
  /// are left out.
  public func intake(
    ofRun run: Int64
  ) throws(LedgerError) -> (archives: Int64, tallies: ArchiveTallies) {
    try access("count the lines of a run") { database in
      let statement = try Statement(
        database,
        """
        select lines, accepted, duplicates, skipped, rejected from archive
        where run = ? and kind = 'events' and status <> 'repeated'
        """)
      statement.bind(1, run)
      var (archives, tallies) = (Int64(0), ArchiveTallies())
      try statement.forEachRow { row in
        archives += 1
        tallies.lines += row.int64(0)
        tallies.accepted += row.int64(1)
        tallies.duplicates += row.int64(2)
        tallies.skipped += row.int64(3)
        tallies.rejected += row.int64(4)
      }
      return (archives, tallies)
    }
  }
}

extension ArchiveAccount {
  init(_ row: Statement) throws(LedgerError) {
    var tallies = ArchiveTallies()
    tallies.lines = row.int64(4)
    tallies.accepted = row.int64(5)
    tallies.duplicates = row.int64(6)
    tallies.skipped = row.int64(7)
    tallies.rejected = row.int64(8)
    tallies.roundedAmounts = row.int64(9)
    tallies.missingIsProceed = row.int64(10)
    self.init(
      name: row.text(0), sha256: row.text(1), kind: try row.kind(2), status: try row.status(3),
      tallies: tallies)
  }
}
