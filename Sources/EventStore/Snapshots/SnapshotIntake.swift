public import Domain

/// Takes the snapshots of one file into the ledger, whole or not at all.
public final class SnapshotIntake {
  private let entry: SnapshotFileImport

  private init(entry: SnapshotFileImport) { self.entry = entry }

  static func begin(
    _ archive: NewArchive, in ledger: Ledger
  ) throws(SubledgerError) -> SnapshotIntake {
    SnapshotIntake(entry: try SnapshotFileImport.begin(archive, in: ledger))
  }

  /// The ledger's number of the file.
  public var archive: Int32 { entry.id }

  /// Adds snapshots, one per line, with the lines that could not be understood.
  ///
  /// A snapshot with the stored content of that user and moment is a duplicate.
  public func add(
    _ snapshots: [Snapshot], rejects: [Reject] = [], retracted: Int64 = 0
  ) throws(SubledgerError) {
    try entry.add("add snapshots") { database in
      let writer = try SnapshotWriter(entry: entry, database: database)
      var accepted: Int64 = 0
      for snapshot in snapshots where try writer.write(snapshot) { accepted += 1 }
      let brought = Int64(snapshots.count)
      try entry.count(
        accepted: accepted, duplicates: brought - accepted, skipped: retracted, rejects: rejects,
        in: database)
    }
  }

  /// Closes the account and makes everything of the file part of the ledger.
  ///
  /// `isDated` is true if every line contains its capture time: then equal bytes are always the
  /// same snapshots.
  public func finish(
    damageOffset: Int64? = nil, provisionalFrom: Int64? = nil, isDated: Bool = true
  ) throws(SubledgerError) -> ArchiveCounts {
    try entry.finish(
      damageOffset: damageOffset, provisionalFrom: provisionalFrom, isDated: isDated)
  }

  /// Undoes everything that was added.
  public func abandon() { entry.abandon() }
}

extension Ledger {
  /// Begins to take in a file of snapshots; one file at a time, each content once.
  public func beginSnapshots(_ archive: NewArchive) throws(SubledgerError) -> SnapshotIntake {
    try SnapshotIntake.begin(archive, in: self)
  }
}

private struct SnapshotWriter {
  private let entry: SnapshotFileImport
  private let database: Connection
  private let users: UserKeys
  private let contentInsertion: Statement
  private let contentLookup: Statement
  private let insertion: Statement

  init(entry: SnapshotFileImport, database: Connection) throws {
    self.entry = entry
    self.database = database
    users = try UserKeys(database)
    contentInsertion = try database.statement(
      "insert into snapshot_content (key, body) values (?, ?) on conflict (key) do nothing")
    contentLookup = try database.statement("select body from snapshot_content where key = ?")
    insertion = try database.statement(
      """
      insert into snapshot (
        provider, user, app, captured_ms, content, archive, line, byte_offset)
      values (?, ?, ?, ?, ?, ?, ?, ?)
      on conflict (provider, user, app, captured_ms, content) do nothing
      """)
  }

  /// False when the ledger has the same snapshot.
  func write(_ snapshot: Snapshot) throws -> Bool {
    let body = SnapshotCoding.encode(snapshot.entitlements)
    let content = try keep(body)
    let user = snapshot.user.isEmpty ? 0 : try users.key(of: snapshot.user)
    let app = try entry.ledger.keep(word: snapshot.app, in: database)
    if user != 0 {
      var text = snapshot.user
      try text.withUTF8 { try users.keep(user, id: UnsafeRawBufferPointer($0)) }
    }
    insertion.bind(1, Int64(snapshot.provider.rawValue))
    insertion.bind(2, user)
    insertion.bind(3, Int64(app))
    insertion.bind(4, snapshot.capturedAt.milliseconds)
    insertion.bind(5, content)
    insertion.bind(6, Int64(entry.id))
    insertion.bind(7, snapshot.place.line)
    insertion.bind(8, snapshot.place.byteOffset)
    guard try insertion.changedRow() else { return false }
    entry.add(
      snapshotCheck: RowCheck.snapshot([
        Int64(snapshot.provider.rawValue), user, Int64(app), snapshot.capturedAt.milliseconds,
        content, snapshot.place.line, snapshot.place.byteOffset,
      ]))
    return true
  }

  /// The key of a content, which is kept when new: its fingerprint or, where another content has
  /// that number already, the next one that is free.
  private func keep(_ body: [UInt8]) throws -> Int64 {
    var key = body.withUnsafeBytes { Fingerprint.of($0) }
    while true {
      contentInsertion.bind(1, key)
      contentInsertion.bind(2, blob: body)
      if try contentInsertion.changedRow() { return key }
      contentLookup.bind(1, key)
      let isSame = try contentLookup.first { row in
        body.withUnsafeBytes { row.blob(0).isEqual(to: $0) }
      }
      if isSame ?? true { return key }
      key = key.nextKey
    }
  }
}
