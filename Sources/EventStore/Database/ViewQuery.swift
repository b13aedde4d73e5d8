internal import CSQLite

/// Why a query over the views is refused: SQLite's message, and its position in the query.
public struct QueryProblem: Error, Sendable {
  /// SQLite's message.
  public let reason: String
  /// Byte offset of the error in the query; nil when SQLite reports none.
  public let offset: Int?
}

/// An analyst's query, which reads the documented views and can do nothing else.
public final class ViewQuery {
  /// The tables and views that it reads.
  public let reads: Set<String>
  /// The names of its columns.
  public let columns: [String]
  private let statement: Statement
  private let ledger: Ledger
  private let isRepeatable: Bool

  /// Prepares the only statement in `sql`.
  ///
  /// - Parameter isRepeatable: refuses functions that return a different value each time, and more
  ///   steps than a limit, millions of which take minutes.
  /// - Throws: `QueryProblem` when it is not a query, or not a permitted one.
  public init(_ sql: String, of ledger: Ledger, isRepeatable: Bool = false) throws {
    let rights = try QueryRights(of: ledger, isRepeatable: isRepeatable)
    statement = try ledger.visit("prepare a query") { database in
      try rights.guarding(database) { try Self.only(sql, in: database) }
    }
    reads = rights.reads
    columns = statement.names
    (self.ledger, self.isRepeatable) = (ledger, isRepeatable)
  }

  /// Calls `body` with every row, which may write temporary tables only if it `isRepeatable`.
  ///
  /// Throws `QueryProblem` when a value cannot be computed or the limit is exceeded,
  /// `SubledgerError`, and whatever `body` throws.
  public func forEachRow(_ body: (Statement) throws -> Void) throws {
    try ledger.visit("run a query") { database in
      let longest = sqlite3_limit(database.handle, SQLITE_LIMIT_LENGTH, Self.valueBytesMax)
      database.scanThreshold = isRepeatable ? Self.scanThreshold : nil
      if !isRepeatable { try database.execute("pragma query_only = on") }
      defer {
        sqlite3_limit(database.handle, SQLITE_LIMIT_LENGTH, longest)
        database.scanThreshold = nil
        if !isRepeatable { try? database.execute("pragma query_only = off") }
      }
      do {
        try statement.forEachRow(body)
      } catch let error as SQLiteError
        where error.primaryCode == SQLITE_ERROR || error.primaryCode == SQLITE_TOOBIG
      {
        throw QueryProblem(reason: error.message, offset: nil)
      } catch let error as SQLiteError where error.isInterrupted && database.scanThreshold == 0 {
        throw QueryProblem(reason: "it takes too long", offset: nil)
      }
    }
  }

  /// Limit of steps, the same everywhere: one to ten minutes of SQLite's work.
  private static let scanThreshold = 600_000
  /// The longest text that a query may create, in bytes.
  private static let valueBytesMax: Int32 = 16 << 20

  private static func only(_ sql: String, in database: Connection) throws -> Statement {
    var sql = sql
    return try sql.withUTF8 { bytes in
      var rest: UnsafePointer<CChar>?
      var handle: OpaquePointer?
      let start = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      let code = sqlite3_prepare_v3(
        database.handle, start, Int32(clamping: bytes.count), 0, &handle, &rest)
      guard code == SQLITE_OK else {
        let offset = Int(sqlite3_error_offset(database.handle))
        let message = database.failure(code).message
        throw QueryProblem(
          reason: message == "not authorized" ? onlyReads : message,
          offset: offset < 0 ? nil : offset)
      }
      guard let handle else { throw QueryProblem(reason: "there is no query", offset: nil) }
      let statement = Statement(handle)
      guard sqlite3_column_count(handle) > 0, sqlite3_stmt_readonly(handle) != 0 else {
        throw QueryProblem(reason: onlyReads, offset: nil)
      }
      guard sqlite3_bind_parameter_count(handle) == 0 else {
        throw QueryProblem(reason: "parameters are not supported", offset: nil)
      }
      if let start, let rest, try isStatement(rest, database) {
        throw QueryProblem(reason: "it has more than one statement", offset: rest - start)
      }
      return statement
    }
  }

  /// Whether anything but spaces and comments follows.
  private static func isStatement(
    _ rest: UnsafePointer<CChar>, _ database: Connection
  ) throws -> Bool {
    var handle: OpaquePointer?
    let code = sqlite3_prepare_v3(database.handle, rest, -1, 0, &handle, nil)
    sqlite3_finalize(handle)
    return code != SQLITE_OK || handle != nil
  }
}

private let onlyReads =
  "it may only read, with SELECT; to change data, use a copy made by `subledger backup`"

/// The rights of a query: to read views, and those tables that views show.
private final class QueryRights {
  private(set) var reads: Set<String> = []
  /// Tables of the ledger, whose columns are not documented.
  private let tables: Set<String>
  private let views: Set<String>
  private let isRepeatable: Bool

  init(of ledger: Ledger, isRepeatable: Bool) throws {
    let objects = try ledger.all(
      "read the schema", "select type, name from sqlite_schema where type in ('table', 'view')"
    ) { ($0.text(0), $0.text(1)) }
    tables = Set(objects.filter { $0.0 == "table" }.map(\.1)).union(Self.catalogues)
    views = Set(objects.filter { $0.0 == "view" }.map(\.1))
    self.isRepeatable = isRepeatable
  }

  /// Runs `body` with these rights; SQLite checks them only while it prepares a statement.
  func guarding<Value>(_ database: Connection, _ body: () throws -> Value) rethrows -> Value {
    sqlite3_set_authorizer(
      database.handle,
      { rights, action, first, second, _, view in
        guard let rights else { return SQLITE_DENY }
        return Unmanaged<QueryRights>.fromOpaque(rights).takeUnretainedValue().answer(
          action, first.map { String(cString: $0) } ?? "", second.map { String(cString: $0) } ?? "",
          inside: view.map { String(cString: $0) })
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_set_authorizer(database.handle, nil, nil) }
    return try withExtendedLifetime(self) { try body() }
  }

  private func answer(
    _ action: Int32, _ first: String, _ second: String, inside view: String?
  ) -> Int32 {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
    case SQLITE_FUNCTION:
      return isRepeatable && Self.changing.contains(second) ? SQLITE_DENY : SQLITE_OK
    case SQLITE_READ:
      reads.insert(first)
      if view.map(views.contains) ?? false { return SQLITE_OK }
      // For a table of which only rows are counted, SQLite does not report which view reads it.
      return second.isEmpty || !tables.contains(first) ? SQLITE_OK : SQLITE_DENY
    default: return SQLITE_DENY
    }
  }

  private static let catalogues = [
    "sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master",
  ]
  private static let changing: Set<String> = [
    "random", "randomblob", "current_date", "current_time", "current_timestamp", "changes",
    "total_changes", "last_insert_rowid", "sqlite_version", "sqlite_source_id",
  ]
}
