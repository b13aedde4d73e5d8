public import Domain

/// What an archive contains; raw values are stored in the ledger.
public enum ArchiveKind: String, Sendable {
  case events
  case snapshots
}

/// How much of an archive was read; raw values are stored in the ledger, and published.
public enum ArchiveStatus: String, Sendable {
  /// Read to its end.
  case complete
  /// Read up to the damage.
  case damaged
  /// Not read: another archive has the same bytes.
  case repeated
}

/// An archive that was found, before its lines are read.
public struct NewArchive: Sendable, Equatable {
  /// Path relative to the given root, as shown in reports.
  public var name: String
  /// SHA-256 of the file's bytes, as 64 lower-case hexadecimal digits.
  public var sha256: String
  /// What its lines are.
  public var kind: ArchiveKind
  /// Path under which it was found; with the next three fields, it identifies an unchanged file
  /// without reading it.
  public var path = ""
  /// Size of the file.
  public var bytes: Int64 = 0
  /// When the file was last written.
  public var modified = Instant(milliseconds: 0)
  /// The file's inode number.
  public var inode: Int64 = 0
  /// Capture time of the snapshots whose lines have no date; nil if unknown.
  public var capturedAt: Instant?
  /// Hash of its first lines; nil for snapshots and for archives that are not read.
  public var beginning: Int64?
  /// The archive that it continues; nil for most.
  public var previous: PreviousArchive?

  /// Creates an archive named `name` without the attributes of a file.
  public init(name: String, sha256: String, kind: ArchiveKind) {
    (self.name, self.sha256, self.kind) = (name, sha256, kind)
  }
}

/// An event archive that was read, with which a longer archive may begin.
public struct PreviousArchive: Codable, Sendable, Equatable {
  /// The number of the first archive of the log that it continues; its own when it begins a log.
  var stream: Int32
  /// Hash of the uncompressed content that was read.
  public var contentHash: Int64
  /// Size of that content, in bytes.
  public var contentBytes: Int64
  /// Offset of the last value that contained events, in that content; −1 if there is none.
  var importedUntil: Int64
  /// Whether it was read to its end.
  var isWhole: Bool

  /// Offset in a longer archive up to which its lines were read; a newline may follow.
  public var knownBytes: Int64 { contentBytes + (isWhole ? 1 : 0) }
}

/// Counts of the lines of an archive: lines = accepted + duplicates + skipped + rejected.
public struct ArchiveCounts: Sendable, Equatable {
  /// Number of JSON values.
  public var lines: Int64 = 0
  /// Lines that added a new event or snapshot, or a new version of one.
  public var accepted: Int64 = 0
  /// Lines whose events were all known already.
  public var duplicates: Int64 = 0
  /// Lines that are not purchase events.
  public var skipped: Int64 = 0
  /// Lines that could not be understood.
  public var rejected: Int64 = 0
  /// Amounts of new events with more than six decimals.
  public var roundedAmounts: Int64 = 0
  /// New charges and refunds whose body lacks `is_proceed`.
  public var missingIsProceed: Int64 = 0

  /// Creates counts of zero.
  public init() {}

  /// Reads the counts from column `first` on.
  init(_ row: Statement, from first: Int32) {
    for (column, count) in zip(first..., Self.all) { self[keyPath: count] = row.int64(column) }
  }

  /// Adds the counts of another archive.
  public mutating func add(_ other: ArchiveCounts) {
    for count in Self.all { self[keyPath: count] += other[keyPath: count] }
  }

  /// Every count, in the order of the columns.
  private static var all: [WritableKeyPath<ArchiveCounts, Int64>] {
    [
      \.lines, \.accepted, \.duplicates, \.skipped, \.rejected, \.roundedAmounts,
      \.missingIsProceed,
    ]
  }
}

extension Ledger {
  /// Returns a number that no archive has had; archives that are still to be written have theirs.
  func nextArchive(in database: Connection) throws -> Int32 {
    lastArchive = max(lastArchive, try database.newestArchive()) + 1
    return lastArchive
  }

  /// Lists an archive whose bytes are known already: no lines, status `repeated`.
  ///
  /// If the name is listed already, only path, modification time and inode are updated.
  public func recordRepeat(_ archive: NewArchive) throws(SubledgerError) {
    try access("list an archive") { database in
      _ = try database.insertArchive(
        archive, status: .repeated, id: nextArchive(in: database), run: database.nextRun())
    }
  }
}
