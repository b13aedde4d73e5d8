public import Domain

/// Where an archive was found.
public struct ArchiveOnDisk: Sendable, Equatable {
  /// Path relative to the root it was given under.
  public var name: String
  /// As found.
  public var path: String
  /// Of the bytes that were read, as 64 hexadecimal digits.
  public var sha256: String
  /// How many bytes were read.
  public var bytes: Int64
  /// Events or snapshots.
  public var kind: ArchiveKind
  /// The run that published it first, or will.
  public var run: Int64
  /// Whether its lines were read, rather than those of the same bytes under another name.
  public var isRead: Bool
  /// When snapshots were captured that no line dates; nil when there are none.
  public var capturedAt: Instant?
}

extension Ledger {
  /// Every archive ever seen, in the order of arrival.
  public func archiveFiles() throws(LedgerError) -> [ArchiveOnDisk] {
    try access("list the archives") { database in
      let statement = try Statement(
        database,
        """
        select name, path, sha256, bytes, kind, run, status, captured_ms from archive order by id
        """)
      var archives: [ArchiveOnDisk] = []
      try statement.forEachRow { row in
        try archives.append(
          ArchiveOnDisk(
            name: row.text(0), path: row.text(1), sha256: row.text(2), bytes: row.int64(3),
            kind: row.kind(4), run: row.int64(5), isRead: row.status(6) != .repeated,
            capturedAt: row.optionalInstant(7)))
      }
      return archives
    }
  }

  /// Says of what was read again in which runs of another ledger it came.
  public func adoptRuns(of archives: [ArchiveOnDisk]) throws(LedgerError) {
    try change("put archives to their runs") { database in
      let update = try database.statement(
        "update archive set run = ? where sha256 = ? and kind = ? and captured_ms is ?")
      for archive in archives {
        update.bind(1, archive.run)
        update.bind(2, archive.sha256)
        update.bind(3, archive.kind.rawValue)
        update.bind(4, archive.capturedAt?.milliseconds)
        try update.run()
      }
    }
  }
}
