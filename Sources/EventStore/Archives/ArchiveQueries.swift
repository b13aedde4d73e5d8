public import Domain

/// An archive in the ledger, with the counts of its lines.
public struct ArchiveRecord: Sendable, Equatable {
  /// Number in the ledger, in the order of arrival.
  public var id: Int64 = 0
  /// Path relative to the root under which it was found.
  public var name: String
  /// Path under which it was found.
  public var path = ""
  /// SHA-256 of the bytes that were read, as 64 hexadecimal digits.
  public var sha256: String
  /// Number of bytes that were read.
  public var bytes: Int64 = 0
  /// Hash of the uncompressed content that was read; 0 for snapshots.
  public var contentHash: Int64 = 0
  /// Size of that content, in bytes.
  public var contentBytes: Int64 = 0
  /// Events or snapshots.
  public var kind: ArchiveKind
  /// The first run that published it, or will publish it.
  public var run: Int64 = 0
  /// How much of it was read.
  public var status: ArchiveStatus
  /// When the file was last written.
  public var modified = Instant(milliseconds: 0)
  /// Capture time of the snapshots whose lines have no date; nil if there are none.
  public var capturedAt: Instant?
  /// The number of the first archive of the log that it continues; its own number for most.
  public var stream: Int64 = 0
  /// Counts of its lines.
  public var counts: ArchiveCounts

  /// Whether its own lines were read, not those of an identical archive with another name.
  public var isRead: Bool { status != .repeated }
}

extension ArchiveRecord {
  init(_ row: Statement) throws(SubledgerError) {
    self.init(
      name: row.text(0), sha256: row.text(1), kind: try row.value(2), status: try row.value(3),
      counts: ArchiveCounts(row, from: 4))
    (path, bytes, run) = (row.text(11), row.int64(12), row.int64(13))
    (modified, capturedAt) = (row.instant(14), row.optionalInstant(15))
    (stream, id) = (row.int64(16), row.int64(17))
    (contentHash, contentBytes) = (row.int64(18), row.int64(19))
  }

  static let select = """
    select name, sha256, kind, status, lines, accepted, duplicates, skipped, rejected,
      rounded_amounts, missing_is_proceed, path, bytes, run, modified_ms, captured_ms,
      coalesce(
        stream,
        case
          when status = 'repeated'
            then (
              select ifnull(origin.stream, origin.id) from archive as origin
              where origin.sha256 = archive.sha256 and origin.kind = archive.kind
                and origin.status <> 'repeated'
            )
        end, id), id, ifnull(content_hash, 0), ifnull(content_bytes, 0)
    from archive
    """
}

/// The lines of a run that were rejected for the most frequent reason.
public struct FrequentReject: Sendable, Equatable {
  /// The first such line.
  public var first: Reject
  /// The archive of that line, relative to the root under which it was found.
  public var archive: String
  /// Number of lines.
  public var lines: Int64
}

extension Ledger {
  /// Returns all archives, in the order of arrival or by kind, name and content.
  public func archives(byName: Bool = false) throws(SubledgerError) -> [ArchiveRecord] {
    try all(
      "list the archives",
      "\(ArchiveRecord.select) order by \(byName ? "kind, name, sha256" : "id")"
    ) { try ArchiveRecord($0) }
  }

  /// Returns the number of event archives read for a run, and counts of their lines.
  ///
  /// It includes archives that were read before an interruption.
  public func intake(
    ofRun run: Int64
  ) throws(SubledgerError) -> (archives: Int64, counts: ArchiveCounts) {
    try first(
      "count the lines of a run",
      """
      select count(*), ifnull(sum(lines), 0), ifnull(sum(accepted), 0),
        ifnull(sum(duplicates), 0), ifnull(sum(skipped), 0), ifnull(sum(rejected), 0), 0, 0
      from archive where run = ? and kind = 'events' and status <> 'repeated'
      """, run
    ) { ($0.int64(0), ArchiveCounts($0, from: 1)) } ?? (0, ArchiveCounts())
  }

  /// Returns the SHA-256 of every event archive that was read, as 64 hexadecimal digits.
  public func contents() throws(SubledgerError) -> Set<String> {
    Set(
      try all(
        "list the archives",
        "select sha256 from archive where kind = 'events' and status <> 'repeated'"
      ) { $0.text(0) })
  }

  /// The number of lines that added a new event.
  public func acceptedEventLines() throws(SubledgerError) -> Int {
    try first(
      "count the lines", "select coalesce(sum(accepted), 0) from archive where kind = 'events'"
    ) { Int($0.int64(0)) } ?? 0
  }

  /// Whether a file of this path, size, modification time and inode was read, or listed as a copy.
  public func isUnchanged(
    path: String, bytes: Int64, modified: Instant, inode: Int64, kind: ArchiveKind
  ) throws(SubledgerError) -> Bool {
    try access("look for an archive") {
      try $0.isAny(
        "archive where path = ? and bytes = ? and modified_ms = ? and inode = ? and kind = ?",
        path, bytes, modified, inode, kind)
    }
  }

  /// Returns the archive, under any name, whose lines were read from the same bytes.
  ///
  /// Undated snapshots with the same bytes but another capture time are another archive.
  public func archiveWithContent(
    sha256: String, kind: ArchiveKind, capturedAt: Instant? = nil
  ) throws(SubledgerError) -> ArchiveRecord? {
    try first(
      "look for an archive",
      """
      \(ArchiveRecord.select)
      where sha256 = ?1 and kind = ?2 and status <> 'repeated'
        and (captured_ms is null or ?3 is null or captured_ms = ?3)
      order by id
      """, sha256, kind, capturedAt
    ) { try ArchiveRecord($0) }
  }

  /// Returns the event archives that were read, by the hash of their first lines, oldest first.
  ///
  /// Archives that were retracted, or whose lines may be wrong, are left out.
  public func formers() throws(SubledgerError) -> [Int64: [PreviousArchive]] {
    let formers = try all(
      "list the archives",
      """
      select beginning, ifnull(stream, id), content_hash, content_bytes,
        ifnull(imported_until, -1), damage_offset is null
      from archive
      where beginning is not null and content_bytes > 0 and provisional_from is null
      order by id
      """
    ) { row in
      let previous = PreviousArchive(
        stream: row.archive(1), contentHash: row.int64(2), contentBytes: row.int64(3),
        importedUntil: row.int64(4), isWhole: row.int64(5) == 1)
      return (beginning: row.int64(0), previous: previous)
    }
    return Dictionary(grouping: formers, by: \.beginning).mapValues { $0.map(\.previous) }
  }

  /// Returns the names of wholly retracted event archives, by length and hash of their content.
  ///
  /// A damaged archive is left out: an intact one can have the same readable content, and counts.
  public func retractedContents() throws(SubledgerError) -> [[Int64]: String] {
    let names = try all(
      "list retracted archives",
      """
      select content_bytes, content_hash, name
      from skipped join archive on archive.id = skipped.archive
      where reason = ? and skipped.lines = archive.lines and kind = 'events'
        and status = 'complete' and content_hash is not null
      """, retractedReason
    ) { ([$0.int64(0), $0.int64(1)], $0.text(2)) }
    return Dictionary(names) { $1 }
  }

  /// Whether any line was skipped for `reason`.
  public func hasSkipped(_ reason: String) throws(SubledgerError) -> Bool {
    try access("look for skipped lines") { try $0.isAny("skipped where reason = ?", reason) }
  }

  /// Returns the values of the event archive with this SHA-256 that were rejected for `reason`,
  /// with their defects, by offset in the uncompressed archive.
  ///
  /// Nil if more were rejected than are listed.
  public func rejects(
    for reason: String, of sha256: String
  ) throws(SubledgerError) -> [Int64: String]? {
    try access("look for rejected lines") { database in
      let read = "archive.sha256 = ?1 and kind = 'events' and status <> 'repeated' and reason = ?2"
      var listed: [Int64: String] = [:]
      try database.forEachRow(
        """
        select byte_offset, detail from reject join archive on archive.id = reject.archive
        where \(read)
        """, sha256, reason
      ) { listed[$0.int64(0)] = $0.text(1) }
      let lines = try database.first(
        """
        select rejected.lines from rejected join archive on archive.id = rejected.archive
        where \(read)
        """, sha256, reason
      ) { Int($0.int64(0)) }
      return lines ?? 0 == listed.count ? listed : nil
    }
  }

  /// Returns the most frequent reason among rejected lines not yet published; nil if there is none.
  public func mostFrequentReject() throws(SubledgerError) -> FrequentReject? {
    try first(
      "look for rejected lines",
      """
      with fresh as (select id, name from archive where run = ?1),
      most as (
        select reason, sum(lines) as lines from rejected join fresh on fresh.id = archive
        group by reason order by sum(lines) desc, reason limit 1
      )
      select reason, most.lines, fresh.name, reject.archive, line, byte_offset, detail
      from most join reject using (reason) join fresh on fresh.id = reject.archive
      order by reject.archive, line, byte_offset limit 1
      """, nextRun()
    ) {
      FrequentReject(
        first: Reject(place: $0.provenance(3), reason: $0.text(0), detail: $0.text(6)),
        archive: $0.text(2), lines: $0.int64(1))
    }
  }
}
