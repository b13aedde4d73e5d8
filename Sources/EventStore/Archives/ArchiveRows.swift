internal import Domain

/// The rows of one archive: itself, and the account of its lines.
struct ArchiveRows {
  private let database: Connection

  init(_ database: Connection) { self.database = database }

  /// The number of the row; a row of the same name, content and kind is renewed and keeps
  /// its own.
  func insert(
    _ archive: NewArchive, status: ArchiveStatus, id: Int32, run: Int64
  ) throws -> Int32 {
    let statement = try database.statement(
      """
      insert into archive (
        id, run, name, sha256, kind, path, bytes, modified_ms, inode, path_check, status,
        captured_ms, lines, accepted, duplicates, skipped, rejected)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
      on conflict (name, sha256, kind, ifnull(captured_ms, 0)) do update set
        path = excluded.path, modified_ms = excluded.modified_ms, inode = excluded.inode,
        path_check = excluded.path_check
      returning id
      """)
    statement.bind(1, Int64(id))
    statement.bind(2, run)
    statement.bind(3, archive.name)
    statement.bind(4, archive.sha256)
    statement.bind(5, archive.kind.rawValue)
    statement.bind(6, archive.path)
    statement.bind(7, archive.bytes)
    statement.bind(8, archive.modified.milliseconds)
    statement.bind(9, archive.inode)
    var path = archive.path
    statement.bind(
      10,
      path.withUTF8 {
        RowCheck.file(
          path: UnsafeRawBufferPointer($0), bytes: archive.bytes,
          modified: archive.modified.milliseconds, inode: archive.inode)
      })
    statement.bind(11, status.rawValue)
    statement.bind(12, archive.capturedAt?.milliseconds)
    return try statement.first { Int32($0.int64(0)) } ?? 0
  }

  /// Adds to the lines that are no purchase events, by reason.
  func insert(_ skipped: [String: Int64], of archive: Int32) throws {
    try add(
      skipped, of: archive,
      """
      insert into skipped (archive, reason, lines) values (?, ?, ?)
      on conflict (archive, reason) do update set lines = lines + excluded.lines
      """)
  }

  /// Adds to the lines that could not be understood, by reason.
  func insert(rejected: [String: Int64], of archive: Int32) throws {
    try add(
      rejected, of: archive,
      """
      insert into rejected (archive, reason, lines) values (?, ?, ?)
      on conflict (archive, reason) do update set lines = lines + excluded.lines
      """)
  }

  private func add(_ counts: [String: Int64], of archive: Int32, _ sql: String) throws {
    let statement = try database.statement(sql)
    for (reason, lines) in counts.sorted(by: { $0.key < $1.key }) {
      statement.bind(1, Int64(archive))
      statement.bind(2, reason)
      statement.bind(3, lines)
      try statement.run()
    }
  }

  /// Lists lines that could not be understood.
  func insert(_ rejects: [Reject], of archive: Int32) throws {
    let statement = try database.statement(
      """
      insert into reject (archive, line, byte_offset, reason, detail) values (?, ?, ?, ?, ?)
      on conflict (archive, line, byte_offset) do nothing
      """)
    for reject in rejects {
      statement.bind(1, Int64(archive))
      statement.bind(2, reject.place.line)
      statement.bind(3, reject.place.byteOffset)
      statement.bind(4, reject.reason)
      statement.bind(5, reject.detail)
      try statement.run()
    }
  }

  /// Enters what became of the archive's lines.
  ///
  /// `toldUntil` is where the last value stands that brought events; `snapshotsCheck` is the sum of
  /// the fingerprints of its snapshots, and `isDated` says whether their lines date them all.
  func close(
    _ id: Int32, _ tallies: ArchiveTallies, damageOffset: Int64?, toldUntil: Int64? = nil,
    snapshotsCheck: Int64? = nil, isDated: Bool = true
  ) throws {
    let statement = try database.statement(
      """
      update archive set
        lines = ?1, accepted = ?2, duplicates = ?3, skipped = ?4, rejected = ?5,
        rounded_amounts = ?6, missing_is_proceed = ?7, first_event_ms = ?8, last_event_ms = ?9,
        damage_offset = ?10, status = iif(?10 is null, 'complete', 'damaged'),
        snapshots_check = ?12, told_until = ?13, captured_ms = iif(?14, null, captured_ms)
      where id = ?11
      """)
    for (index, value) in [
      tallies.lines, tallies.accepted, tallies.duplicates, tallies.skipped, tallies.rejected,
      tallies.roundedAmounts, tallies.missingIsProceed, tallies.firstEvent?.milliseconds,
      tallies.lastEvent?.milliseconds, damageOffset, Int64(id), snapshotsCheck,
      toldUntil, isDated ? 1 : 0,
    ].enumerated() {
      statement.bind(Int32(index + 1), value)
    }
    try statement.run()
  }
}
