internal import CSQLite
internal import Domain

/// A prepared statement, whose rows are read from SQLite's memory, without boxed values.
///
/// Other modules see one row of it, only inside the call that receives it, by columns from 0.
public final class Statement {
  let handle: OpaquePointer
  /// A column where a number was read but is missing: damage, an error at the end of the row.
  private var missing: Int32?

  /// Takes ownership of a prepared statement.
  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Whether it is running, perhaps with unread rows.
  var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

  @inline(__always)
  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

  func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

  /// Binds text, which SQLite copies.
  func bind(_ index: Int32, _ text: String) {
    var text = text
    text.withUTF8 { bind(index, text: UnsafeRawBufferPointer($0)) }
  }

  /// Binds UTF-8 bytes as text, which SQLite copies.
  func bind(_ index: Int32, text bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else {
      sqlite3_bind_text(handle, index, "", 0, nil)
      return
    }
    sqlite3_bind_text(
      handle, index, start.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
      subledger_transient())
  }

  /// Binds bytes as a blob, which SQLite copies.
  func bind(_ index: Int32, blob bytes: UnsafeRawBufferPointer) {
    if let start = bytes.baseAddress, !bytes.isEmpty {
      sqlite3_bind_blob(handle, index, start, Int32(bytes.count), subledger_transient())
    } else {
      sqlite3_bind_zeroblob(handle, index, 0)
    }
  }

  /// Moves to the next row; false if there is none.
  @inline(__always)
  func step() throws -> Bool {
    try requireNumbers()
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failure(code)
  }

  func reset() { sqlite3_reset(handle) }

  /// Runs a statement that returns no rows.
  @inline(__always)
  func run() throws {
    let code = sqlite3_step(handle)
    defer { reset() }
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
  }

  /// Runs a statement that changes at most one row; false when it changed none.
  @inline(__always)
  func changedRow() throws -> Bool {
    try run()
    return sqlite3_changes(sqlite3_db_handle(handle)) > 0
  }

  func forEachRow(_ body: (Statement) throws -> Void) throws {
    defer { reset() }
    while try step() { try body(self) }
  }

  /// Returns the result of `body` for the first row; nil if there are no rows.
  @discardableResult
  func first<Value>(_ body: (Statement) throws -> Value) throws -> Value? {
    defer { reset() }
    guard try step() else { return nil }
    let value = try body(self)
    try requireNumbers()
    return value
  }

  /// Returns the number in a column; a missing one is damage, for which the row's reader throws.
  @inline(__always)
  func int64(_ column: Int32) -> Int64 {
    let number = sqlite3_column_int64(handle, column)
    if number == 0, isNull(column) { missing = column }
    return number
  }

  /// Returns the integer in a column; 0 for null.
  public func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// Whether a column has a floating-point number: SQLite converts integers that exceed 64 bits.
  public func isFloatingPoint(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_FLOAT
  }

  private func requireNumbers() throws {
    guard let column = missing else { return }
    missing = nil
    throw SubledgerError.damaged("the number\(name(of: column))")
  }

  /// Returns the name of a column and its table, for errors.
  func name(of column: Int32) -> String {
    let name = sqlite3_column_name(handle, column).map { " `\(String(cString: $0))`" } ?? ""
    return name + (table(of: column).map { " of table \($0)" } ?? "")
  }

  /// Returns the integer in a column; nil for null.
  @inline(__always)
  public func optionalInt64(_ column: Int32) -> Int64? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
  }

  /// Whether a column is null.
  public func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Number of columns in a row.
  public var columnCount: Int32 { sqlite3_column_count(handle) }

  /// The columns' names, in order.
  public var names: [String] {
    (0..<columnCount).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }
  }

  /// Writes a value with its type, so that no two different rows have the same bytes.
  func write(_ column: Int32, to writer: inout ByteWriter) {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: writer.put(byte: 0)
    case SQLITE_INTEGER:
      writer.put(byte: 1)
      writer.put(int64(column))
    case SQLITE_BLOB:
      writer.put(byte: 3)
      writer.put(blob(column))
    default:
      writer.put(byte: 2)
      writer.put(bytes(column))
    }
  }

  /// Returns the column's UTF-8 bytes, valid until the next step; a number as its digits.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let start = sqlite3_column_text(handle, column) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Returns the text in a column; a number as its digits, empty for null.
  public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

  /// Returns the column's bytes, valid until the next step.
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let start = sqlite3_column_blob(handle, column) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Returns the table of a column; nil for computed columns.
  private func table(of column: Int32) -> String? {
    sqlite3_column_table_name(handle, column).map { String(cString: $0) }
  }

  private func failure(_ code: Int32) -> SQLiteError {
    var message = sqlite3_errmsg(sqlite3_db_handle(handle)).map { String(cString: $0) }
    if code & 0xff == SQLITE_CORRUPT {
      let tables = Set((0..<columnCount).compactMap(table)).sorted().joined(separator: ", ")
      if !tables.isEmpty { message = "\(message ?? "damaged") (in \(tables))" }
    }
    sqlite3_reset(handle)
    return SQLiteError(code: code, message: message)
  }
}
