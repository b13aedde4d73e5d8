internal import CSQLite

/// A value for a parameter of a query, or in a row of a report: a number as the report's query
/// returns it, with symbols for words, or a text.
public enum LedgerValue: Sendable, Hashable {
  case integer(Int64)
  case text(String)
  /// Unknown or absent value.
  case null

  /// The number; nil for any other value.
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}

extension Statement {
  /// The values of all columns; numbers that are not integers as texts.
  public var values: [LedgerValue] {
    (0..<columnCount).map { column in
      switch sqlite3_column_type(handle, column) {
      case SQLITE_NULL: .null
      case SQLITE_INTEGER: .integer(number(column))
      default: .text(text(column))
      }
    }
  }
}

extension Ledger {
  /// Calls `body` with every row of a query, with `arguments` for its parameters.
  ///
  /// A query with arguments stays prepared, because it usually runs again with others; it must not
  /// be run inside itself. Throws `SubledgerError` when SQLite fails, and whatever `body` throws.
  public func rows(
    sql: String, arguments: [LedgerValue] = [], _ body: (Statement) throws -> Void
  ) throws {
    try visit("run a query") { database in
      let statement =
        arguments.isEmpty
        ? try Statement(database, sql) : try database.statement(sql)
      for (index, argument) in arguments.enumerated() {
        argument.bind(to: statement, at: Int32(index + 1))
      }
      try statement.forEachRow(body)
    }
  }
}

extension LedgerValue: Bindable {
  func bind(to statement: Statement, at index: Int32) {
    switch self {
    case .integer(let number): statement.bind(index, number)
    case .text(let text): statement.bind(index, text)
    case .null: statement.bindNull(index)
    }
  }
}
