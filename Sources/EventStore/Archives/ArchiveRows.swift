public import Domain
internal import Formats

extension Connection {
  /// Inserts an archive, or updates that of the same name, content and kind; returns its number.
  func insertArchive(
    _ archive: NewArchive, status: ArchiveStatus, id: Int32, run: Int64
  ) throws -> Int32 {
    try first(
      """
      insert into archive (
        id, run, name, sha256, kind, path, bytes, modified_ms, inode, status, captured_ms,
        beginning, stream, lines, accepted, duplicates, skipped, rejected)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
      on conflict (name, sha256, kind, ifnull(captured_ms, 0)) do update set
        path = excluded.path, modified_ms = excluded.modified_ms, inode = excluded.inode
      returning id
      """, id, run, archive.name, archive.sha256, archive.kind, archive.path, archive.bytes,
      archive.modified, archive.inode, status, archive.capturedAt, archive.beginning,
      archive.previous?.stream
    ) { $0.archive(0) } ?? 0
  }

  /// Writes counts of an archive's lines by reason, instead of earlier ones, to a table.
  func writeLines(_ counts: [String: Int64], to table: String, of archive: Int32) throws {
    for (reason, lines) in counts.sorted(by: { $0.key < $1.key }) {
      try run(
        """
        insert into \(table) (archive, reason, lines) values (?, ?, ?)
        on conflict (archive, reason) do update set lines = excluded.lines
        """, archive, reason, lines)
    }
  }

  /// Writes the counts of an archive's lines, and the columns that v1-account.sql describes.
  ///
  /// `content` is the archive as one that a later one may continue, nil for snapshots; `isDated` is
  /// true if all its lines have dates.
  func closeArchive(
    _ id: Int32, _ counts: ArchiveCounts, _ damage: ArchiveDamage?, sha256: String? = nil,
    eventTimes: ClosedRange<Instant>? = nil, content: PreviousArchive? = nil,
    snapshotsCheck: Int64? = nil, isDated: Bool = true
  ) throws {
    let importedUntil = content.flatMap { $0.importedUntil < 0 ? nil : $0.importedUntil }
    try run(
      """
      update archive set
        lines = ?1, accepted = ?2, duplicates = ?3, skipped = ?4, rejected = ?5,
        rounded_amounts = ?6, missing_is_proceed = ?7, first_event_ms = ?8, last_event_ms = ?9,
        damage_offset = ?10, status = iif(?10 is null, 'complete', 'damaged'),
        snapshots_check = ?11, imported_until = ?12, captured_ms = iif(?13, null, captured_ms),
        content_bytes = ?14, provisional_from = ?15, content_hash = ?16,
        sha256 = ifnull(?17, sha256)
      where id = ?18
      """, counts.lines, counts.accepted, counts.duplicates, counts.skipped, counts.rejected,
      counts.roundedAmounts, counts.missingIsProceed, eventTimes?.lowerBound,
      eventTimes?.upperBound, damage?.offset, snapshotsCheck, importedUntil, isDated,
      content?.contentBytes, damage?.provisionalFrom, content?.contentHash, sha256, id)
  }
}

/// Counts of the lines of an archive that could not be understood, and the first of each reason.
///
/// Three kilobytes of a compressed archive can contain a million such lines.
struct RejectedLines {
  /// Maximum number of listed lines per reason and archive.
  static let listedMax: Int64 = 1000

  /// Counts by reason, since the start of the archive.
  private var lines: [String: Int64] = [:]
  private var listed: [Reject] = []

  /// Memory in use, approximately.
  var size: Int { listed.count * 200 }

  /// Counts `rejects`, which are sorted by location.
  mutating func add(_ rejects: [Reject]) {
    for reject in rejects {
      let before = lines[reject.reason, default: 0]
      lines[reject.reason] = before + 1
      if before < Self.listedMax { listed.append(reject) }
    }
  }

  /// Writes the counts and the lines since the last write, and keeps only the counts.
  mutating func write(of archive: Int32, to database: Connection) throws {
    try database.writeLines(lines, to: "rejected", of: archive)
    for reject in listed {
      try database.run(
        """
        insert into reject (archive, line, byte_offset, reason, detail) values (?, ?, ?, ?, ?)
        on conflict (archive, line, byte_offset) do nothing
        """, archive, reject.place.line, reject.place.byteOffset, reject.reason, reject.detail)
    }
    listed = []
  }
}

extension Ledger {
  /// Returns the unknown names in the archives of a run that may be shown, each with its sender,
  /// the object that has it, and the number of lines that contain it; most frequent first.
  public func unknownNames(
    ofRun run: Int64
  ) throws(SubledgerError) -> [(
    provider: Provider, subject: UnknownName.Subject, name: String, lines: Int64
  )] {
    try all(
      "read the unknown names",
      """
      select provider, what, unknown_input.name, sum(unknown_input.lines) as lines
      from unknown_input join archive on archive.id = unknown_input.archive
      where archive.run = ?
      group by provider, what, unknown_input.name
      order by lines desc, provider, what, unknown_input.name
      """, run
    ) { row in
      (
        provider: try row.value(0),
        subject: UnknownName.Subject(rawValue: row.text(1)) ?? .member, name: row.text(2),
        lines: row.int64(3)
      )
    }
  }
}

extension UnknownInput {
  /// Writes the names of one archive.
  func write(of archive: Int32, to database: Connection) throws {
    for (name, lines) in lines {
      try database.run(
        """
        insert into unknown_input (archive, provider, what, name, lines, first_line)
        values (?, ?, ?, ?, ?, ?)
        """, archive, name.provider, name.subject.rawValue, name.name, lines.count, lines.first)
    }
  }
}
