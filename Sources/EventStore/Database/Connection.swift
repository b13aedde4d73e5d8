internal import CSQLite

extension Ledger {
  /// The version of SQLite in use.
  public static var sqliteVersion: String { String(cString: sqlite3_libversion()) }
}

/// A connection to an SQLite database, used from one task at a time.
///
/// It enforces foreign keys, and rejects strings in double quotes.
final class Connection {
  let handle: OpaquePointer
  private var cache: [String: Statement] = [:]
  /// Returns the signal that asked to stop, 0 if there is none; a running statement then fails with
  /// `SQLITE_INTERRUPT`, and its transaction is undone.
  var stop: (@Sendable () -> Int32)? {
    didSet {
      // Ten thousand of SQLite's instructions take a millisecond, or a few hundred lookups.
      sqlite3_progress_handler(
        handle, stop == nil ? 0 : 10_000,
        { connection in
          connection.flatMap {
            Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue().interruption
          } ?? 0
        },
        Unmanaged.passUnretained(self).toOpaque())
    }
  }

  /// How many more times `stop` is asked before statements fail as if interrupted; nil: no limit.
  var scanThreshold: Int?

  /// Throws like an interrupted statement when a signal asked to stop.
  func checkStop() throws {
    guard interruption == 0 else { throw SQLiteError(code: SQLITE_INTERRUPT) }
  }

  private var interruption: Int32 {
    if let left = scanThreshold {
      if left == 0 { return 1 }
      scanThreshold = left - 1
    }
    return stop?() ?? 0
  }

  /// Opens the database at `path`, creating it unless read-only; without a path, one in memory.
  ///
  /// Compares each page of a file with its hash when the page is read. Waits up to `busySeconds`
  /// for another connection's lock.
  init(path: String? = nil, isReadOnly: Bool = false, busySeconds: Int32 = 0) throws {
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    var opened: OpaquePointer?
    // SQLite would interpret some names without a slash: `:memory:` or `file:`.
    let name = path.map { $0.hasPrefix("/") ? $0 : "./\($0)" } ?? ":memory:"
    let code =
      Self.files == SQLITE_OK
      ? sqlite3_open_v2(name, &opened, access | SQLITE_OPEN_NOMUTEX, "subledger") : Self.files
    guard code == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw SQLiteError(code: code)
    }
    handle = opened
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, busySeconds * 1000)
    subledger_refuse_quoted_texts(handle)
    try execute("pragma foreign_keys = on")
  }

  /// The result of registering the file layer that compares pages.
  private static let files = subledger_register_files()

  deinit {
    sqlite3_progress_handler(handle, 0, nil, nil)
    // SQLite closes the database when the last statement is finalized.
    sqlite3_close_v2(handle)
  }

  /// Whether the database is read-only, also if only the operating system prevents writing.
  var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  var isInsideTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Whether every page has room for its hash.
  var hasHashes: Bool { reserved(-1) == Self.hashBytes }

  /// Sets the page size of a new database, and reserves room for the hashes.
  func setPages() throws {
    try execute("pragma page_size = 8192")
    _ = reserved(Self.hashBytes)
  }

  /// Returns the number of bytes that SQLite reserves in each page; sets it unless negative.
  private func reserved(_ bytes: Int32) -> Int32 {
    var bytes = bytes
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
    return bytes
  }

  private static let hashBytes: Int32 = 8

  /// Runs statements that return nothing and have no parameters.
  func execute(_ sql: String) throws {
    try check(sqlite3_exec(handle, sql, nil, nil, nil))
  }

  /// Returns the cached statement for `sql`, or a new one while the cached one runs.
  func statement(_ sql: String) throws -> Statement {
    if let kept = cache[sql], !kept.isRunning { return kept }
    let statement = try Statement(prepare(sql, SQLITE_PREPARE_PERSISTENT))
    cache[sql] = statement
    return statement
  }

  func prepare(_ sql: String, _ flags: Int32 = 0) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(flags), &statement, nil))
    guard let statement else { throw SQLiteError(code: SQLITE_MISUSE) }
    return statement
  }

  /// Copies the write-ahead log into the database.
  ///
  /// Either all of it, so that the log is empty, or only the part that needs no waiting for readers
  /// and writers. Returns false when another connection prevents it.
  @discardableResult
  func checkpoint(isEmptying: Bool) throws -> Bool {
    // A connection that has not read anything yet ignores the log.
    try first("select 1 from sqlite_schema limit 1") { _ in }
    let mode = isEmptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil)
    if SQLiteError.primary(code) == SQLITE_BUSY { return false }
    try check(code)
    return true
  }

  /// Copies the database into that of `other` in steps, with a call of `progress` between two.
  func backup(to other: Connection, pagesPerStep: Int32, _ progress: () throws -> Void) throws {
    guard let copy = sqlite3_backup_init(other.handle, "main", handle, "main") else {
      throw other.failure(sqlite3_extended_errcode(other.handle))
    }
    defer { sqlite3_backup_finish(copy) }
    while true {
      let code = sqlite3_backup_step(copy, pagesPerStep)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_OK else { throw SQLiteError(code: code) }
      try progress()
    }
  }

  /// Releases memory that the connection does not need.
  func releaseMemory() {
    cache.removeAll()
    sqlite3_db_release_memory(handle)
  }

  func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw failure(code) }
  }

  func failure(_ code: Int32) -> SQLiteError {
    SQLiteError(code: code, message: sqlite3_errmsg(handle).map { String(cString: $0) })
  }
}

extension Statement {
  convenience init(_ connection: Connection, _ sql: String) throws {
    try self.init(connection.prepare(sql))
  }
}

extension Connection {
  /// Begins a savepoint, which `release` keeps and `rollBack` undoes.
  func savepoint(_ name: String) throws { try statement("savepoint \(name)").run() }

  /// Keeps the changes since the savepoint; the outermost one commits.
  func release(_ name: String) throws { try statement("release \(name)").run() }

  /// Undoes the changes since the savepoint, and ends it.
  func rollBack(_ name: String) throws {
    try statement("rollback to \(name)").run()
    try release(name)
  }

  /// Whether a table has any rows, perhaps with a condition and `values` for its parameters.
  func isAny<each Value: Bindable>(_ rows: String, _ values: repeat each Value) throws -> Bool {
    try first("select 1 from \(rows) limit 1", repeat each values) { _ in } != nil
  }

  /// Returns the number of rows of a table, or of a query in parentheses.
  func count(_ rows: String) throws -> Int64 {
    try first("select count(*) from \(rows)") { $0.int64(0) } ?? 0
  }

  /// The names of a table's columns, in order.
  func columns(in table: String) throws -> [String] {
    try all("select name from pragma_table_info(?) order by cid", table) { $0.text(0) }
  }

  /// Returns the columns of a table's primary key, in its order.
  func primaryKey(_ table: String) throws -> [String] {
    try all("select name from pragma_table_info(?) where pk > 0 order by pk", table) { $0.text(0) }
  }

  /// Runs a statement with `values` for its parameters; returns how many rows it changed.
  @discardableResult
  func run<each Value: Bindable>(_ sql: String, _ values: repeat each Value) throws -> Int64 {
    try statement(sql).run(repeat each values)
    return sqlite3_changes64(handle)
  }

  /// Calls `body` with every row of a query with `values` for its parameters.
  func forEachRow<each Value: Bindable>(
    _ sql: String, _ values: repeat each Value, body: (Statement) throws -> Void
  ) throws {
    let statement = try statement(sql)
    statement.bindAll(repeat each values)
    try statement.forEachRow(body)
  }

  /// Returns the results of `body` for all rows of a query with `values` for its parameters.
  func all<each Value: Bindable, Result>(
    _ sql: String, _ values: repeat each Value, body: (Statement) throws -> Result
  ) throws -> [Result] {
    var results: [Result] = []
    try forEachRow(sql, repeat each values) { try results.append(body($0)) }
    return results
  }

  /// Returns the result of `body` for the first row of a query; nil if there are no rows.
  @discardableResult
  func first<each Value: Bindable, Result>(
    _ sql: String, _ values: repeat each Value, body: (Statement) throws -> Result
  ) throws -> Result? {
    let statement = try statement(sql)
    statement.bindAll(repeat each values)
    return try statement.first(body)
  }
}

struct SQLiteError: Error {
  /// SQLite's extended result code.
  let code: Int32
  /// SQLite's message, which contains at most names of tables and columns, never values.
  let message: String

  /// - Parameter message: the connection's, which SQLite does not set for every failure.
  init(code: Int32, message: String? = nil) {
    func text(_ code: Int32) -> String { String(cString: sqlite3_errstr(code)) }
    self.code = code
    let isSet = message.map { $0 != text(SQLITE_OK) } ?? false
    self.message = (isSet ? message : nil) ?? text(code == SQLITE_OK ? SQLITE_ERROR : code)
  }

  var primaryCode: Int32 { Self.primary(code) }

  /// Whether `Connection.stop` ended the statement.
  var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  static func primary(_ code: Int32) -> Int32 { code & 0xff }
}
