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
  /// SHA-256 of the file's bytes, as 64 lower-case hexadecimal digits.
  public var sha256: String
  /// What its lines are.
  public var kind: ArchiveKind
  /// As found; with the next three fields, what identifies an unchanged file without reading it.
  public var path = ""
  /// Size of the file.
  public var bytes: Int64 = 0
  /// When the file was last written.
  public var modified = Instant(milliseconds: 0)
  /// The file's number in its filesystem.
  public var inode: Int64 = 0
  /// When snapshots were captured that no line dates; nil if unknown.
  public var capturedAt: Instant?
  /// Hash of its first lines; nil of snapshots and of what is not read.
  public var beginning: Int64?
  /// The archive that it continues; nil of most.
  public var former: FormerArchive?

  /// An archive named `name`, not yet of a file.
  public init(name: String, sha256: String, kind: ArchiveKind) {
    (self.name, self.sha256, self.kind) = (name, sha256, kind)
  }
}

/// An archive of events that was read, as what another one may begin with.
public struct FormerArchive: Codable, Sendable, Equatable {
  /// Number in the ledger.
  var id: Int32
  /// The first archive of the log that it continues; nil when it begins one.
  var stream: Int32?
  /// Hash of what was read of it, inflated.
  public var contentHash: Int64
  /// Size of that, in bytes.
  public var contentBytes: Int64
  /// Offset in that of the last value that brought events; −1 without one.
  var importedUntil: Int64
  /// Whether it was read to its end.
  var isWhole: Bool

  /// Lines that end before this offset of a longer archive were read; after the last one a newline
  /// may follow.
  public var knownBytes: Int64 { contentBytes + (isWhole ? 1 : 0) }
}

/// Counts of the lines of an archive: lines = accepted + duplicates + skipped + rejected.
public struct ArchiveCounts: Sendable, Equatable {
  /// JSON values.
  public var lines: Int64 = 0
  /// Lines that brought a new event or snapshot, or a new version of one.
  public var accepted: Int64 = 0
  /// Lines whose events were all known.
  public var duplicates: Int64 = 0
  /// Lines that are not purchase events.
  public var skipped: Int64 = 0
  /// Lines that could not be understood.
  public var rejected: Int64 = 0
  /// Amounts with more than six decimals, of events that were new.
  public var roundedAmounts: Int64 = 0
  /// Charges and refunds, new ones, whose body lacks `is_proceed`.
  public var missingIsProceed: Int64 = 0
  /// Least event time, duplicates included.
  public var firstEvent: Instant?
  /// Greatest event time, duplicates included.
  public var lastEvent: Instant?

  /// Nothing read yet.
  public init() {}

  /// The counts from column `first` on.
  init(_ row: Statement, from first: Int32) {
    lines = row.int64(first)
    accepted = row.int64(first + 1)
    duplicates = row.int64(first + 2)
    skipped = row.int64(first + 3)
    rejected = row.int64(first + 4)
    roundedAmounts = row.int64(first + 5)
    missingIsProceed = row.int64(first + 6)
  }
}

extension Ledger {
  /// A number that no archive has had; archives that wait to be written have theirs already.
  func nextArchive(in database: Connection) throws -> Int32 {
    lastArchive = max(lastArchive, try database.newestArchive()) + 1
    return lastArchive
  }

  /// Lists an archive whose bytes are known already: no lines, status `repeated`.
  ///
  /// Under a name it is listed with already, only path, time and number of the file are renewed.
  public func recordRepeat(_ archive: NewArchive) throws(SubledgerError) {
    try access("list an archive") { database in
      _ = try ArchiveRows(database).insert(
        archive, status: .repeated, id: nextArchive(in: database), run: database.nextRun())
    }
  }

  /// Assigns archives that were read again to the runs of another ledger.
  public func adoptRuns(of archives: [ArchiveRecord]) throws(SubledgerError) {
    try change("assign archives to their runs") { database in
      for archive in archives {
        try database.run(
          "update archive set run = ? where sha256 = ? and kind = ? and captured_ms is ?",
          archive.run, archive.sha256, archive.kind, archive.capturedAt)
      }
    }
  }
}
