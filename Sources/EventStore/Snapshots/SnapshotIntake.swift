public import Domain
public import Formats

/// Ingests the snapshots of one file into the ledger, in one transaction.
public final class SnapshotIntake {
  private let ledger: Ledger
  /// The ledger's number of the file.
  public let archive: Int32
  private var counts = ArchiveCounts()
  /// The sum of the fingerprints of its snapshots.
  private var snapshotsCheck: Int64 = 0
  private var rejects = RejectedLines()
  private var isOpen = true
  /// Snapshots to be written, sorted by user, so that adjacent rows follow each other.
  private var waiting: [(snapshot: EncodedSnapshot, app: StringID)] = []
  private var waitingBytes = 0
  private static let waitingBytesMax = 16 << 20

  /// Begins to ingest a file of snapshots; one file at a time, each content once.
  public init(_ new: NewArchive, into ledger: Ledger) throws(SubledgerError) {
    self.ledger = ledger
    archive = try ledger.access("list an archive") { database in
      try database.savepoint("archive")
      do {
        return try database.insertArchive(
          new, status: .complete, id: ledger.nextArchive(in: database), run: ledger.nextRun())
      } catch {
        ledger.undo("undo an archive", since: "archive")
        throw error
      }
    }
  }

  deinit { abandon() }

  /// Adds snapshots, one per line, with the lines that could not be understood.
  ///
  /// A snapshot whose content is already stored for that user and time is a duplicate.
  public func add(
    _ snapshots: [EncodedSnapshot], rejects newRejects: [Reject] = [], retracted: Int64 = 0
  ) throws(SubledgerError) {
    try write("add snapshots") { database in
      for snapshot in snapshots {
        waiting.append((snapshot, try ledger.keep(word: snapshot.app, in: database)))
        waitingBytes += snapshot.bytes
      }
      if waitingBytes > Self.waitingBytesMax { try writeWaiting(to: database) }
      let rejected = Int64(newRejects.count)
      counts.lines += Int64(snapshots.count) + retracted + rejected
      counts.rejected += rejected
      counts.skipped += retracted
      if retracted > 0 {
        try database.writeLines([retractedReason: counts.skipped], to: "skipped", of: archive)
      }
      rejects.add(newRejects)
      try rejects.write(of: archive, to: database)
    }
  }

  private func writeWaiting(to database: Connection) throws {
    var writer = try SnapshotWriter(archive: archive, database: database)
    let byUser = waiting.indices.sorted {
      waiting[$0].snapshot.firstKey < waiting[$1].snapshot.firstKey
    }
    for place in byUser {
      let (snapshot, app) = waiting[place]
      if let check = try writer.write(snapshot, app: app) {
        snapshotsCheck &+= check
        counts.accepted += 1
      } else {
        counts.duplicates += 1
      }
    }
    (waiting, waitingBytes) = ([], 0)
  }

  /// Completes the counts, and makes everything in the file part of the ledger.
  ///
  /// `isDated` is true if every line contains its capture time: then equal bytes are always the
  /// same snapshots.
  public func finish(
    _ damage: ArchiveDamage? = nil, isDated: Bool = true
  ) throws(SubledgerError) -> ArchiveCounts {
    try write("write the counts of an archive") { database in
      try writeWaiting(to: database)
      try database.closeArchive(
        archive, counts, damage, snapshotsCheck: snapshotsCheck, isDated: isDated)
      try ledger.lock?.requirePresence()
      try database.release("archive")
    }
    isOpen = false
    return counts
  }

  /// Undoes everything that was added; harmless without an open transaction.
  public func abandon() {
    guard isOpen else { return }
    isOpen = false
    ledger.undoArchive(since: "archive")
  }

  /// Runs `body` in the file's transaction; an error undoes the file.
  private func write(
    _ doing: String, _ body: (Connection) throws -> Void
  ) throws(SubledgerError) {
    precondition(isOpen, "nothing is added to an archive that is finished or abandoned")
    do {
      try ledger.access(doing, body)
    } catch {
      abandon()
      throw error
    }
  }
}

/// A snapshot in its stored form; any thread can create it.
public struct EncodedSnapshot: Sendable {
  /// When the provider's state was captured.
  public let capturedAt: Instant
  let user: String
  /// The user's key, unless another user has that key.
  let firstKey: Int64
  let provider: Provider
  let app: String
  let place: Provenance
  let body: [UInt8]

  /// Encodes the entitlements of `snapshot`.
  public init(_ snapshot: Snapshot) {
    (user, provider, app) = (snapshot.user, snapshot.provider, snapshot.app)
    firstKey = Fingerprint.of(user)
    (capturedAt, place) = (snapshot.capturedAt, snapshot.place)
    body = SnapshotCoding.encode(snapshot.entitlements)
  }

  /// Memory in use, in bytes, approximately.
  public var bytes: Int { MemoryLayout<EncodedSnapshot>.stride + user.utf8.count + body.count + 64 }
}

private struct SnapshotWriter {
  private let archive: Int32
  private let users: UserKeys
  private let contentInsertion: Statement
  private let contentLookup: Statement
  private let insertion: Statement
  /// Nil before the first fold, which compares everything anyway.
  private let dueInsertion: Statement?
  /// Whether the last content was known: then the next one usually is, too.
  private var wasKnown = false

  init(archive: Int32, database: Connection) throws {
    self.archive = archive
    users = try UserKeys(database)
    contentInsertion = try database.statement(
      "insert into snapshot_content (key, body) values (?, ?) on conflict (key) do nothing")
    contentLookup = try database.statement("select body from snapshot_content where key = ?")
    insertion = try database.statement(
      """
      insert into snapshot (
        provider, user, app, captured_ms, content, line, byte_offset, archive)
      values (?, ?, ?, ?, ?, ?, ?, ?)
      on conflict (provider, user, app, captured_ms, content) do nothing
      """)
    dueInsertion =
      try database.isAny("fold")
      ? database.statement(
        """
        insert or ignore into snapshot_due (captured_ms, provider, user, app, content)
        values (?, ?, ?, ?, ?)
        """) : nil
  }

  /// Returns the check of the written row; nil when the ledger has the same snapshot.
  mutating func write(_ snapshot: EncodedSnapshot, app: StringID) throws -> Int64? {
    let user = snapshot.user.isEmpty ? 0 : try users.keep(id: snapshot.user)
    let content = try keep(snapshot.body, of: user)
    let columns = [
      Int64(snapshot.provider.rawValue), user, Int64(app),
      snapshot.capturedAt.milliseconds, content, snapshot.place.line, snapshot.place.byteOffset,
    ]
    for (index, column) in (columns + [Int64(archive)]).enumerated() {
      insertion.bind(Int32(index + 1), column)
    }
    guard try insertion.changedRow() else { return nil }
    try dueInsertion?.run(
      snapshot.capturedAt, Int64(snapshot.provider.rawValue), user, Int64(app), content)
    return snapshotCheck(columns)
  }

  /// Returns the key of a content, which is added if new; another content's key is skipped.
  private mutating func keep(_ body: [UInt8], of user: Int64) throws -> Int64 {
    var key = SnapshotCoding.key(ofUser: user, body.withUnsafeBytes { Fingerprint.of($0) })
    while true {
      if !wasKnown {
        contentInsertion.bind(1, key)
        body.bind(to: contentInsertion, at: 2)
        if try contentInsertion.changedRow() { return key }
      }
      contentLookup.bind(1, key)
      let isSame = try contentLookup.first { row in
        body.withUnsafeBytes { row.blob(0).isEqual(to: $0) }
      }
      wasKnown = isSame != nil
      if isSame == true { return key }
      if isSame == false { key = key.nextKey }
    }
  }
}
