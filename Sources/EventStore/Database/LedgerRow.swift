internal import CSQLite

/// A value for a `?` of a query, or in a row of a report: a number as the report's query returns
/// it, with symbols for words, or a text.
public enum LedgerValue: Sendable, Hashable {
  case integer(Int64)
  case text(String)
  /// Unknown, or absent.
  case null

  /// The number; nil for another value.
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}

/// One row of a query, valid only inside the call that it is given to.
public struct LedgerRow {
  let statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  /// How many columns the query returns.
  public var count: Int { Int(sqlite3_column_count(statement.handle)) }

  /// The columns' names, in order.
  public var names: [String] {
    (0..<Int32(count)).map { column in
      sqlite3_column_name(statement.handle, column).map { String(cString: $0) } ?? ""
    }
  }

  /// The integer in column `index` (from 0); 0 for null.
  public func int64(_ index: Int) -> Int64 { statement.int64OrZero(Int32(index)) }

  /// Whether the number in column `index` (from 0) is a floating-point one, to which SQLite turns
  /// integers that leave the range of 64 bits.
  public func isFloatingPoint(_ index: Int) -> Bool {
    sqlite3_column_type(statement.handle, Int32(index)) == SQLITE_FLOAT
  }

  /// The text in column `index` (from 0); a number as its digits, empty for null.
  public func text(_ index: Int) -> String { statement.text(Int32(index)) }

  /// The values of all columns; numbers that are no integers as texts.
  public var values: [LedgerValue] {
    (0..<count).map { column in
      switch sqlite3_column_type(statement.handle, Int32(column)) {
      case SQLITE_NULL: .null
      case SQLITE_INTEGER: .integer(int64(column))
      default: .text(text(column))
      }
    }
  }

  /// Whether column `index` (from 0) is null.
  public func isNull(_ index: Int) -> Bool { statement.isNull(Int32(index)) }
}

extension Ledger {
  /// Calls `body` at every row of a query, with `arguments` for its question marks.
  ///
  /// A query with arguments is kept prepared, since it is mostly run again with others; it must not
  /// be run inside itself. Throws `SubledgerError` when SQLite refuses, and whatever `body` throws.
  public func rows(
    sql: String, arguments: [LedgerValue] = [], _ body: (LedgerRow) throws -> Void
  ) throws {
    try visit("run a query") { database in
      let statement =
        arguments.isEmpty
        ? try Statement(database, sql) : try database.statement(sql)
      for (index, argument) in arguments.enumerated() {
        argument.bind(to: statement, at: Int32(index + 1))
      }
      try statement.forEachRow { try body(LedgerRow($0)) }
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
