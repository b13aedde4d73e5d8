internal import CSQLite

/// A refusal of SQLite, in its own words; those name tables and columns at most, never values,
/// because statements bind their values.
struct DatabaseError: Error {
  /// SQLite's extended result code.
  let code: Int32
  let message: String

  init(_ code: Int32, on connection: OpaquePointer?) {
    self.code = code
    let words = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    message = words.map { String(cString: $0) } ?? "SQLite result \(code)"
  }
}

/// One connection to a SQLite file, with the statements that it keeps prepared.
///
/// The small part of a database library that one writer of one file needs. Not for several
/// threads.
final class Database {
  let connection: OpaquePointer
  private var prepared: [String: PreparedStatement] = [:]

  /// Opens the file at `path`, which must exist.
  init(path: String, isReadOnly: Bool) throws(DatabaseError) {
    var opened: OpaquePointer?
    let mode = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    let code = sqlite3_open_v2(path, &opened, mode | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let failure = DatabaseError(code, on: opened)
      sqlite3_close_v2(opened)
      throw failure
    }
    connection = opened
    sqlite3_extended_result_codes(connection, 1)
    sqlite3_busy_timeout(connection, Self.busyMilliseconds)
    try check(refuse_double_quoted_text(connection))
    try execute(sql: "pragma foreign_keys = on")
  }

  /// How long a statement waits for the lock of another process.
  private static let busyMilliseconds: Int32 = 10_000

  /// Whether a transaction or savepoint is open; a full disk makes SQLite end it by itself.
  var isInsideTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

  /// Rows that the last statement changed.
  var changesCount: Int { Int(sqlite3_changes(connection)) }

  /// Runs the statements of `sql`, one after the other, without looking at rows.
  func execute(sql: String) throws(DatabaseError) {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  /// Copies the write-ahead log back into the file and empties it.
  func checkpoint() throws(DatabaseError) {
    try check(
      sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
  }

  /// A new statement.
  func statement(_ sql: String) throws(DatabaseError) -> PreparedStatement {
    try PreparedStatement(sql, in: self)
  }

  /// The one statement for `sql` that the connection keeps.
  func keptStatement(_ sql: String) throws(DatabaseError) -> PreparedStatement {
    if let known = prepared[sql] { return known }
    let statement = try statement(sql)
    prepared[sql] = statement
    return statement
  }

  private func check(_ code: Int32) throws(DatabaseError) {
    guard code == SQLITE_OK else { throw DatabaseError(code, on: connection) }
  }

  deinit {
    prepared = [:]
    // Waits for statements that somebody still holds.
    sqlite3_close_v2(connection)
  }
}

/// Frees a statement with its last user.
final class PreparedStatement {
  let handle: OpaquePointer

  init(_ sql: String, in database: Database) throws(DatabaseError) {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v2(database.connection, sql, -1, &prepared, nil)
    guard code == SQLITE_OK, let prepared else {
      throw DatabaseError(code, on: database.connection)
    }
    handle = prepared
  }

  deinit { sqlite3_finalize(handle) }
}
