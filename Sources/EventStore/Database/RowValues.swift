internal import CSQLite
public import Domain

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
  /// be run inside itself.
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

extension Ledger {
  /// Defines a function from a text to a text for the queries of this reader; null stays null.
  public func define(
    _ name: String, _ body: @escaping (String) -> String
  ) throws(SubledgerError) {
    try access("define a function") { database in
      try database.check(
        sqlite3_create_function_v2(
          database.handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
          Unmanaged.passRetained(TextFunction(body)).toOpaque(),
          { context, _, values in
            guard let function = sqlite3_user_data(context),
              let start = sqlite3_value_text(values?.pointee)
            else { return sqlite3_result_null(context) }
            let bytes = UnsafeRawBufferPointer(
              start: start, count: Int(sqlite3_value_bytes(values?.pointee)))
            let text = Unmanaged<TextFunction>.fromOpaque(function).takeUnretainedValue()
              .body(String(decoding: bytes, as: UTF8.self))
            sqlite3_result_text(
              context, text, Int32(text.utf8.count), subledger_transient())
          }, nil, nil,
          { function in function.map { Unmanaged<TextFunction>.fromOpaque($0).release() } }))
    }
  }
}

/// A function of queries from a text to a text.
private final class TextFunction {
  let body: (String) -> String

  init(_ body: @escaping (String) -> String) { self.body = body }
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

// Cases that rows store as numbers or texts. An unknown value is damage: leaving out its row would
// silently change numbers.

extension Statement {
  func value<Value: RawRepresentable>(_ column: Int32) throws(SubledgerError) -> Value
  where Value.RawValue == UInt8 {
    try known(UInt8(exactly: int64(column)).flatMap(Value.init(rawValue:)), column)
  }

  func value<Value: RawRepresentable>(_ column: Int32) throws(SubledgerError) -> Value
  where Value.RawValue == String {
    try known(Value(rawValue: text(column)), column)
  }

  /// Returns the provider whose number is in a column.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` if the number is unknown.
  public func provider(_ column: Int32) throws(SubledgerError) -> Provider { try value(column) }

  /// Returns the symbol in a column.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` if the number is unknown.
  public func symbol(_ column: Int32) throws(SubledgerError) -> StringID {
    try known(StringID(exactly: int64(column)), column)
  }

  /// Reads provider and app from consecutive columns, starting with `column`.
  func feed(_ column: Int32) throws(SubledgerError) -> Feed {
    Feed(provider: try value(column), app: try symbol(column + 1))
  }

  /// Reads provider, app, store and product from consecutive columns, starting with `column`.
  func productKey(_ column: Int32) throws(SubledgerError) -> ProductKey {
    try ProductKey(
      provider: value(column), app: symbol(column + 1), store: value(column + 2),
      product: symbol(column + 3))
  }

  private func known<Value>(
    _ value: Value?, _ column: Int32
  ) throws(SubledgerError) -> Value {
    guard let value else {
      throw SubledgerError.damagedLedger(
        "cannot read\(name(of: column)) of the ledger: unknown \(Value.self)")
    }
    return value
  }
}

// Instants, days, months and provenance, which rows store as numbers.

extension Statement {
  /// Returns the instant whose milliseconds are in a column.
  @inline(__always)
  public func instant(_ column: Int32) -> Instant { Instant(milliseconds: int64(column)) }

  @inline(__always)
  func optionalInstant(_ column: Int32) -> Instant? {
    optionalInt64(column).map(Instant.init(milliseconds:))
  }

  /// Returns the day whose number is in a column.
  public func day(_ column: Int32) -> Day { Day(number: Int32(truncatingIfNeeded: int64(column))) }

  /// Returns the month whose number is in a column.
  public func month(_ column: Int32) -> Month {
    Month(number: Int32(truncatingIfNeeded: int64(column)))
  }

  /// Returns the number of an archive in a column.
  func archive(_ column: Int32) -> Int32 { Int32(truncatingIfNeeded: int64(column)) }

  /// Reads archive, line and offset from consecutive columns, starting with `column`.
  func provenance(_ column: Int32) -> Provenance {
    Provenance(
      archive: archive(column), line: int64(column + 1), byteOffset: int64(column + 2))
  }
}
