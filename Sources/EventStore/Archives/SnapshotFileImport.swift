internal import Domain

/// One file of snapshots while it is imported: one transaction, and the counts of its lines.
///
/// Everything that `add` writes between `begin` and `finish` is there whole or not at all.
final class SnapshotFileImport {
  let ledger: Ledger
  let id: Int32
  private(set) var counts = ArchiveCounts()
  /// The sum of the fingerprints of its snapshots.
  private var snapshotsCheck: Int64 = 0
  private var rejects = RejectedLines()
  private var isOpen = true

  private init(ledger: Ledger, id: Int32) {
    self.ledger = ledger
    self.id = id
  }

  deinit { abandon() }

  static func begin(_ archive: NewArchive, in ledger: Ledger) throws(SubledgerError)
    -> SnapshotFileImport
  {
    precondition(!ledger.isIngesting, "one archive is imported at a time")
    let known = try ledger.archiveWithContent(
      sha256: archive.sha256, kind: archive.kind, capturedAt: archive.capturedAt)
    precondition(known == nil, "the content of an archive is read once")
    let id = try ledger.access("list an archive") { database in
      try database.savepoint("archive")
      do {
        return try ArchiveRows(database).insert(
          archive, status: .complete, id: ledger.nextArchive(in: database),
          run: ArrivalRun(in: database).number)
      } catch {
        ledger.undo("undo an archive", since: "archive")
        throw error
      }
    }
    ledger.isIngesting = true
    return SnapshotFileImport(ledger: ledger, id: id)
  }

  /// Runs `body` inside the archive's transaction; an error of `body` undoes the archive.
  func add<Value>(
    _ doing: String, _ body: (Connection) throws -> Value
  ) throws(SubledgerError) -> Value {
    precondition(isOpen, "nothing is added to an archive that is finished or abandoned")
    do {
      return try ledger.access(doing, body)
    } catch {
      abandon()
      throw error
    }
  }

  /// Adds the fingerprint of a snapshot that it brought.
  func add(snapshotCheck: Int64) { snapshotsCheck &+= snapshotCheck }

  /// Adds the lines of a batch to the counts; of a file of snapshots, only retracted ones are
  /// skipped.
  func count(
    accepted: Int64, duplicates: Int64, skipped: Int64, rejects newRejects: [Reject],
    in database: Connection
  ) throws {
    let rejected = Int64(newRejects.count)
    counts.lines += accepted + duplicates + skipped + rejected
    counts.skipped += skipped
    if skipped > 0 {
      try ArchiveRows(database).add(skipped: [retractedReason: skipped], of: id)
    }
    counts.accepted += accepted
    counts.duplicates += duplicates
    counts.rejected += rejected
    rejects.add(newRejects)
    try ArchiveRows(database).add(&rejects, of: id)
  }

  func finish(
    damageOffset: Int64?, provisionalFrom: Int64?, isDated: Bool
  ) throws(SubledgerError) -> ArchiveCounts {
    try add("write the counts of an archive") { database in
      try ArchiveRows(database).close(
        id, counts, damageOffset: damageOffset, provisionalFrom: provisionalFrom,
        snapshotsCheck: snapshotsCheck, isDated: isDated)
      try database.release("archive")
    }
    isOpen = false
    ledger.isIngesting = false
    return counts
  }

  /// Undoes everything; harmless without an open transaction.
  func abandon() {
    guard isOpen else { return }
    isOpen = false
    ledger.isIngesting = false
    ledger.undoArchive(since: "archive")
  }
}
