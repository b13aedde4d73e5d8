internal import Domain
internal import Formats
internal import Foundation

/// Creates, opens and migrates the ledger's file.
enum LedgerFile {
  /// Opens the ledger at `path`, and migrates it if it is writable.
  static func open(
    path: String, mode: Ledger.Mode, migrations: [Schema.Migration] = Schema.migrations
  ) throws -> Connection {
    try LedgerFiles(of: path).requireOwn()
    if mode == .readWrite {
      try create(path)
      try requireOwnLog(path)
    } else {
      try requirePresence(path)
    }
    let database = try connect(path, mode)
    try explained(path) {
      guard mode == .readOnly || !database.isReadOnly else {
        throw SubledgerError(
          .inputOutput, "cannot open the ledger \(path) for writing: the system refused it once",
          hint: SubledgerError.diskHint)
      }
      let version = try Schema.version(
        of: database, path: path, mode: mode, newest: migrations.count)
      guard version == 0 || database.hasHashes else {
        throw SubledgerError.damagedLedger(
          "cannot open the ledger \(path): its pages have no hashes")
      }
      guard mode == .readWrite else { return }
      // Only after the check: a file of another program, named by mistake, keeps its permissions.
      try closeToOthers(ledgerPath: path)
      try prepareForWriting(database)
      try Schema.migrate(database, from: version, by: migrations)
    }
    return database
  }

  private static func requirePresence(_ path: String) throws {
    guard access(path, R_OK) != 0 else { return }
    let cause = errno
    guard cause == ENOENT || cause == ENOTDIR else {
      throw SubledgerError.ledgerFile("read the ledger \(path)", cause: cause)
    }
    throw SubledgerError(
      .noInput, "cannot open the ledger \(path): it does not exist",
      hint: "check the path given with --ledger, or read archives first with `subledger run`")
  }

  /// Creates an empty file that only its owner can read; `-wal` and `-shm` get the same mode.
  private static func create(_ path: String) throws {
    guard OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, rights: 0o600) != nil else {
      throw SubledgerError.ledgerFile(
        "open the ledger \(path)", cause: errno,
        hint: "check that its folder exists and that you may write there")
    }
  }

  /// Refuses a ledger that is damaged when its write-ahead log is applied: the log of a run that
  /// died belongs to an earlier file that has since been replaced.
  ///
  /// A reader writes nothing back, so the file without the log is unchanged.
  private static func requireOwnLog(_ path: String) throws {
    let files = LedgerFiles(of: path)
    guard let log = OpenFile(files.log, O_RDONLY), log.size() ?? 0 > 0 else { return }
    do {
      try explained(path) {
        guard let damage = try damage(of: connect(path, .readOnly)) else { return }
        throw SubledgerError.damagedLedger(damage)
      }
    } catch let error as SubledgerError where error.kind == .damagedInput {
      throw SubledgerError(
        .damagedInput,
        "cannot open the ledger \(path): it is damaged, or does not belong to the log "
          + "\(files.log), which an interrupted run left",
        hint: "if the ledger was restored or rebuilt since, remove that log and \(files.index), "
          + "and run again; otherwise restore a backup, or rebuild the ledger")
    }
  }

  /// Returns the defects that SQLite finds in the whole file; nil if there are none.
  static func damage(of database: Connection) throws -> String? {
    let answer = try database.first("pragma integrity_check(1)") { $0.text(0) }
    guard answer == "ok" else { return answer ?? "SQLite does not answer" }
    let isTorn = try database.first("pragma foreign_key_check") { _ in true } ?? false
    return isTorn ? "a row refers to a row that is missing" : nil
  }

  /// Runs `body` and explains its failure while the file is still open: closing it changes `errno`.
  static func explained<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw SubledgerError(error, path: path)
    }
  }

  private static func connect(_ path: String, _ mode: Ledger.Mode) throws -> Connection {
    let database = try Connection(path: path, isReadOnly: mode == .readOnly, busySeconds: 10)
    // A reader visits each page once. Sorting spills to files. The last line reads the file, so
    // that a file that is not a database is refused here.
    try explained(path) {
      try database.execute(
        """
        pragma cache_size = -8192;
        pragma temp_store = file;
        pragma secure_delete = off;
        select 1 from sqlite_schema limit 1;
        """)
    }
    return database
  }

  /// Sets WAL mode, so that a reader never waits for a run, and the sizes of log, pages and cache.
  ///
  /// `normal` syncs at checkpoints: a power cut can undo the last archives, each as a whole, and a
  /// sync of `logPlaces` makes all of them durable before anything is published. With a log of up
  /// to 256 MiB before it is copied back, most runs write each page of the file once. Rows of about
  /// 800 bytes fit pages of 8 KiB best. A writer returns to pages of the indexes, so it caches 24
  /// MiB of them; SQLite converts that to pages by the page size at that time.
  private static func prepareForWriting(_ database: Connection) throws {
    try database.setPages()
    try database.execute(
      """
      pragma journal_mode = wal;
      pragma synchronous = normal;
      pragma wal_autocheckpoint = 32768;
      pragma journal_size_limit = 67108864;
      pragma cache_size = -24576;
      """)
  }
}
