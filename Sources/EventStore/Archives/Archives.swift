public import Domain

/// What an archive holds.
///
/// Raw values are stored in the ledger.
public enum ArchiveKind: String, Sendable {
  case events
  case snapshots
}

/// How an archive was read.
///
/// Raw values are stored in the ledger, and published.
public enum ArchiveStatus: String, Sendable {
  /// To its end.
  case complete
  /// Up to where it is damaged.
  case damaged
  /// Not at all: another archive has the same bytes.
  case repeated
}

/// An archive as it was found, before its lines are read.
public struct NewArchive: Sendable, Equatable {
  /// Path relative to the given root; the name that reports show.
  public var name: String
  /// Of the file's bytes, as 64 lower-case hexadecimal digits.
  public var sha256: String
  /// What its lines are.
  public var kind: ArchiveKind
  /// As found; with the next three fields, what tells an unchanged file without reading it.
  public var path: String
  /// Size of the file.
  public var bytes: Int64
  /// When the file was last written.
  public var modified: Instant
  /// The file's number in its filesystem.
  public var inode: Int64
  /// When snapshots were captured that no line dates; nil when nothing says so.
  public var capturedAt: Instant?

  /// An archive named `name`.
  public init(
    name: String, sha256: String, kind: ArchiveKind, path: String, bytes: Int64,
    modified: Instant, inode: Int64, capturedAt: Instant? = nil
  ) {
    self.name = name
    self.sha256 = sha256
    self.kind = kind
    self.path = path
    self.bytes = bytes
    self.modified = modified
    self.inode = inode
    self.capturedAt = capturedAt
  }
}

/// An archive that the ledger has read.
public struct KnownArchive: Sendable, Equatable {
  /// Path relative to the root it was given under.
  public var name: String
  /// How many of its lines could not be understood.
  public var rejected: Int64
  /// When the file was last written.
  public var modified: Instant
  /// When snapshots were captured that no line dates; nil when there are none.
  public var capturedAt: Instant?
}

/// What was read under a name that may come again with more bytes.
public struct FormerArchive: Sendable, Equatable {
  /// Of the bytes it had, as 64 lower-case hexadecimal digits.
  public var sha256: String
  /// How many there were.
  public var bytes: Int64
  /// Offset in the inflated archive of the last value that brought events.
  public var toldUntil: Int64
}

/// What became of the lines of an archive: lines = accepted + duplicates + skipped + rejected.
public struct ArchiveTallies: Sendable, Equatable {
  /// JSON values.
  public var lines: Int64 = 0
  /// Lines that brought a new event or snapshot, or a new version of one.
  public var accepted: Int64 = 0
  /// Lines of which everything was known.
  public var duplicates: Int64 = 0
  /// Lines that are no purchase events.
  public var skipped: Int64 = 0
  /// Lines that could not be understood.
  public var rejected: Int64 = 0
  /// Amounts with more than six decimals, of events that were new.
  public var roundedAmounts: Int64 = 0
  /// Charges and refunds, new ones, whose body does not say `is_proceed`.
  public var missingIsProceed: Int64 = 0
  /// Least event time, duplicates included.
  public var firstEvent: Instant?
  /// Greatest event time, duplicates included.
  public var lastEvent: Instant?

  /// Nothing read yet.
  public init() {}
}

extension Ledger {
  /// Whether a file of this path, size, time and number was read as such, or seen as a repetition.
  public func isUnchanged(
    path: String, bytes: Int64, modified: Instant, inode: Int64, kind: ArchiveKind
  ) throws(LedgerError) -> Bool {
    try access("look for an archive") { database in
      let statement = try database.statement(
        """
        select 1 from archive
        where path = ? and bytes = ? and modified_ms = ? and inode = ? and kind = ?
        """)
      statement.bind(1, path)
      statement.bind(2, bytes)
      statement.bind(3, modified.milliseconds)
      statement.bind(4, inode)
      statement.bind(5, kind.rawValue)
      return try statement.first { _ in true } ?? false
    }
  }

  /// The archive whose lines were read as such from these same bytes, under whatever name.
  ///
  /// Snapshots that no line dates are others when they were captured at another time.
  public func archiveWithContent(
    sha256: String, kind: ArchiveKind, capturedAt: Instant? = nil
  ) throws(LedgerError) -> KnownArchive? {
    try access("look for an archive") { database in
      let statement = try database.statement(
        """
        select name, rejected, modified_ms, captured_ms from archive
        where sha256 = ?1 and kind = ?2 and status <> 'repeated'
          and (captured_ms is null or ?3 is null or captured_ms = ?3)
        order by id
        """)
      statement.bind(1, sha256)
      statement.bind(2, kind.rawValue)
      statement.bind(3, capturedAt?.milliseconds)
      return try statement.first { KnownArchive($0) }
    }
  }

  /// The archives of events that were read under `name`, those with most bytes first.
  public func archives(named name: String) throws(LedgerError) -> [FormerArchive] {
    try access("look for an archive") { database in
      let statement = try database.statement(
        """
        select sha256, bytes, told_until from archive
        where name = ? and kind = 'events' and status <> 'repeated' and told_until is not null
        order by bytes desc, id
        """)
      statement.bind(1, name)
      var archives: [FormerArchive] = []
      try statement.forEachRow { row in
        archives.append(
          FormerArchive(sha256: row.text(0), bytes: row.int64(1), toldUntil: row.int64(2)))
      }
      return archives
    }
  }

  /// A number that no archive has had.
  func nextArchive() throws(LedgerError) -> Int32 {
    try access("number an archive") { try nextArchive(in: $0) }
  }

  /// The same on a connection; archives that wait to be written have theirs already.
  func nextArchive(in database: Connection) throws -> Int32 {
    let statement = try database.statement("select max(id) from archive")
    let last = try statement.first { Int32(truncatingIfNeeded: $0.int64(0)) } ?? 0
    lastArchive = max(lastArchive, last) + 1
    return lastArchive
  }

  /// Whether any line was skipped for `reason`.
  public func hasSkipped(_ reason: String) throws(LedgerError) -> Bool {
    try access("look for skipped lines") { database in
      let statement = try database.statement("select 1 from skipped where reason = ? limit 1")
      statement.bind(1, reason)
      return try statement.first { _ in true } ?? false
    }
  }

  /// Lists an archive whose bytes are known already: no lines, status `repeated`.
  ///
  /// Under a name it is listed with already, only path, time and number of the file are renewed.
  public func recordRepeat(_ archive: NewArchive) throws(LedgerError) {
    try access("list an archive") { database in
      _ = try ArchiveRows(database).insert(
        archive, status: .repeated, id: nextArchive(in: database),
        run: ArrivalRun(in: database).number)
    }
  }
}

extension KnownArchive {
  init(_ row: Statement) {
    name = row.text(0)
    rejected = row.int64(1)
    modified = row.instant(2)
    capturedAt = row.optionalInstant(3)
  }
}
