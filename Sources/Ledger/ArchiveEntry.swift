internal import GRDB
internal import Vocabulary

/// One archive while its lines come in: one transaction, and the account of its lines.
///
/// Everything that `add` writes between `begin` and `finish` is there whole or not at all.
final class ArchiveEntry {
  let ledger: Ledger
  let id: Int32
  private(set) var tallies = ArchiveTallies()
  private let symbolsBefore: SymbolTable
  private var isOpen = true

  private init(ledger: Ledger, id: Int32) {
    self.ledger = ledger
    self.id = id
    symbolsBefore = ledger.symbols
  }

  deinit { abandon() }

  static func begin(_ archive: NewArchive, in ledger: Ledger) throws(LedgerError) -> ArchiveEntry {
    precondition(!ledger.isIngesting, "one archive is taken in at a time")
    let known = try ledger.archiveWithContent(sha256: archive.sha256)
    precondition(known == nil, "the content of an archive is read once")
    let id = try ledger.access("list an archive") { database in
      try database.savepoint("archive")
      do {
        return try insert(archive, status: "complete", into: database)
      } catch {
        try? database.rollBack("archive")
        throw error
      }
    }
    ledger.isIngesting = true
    return ArchiveEntry(ledger: ledger, id: id)
  }

  /// Runs `body` inside the archive's transaction; what it throws undoes the archive.
  func add<Value>(
    _ doing: String, _ body: (Database) throws -> Value
  ) throws(LedgerError) -> Value {
    precondition(isOpen, "nothing is added to an archive that is finished or abandoned")
    do {
      return try ledger.access(doing, body)
    } catch {
      abandon()
      throw error
    }
  }

  /// Adds the lines of a batch to the account.
  func count(
    lines: Int64, accepted: Int64, duplicates: Int64, skipped: [String: Int64],
    rejects: [Reject], in database: Database
  ) throws {
    let skippedLines = skipped.values.reduce(0, +)
    precondition(
      lines == accepted + duplicates + skippedLines + Int64(rejects.count),
      "every line of a batch is accepted, a duplicate, skipped or rejected")
    tallies.lines += lines
    tallies.accepted += accepted
    tallies.duplicates += duplicates
    tallies.skipped += skippedLines
    tallies.rejected += Int64(rejects.count)
    try insert(skipped, into: database)
    try insert(rejects, into: database)
  }

  /// Adds what was odd about amounts.
  func count(roundedAmounts: Int64, missingIsProceed: Int64) {
    tallies.roundedAmounts += roundedAmounts
    tallies.missingIsProceed += missingIsProceed
  }

  /// Widens the stretch of event times.
  func cover(_ time: Instant) {
    tallies.firstEvent = min(tallies.firstEvent ?? time, time)
    tallies.lastEvent = max(tallies.lastEvent ?? time, time)
  }

  func finish(damageOffset: Int64?) throws(LedgerError) -> ArchiveTallies {
    try add("close the account of an archive") { database in
      let statement = try RawStatement(cachedIn: database, Self.closing)
      for (index, value) in [
        tallies.lines, tallies.accepted, tallies.duplicates, tallies.skipped, tallies.rejected,
        tallies.roundedAmounts, tallies.missingIsProceed, tallies.firstEvent?.milliseconds,
        tallies.lastEvent?.milliseconds, damageOffset, Int64(id),
      ].enumerated() {
        statement.bind(Int32(index + 1), value)
      }
      try statement.run()
      try database.release("archive")
    }
    isOpen = false
    ledger.isIngesting = false
    return tallies
  }

  /// Undoes everything; harmless when nothing is open.
  func abandon() {
    guard isOpen else { return }
    isOpen = false
    ledger.isIngesting = false
    ledger.symbols = symbolsBefore
    // After a full disk or a broken one, SQLite has rolled back already.
    try? ledger.access("undo an archive") { database in
      guard database.isInsideTransaction else { return }
      try database.rollBack("archive")
    }
  }

  private static let closing = """
    update archive set
      lines = ?1, accepted = ?2, duplicates = ?3, skipped = ?4, rejected = ?5,
      rounded_amounts = ?6, missing_is_proceed = ?7, first_event_ms = ?8, last_event_ms = ?9,
      damage_offset = ?10, status = iif(?10 is null, 'complete', 'damaged')
    where id = ?11
    """

  private func insert(_ skipped: [String: Int64], into database: Database) throws {
    let statement = try RawStatement(
      cachedIn: database,
      """
      insert into skipped (archive, reason, lines) values (?, ?, ?)
      on conflict (archive, reason) do update set lines = lines + excluded.lines
      """)
    for (reason, lines) in skipped.sorted(by: { $0.key < $1.key }) {
      statement.bind(1, Int64(id))
      statement.bind(2, reason)
      statement.bind(3, lines)
      try statement.run()
    }
  }

  private func insert(_ rejects: [Reject], into database: Database) throws {
    let statement = try RawStatement(
      cachedIn: database,
      """
      insert into reject (archive, line, byte_offset, reason, detail) values (?, ?, ?, ?, ?)
      on conflict (archive, line, byte_offset) do nothing
      """)
    for reject in rejects {
      statement.bind(1, Int64(id))
      statement.bind(2, reject.place.line)
      statement.bind(3, reject.place.byteOffset)
      statement.bind(4, reject.reason)
      statement.bind(5, reject.detail)
      try statement.run()
    }
  }

  /// The number of the row; a row of the same name and content is renewed.
  static func insert(
    _ archive: NewArchive, status: String, into database: Database
  ) throws -> Int32 {
    let statement = try RawStatement(
      cachedIn: database,
      """
      insert into archive (
        name, sha256, kind, path, bytes, modified_ms, inode, status,
        lines, accepted, duplicates, skipped, rejected)
      values (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
      on conflict (name, sha256) do update set
        path = excluded.path, modified_ms = excluded.modified_ms, inode = excluded.inode
      returning id
      """)
    statement.bind(1, archive.name)
    statement.bind(2, archive.sha256)
    statement.bind(3, archive.kind.rawValue)
    statement.bind(4, archive.path)
    statement.bind(5, archive.bytes)
    statement.bind(6, archive.modified.milliseconds)
    statement.bind(7, archive.inode)
    statement.bind(8, status)
    return try statement.first { Int32($0.int64(0)) } ?? 0
  }
}
