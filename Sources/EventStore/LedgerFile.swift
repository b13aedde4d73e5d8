internal import Formats
internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// How the ledger's file is made, opened and brought to today's schema.
enum LedgerFile {
  /// Marks the file as a ledger, in SQLite's header ("sbld").
  static let applicationID: Int64 = 0x7362_6c64

  /// Opens the ledger at `path` and brings it to the schema of `migrator` when it may be written.
  ///
  /// A migration is one transaction: one that fails or dies leaves the ledger as it was.
  static func open(
    path: String, mode: Ledger.Mode, migrator: DatabaseMigrator = migrator
  ) throws -> DatabaseQueue {
    if mode == .readWrite {
      try create(path)
      try requireOwnLog(path)
    } else {
      try requireThere(path)
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration(mode, path: path))
    try queue.inDatabase { database in
      try explained(path) {
        try requireWritable(database, path: path, mode: mode)
        try recognise(database, path: path, mode: mode, migrator)
        // Not before: a file of somebody else, named by a slip, keeps the rights it has.
        if mode == .readWrite { try closeToOthers(ledgerPath: path) }
        if mode == .readWrite { try prepareForWriting(database) }
      }
    }
    if mode == .readWrite { try migrator.migrate(queue) }
    return queue
  }

  private static func requireThere(_ path: String) throws {
    guard access(path, R_OK) != 0 else { return }
    let cause = errno
    guard cause == ENOENT || cause == ENOTDIR else {
      throw LedgerError.system("read the ledger \(path)", cause: cause)
    }
    throw LedgerError(
      .missing, "cannot open the ledger \(path): it does not exist",
      hint: "check the path given as --ledger, or run an ingest first")
  }

  /// Makes an empty file that only its owner can read; SQLite gives `-wal` and `-shm` its mode.
  private static func create(_ path: String) throws {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw LedgerError.system(
        "open the ledger \(path)", cause: errno,
        hint: "check that its folder exists and that you may write there")
    }
    close(descriptor)
  }

  /// Refuses a ledger that the log beside it damages: what a run left when it died belongs to the
  /// file of then, not to one that was put in its place since.
  ///
  /// A reader looks. It writes nothing back, so that without the log the file is what it was.
  private static func requireOwnLog(_ path: String) throws {
    let files = LedgerFiles(of: path)
    guard let log = OpenFile(files.log, O_RDONLY), log.size() ?? 0 > 0 else { return }
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration(.readOnly, path: path))
      defer { try? queue.close() }
      try queue.inDatabase { database in
        try explained(path) {
          guard let damage = try damage(of: database) else { return }
          throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: damage)
        }
      }
    } catch let error as LedgerError where error.kind == .corrupt {
      throw LedgerError(
        .corrupt,
        "cannot open the ledger \(path): with the log \(files.log), which a run that died has "
          + "left, it is damaged",
        hint: "if the ledger was put there since, from a backup or rebuilt, remove that log and "
          + "\(files.index), and run again; else put a backup in its place, or rebuild it")
    }
  }

  /// What SQLite finds wrong with a whole file; nil when nothing is.
  static func damage(of database: Database) throws -> String? {
    let answer = try String.fetchOne(database, sql: "pragma integrity_check(1)")
    guard answer == "ok" else { return answer ?? "SQLite says nothing of it" }
    let isTorn = try Row.fetchOne(database, sql: "pragma foreign_key_check") != nil
    return isTorn ? "a row refers to one that is not there" : nil
  }

  /// The write-ahead log of the ledger at `path`, and the folder that holds its name.
  static func logPlaces(of path: String) -> [String] {
    [LedgerFiles(of: path).log, URL(fileURLWithPath: path).deletingLastPathComponent().path]
  }

  /// Waits until the write-ahead log of the ledger at `path`, and its name, are on the disk.
  static func syncLog(of path: String) throws(LedgerError) {
    for entry in logPlaces(of: path) {
      let file = OpenFile(entry, O_RDONLY)
      if file == nil, errno == ENOENT { continue }
      guard let file, file.sync() else {
        throw LedgerError(
          .io, "cannot make the night durable in \(entry): \(String(cString: strerror(errno)))",
          hint: "check the disk and run again")
      }
    }
  }

  /// Says why `body` failed while the file is open: closing it hides what the system had to say.
  static func explained<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw LedgerError(error, doing: "open the file", path: path)
    }
  }

  private static func configuration(_ mode: Ledger.Mode, path: String) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = mode == .readOnly
    configuration.busyMode = .timeout(10)
    configuration.label = "ledger"
    // An archive's transaction spans many batches, each of which is one access.
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { database in
      // A reader walks through each page once. Sorting spills to files. The last line reads what
      // GRDB reads next.
      try explained(path) {
        try database.execute(
          sql: """
            pragma cache_size = -8192;
            pragma temp_store = file;
            pragma secure_delete = off;
            select 1 from sqlite_schema limit 1;
            """)
      }
    }
    return configuration
  }

  /// SQLite only reads a file that the system would not open a second time for writing.
  private static func requireWritable(
    _ database: Database, path: String, mode: Ledger.Mode
  ) throws {
    guard mode == .readWrite, sqlite3_db_readonly(database.sqliteConnection, "main") == 1 else {
      return
    }
    throw LedgerError(
      .io, "cannot open the ledger \(path) for writing: the system refused it once")
  }

  private static func recognise(
    _ database: Database, path: String, mode: Ledger.Mode, _ migrator: DatabaseMigrator
  ) throws {
    let identifier = try Int64.fetchOne(database, sql: "pragma application_id") ?? 0
    if identifier == applicationID {
      guard try !migrator.hasBeenSuperseded(database) else {
        throw LedgerError(
          .newer, "cannot open the ledger \(path): a newer version of the program made it",
          hint: "use that version, or rebuild the ledger from the archives in a new file")
      }
      guard try mode == .readWrite || migrator.hasCompletedMigrations(database) else {
        throw LedgerError(
          .older, "cannot read the ledger \(path): an older version of the program made it",
          hint: "let `subledger run` or `subledger ingest` bring it up to date first")
      }
      return
    }
    // A run that died while it made the file has left nothing, or the migrator's own table.
    let tables = try Int64.fetchOne(
      database, sql: "select count(*) from sqlite_schema where tbl_name <> 'grdb_migrations'")
    // SQLite takes a file of one byte for an empty one.
    var status = stat()
    let isOneByte = stat(path, &status) == 0 && status.st_size == 1
    guard identifier == 0, tables == 0, !isOneByte else {
      throw LedgerError(
        .notALedger, "cannot open the ledger \(path): the database is not a ledger")
    }
    guard mode == .readWrite else {
      throw LedgerError(
        .missing, "cannot open the ledger \(path): nothing was read into it yet",
        hint: "check the path given as --ledger, or run an ingest first")
    }
  }

  /// WAL, so that a reader never waits for the night.
  ///
  /// `normal` syncs at checkpoints: a power cut can undo whole archives that came last, never half
  /// of one, and a sync of `logPlaces` makes all of them durable before anything is published. A
  /// log of up to 256 MiB before it is copied back lets most nights write each page of the file
  /// once. Pages of 8 KiB are what rows of about 800 bytes fill best. A writer comes back to pages
  /// of the indexes, so it keeps 24 MiB of them; SQLite counts them by the size that pages have
  /// when it is told.
  private static func prepareForWriting(_ database: Database) throws {
    try database.execute(
      sql: """
        pragma page_size = 8192;
        pragma journal_mode = wal;
        pragma synchronous = normal;
        pragma wal_autocheckpoint = 32768;
        pragma journal_size_limit = 67108864;
        pragma cache_size = -24576;
        """)
  }

  /// What a new ledger's schema is, by name.
  static func freshSchema() throws -> [String: String] {
    let queue = try DatabaseQueue()
    try migrator.migrate(queue)
    return try queue.inDatabase(schema)
  }

  /// The definitions of tables and indexes, by name.
  static func schema(of database: Database) throws -> [String: String] {
    var schema: [String: String] = [:]
    let rows = try RawStatement(
      database,
      "select name, type || ' ' || tbl_name || ' ' || coalesce(sql, '') from sqlite_schema")
    try rows.forEachRow { schema[$0.text(0)] = $0.text(1) }
    return schema
  }

  /// Forward only; a migration that was released is never edited.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { database in
      for script in [
        PackageResources.v1_account_sql, PackageResources.v1_breaks_sql,
        PackageResources.v1_facts_sql, PackageResources.v1_events_sql,
        PackageResources.v1_fold_sql, PackageResources.v1_close_sql,
        PackageResources.v1_forget_sql,
      ] {
        try database.execute(sql: String(decoding: script, as: UTF8.self))
      }
      try database.execute(sql: "pragma application_id = \(applicationID)")
    }
    return migrator
  }
}
