public import Domain

/// Rows of two sides, put beside each other by their keys.
///
/// They lie in a table of the connection's own, in a file of SQLite's that has no name and is gone
/// with this object, so that memory does not grow with them.
public final class RowPairs {
  /// Where a row is from.
  public enum Side: String, Sendable { case before, after }

  private let ledger: Ledger

  /// No rows yet.
  public init() throws {
    ledger = try Ledger.inMemory()
    try ledger.access("compare rows") {
      try $0.execute(
        """
        create temp table pair (key text primary key, before text, after text)
        strict, without rowid
        """)
    }
  }

  /// Puts a row under its key, in the place of one of the same side.
  public func put(_ row: String, _ side: Side, key: String) throws(SubledgerError) {
    try ledger.access("compare rows") {
      try $0.run(
        """
        insert into pair (key, \(side.rawValue)) values (?1, ?2)
        on conflict (key) do update set \(side.rawValue) = ?2
        """, key, row)
    }
  }

  /// The row of a side under a key; nil without one.
  public func row(_ side: Side, key: String) throws(SubledgerError) -> String? {
    try ledger.first("compare rows", "select \(side.rawValue) from pair where key = ?", key) {
      $0.isNull(0) ? nil : $0.text(0)
    } ?? nil
  }

  /// Calls `body` at each key whose rows differ, or that one side does not have, by bytes of keys.
  public func forEachDifference(
    _ body: (_ key: String, _ before: String?, _ after: String?) throws -> Void
  ) throws {
    try ledger.access("compare rows") {
      try $0.forEachRow(
        "select key, before, after from pair where before is not after order by key"
      ) {
        try body($0.text(0), $0.isNull(1) ? nil : $0.text(1), $0.isNull(2) ? nil : $0.text(2))
      }
    }
  }

  /// Begins anew.
  public func removeAll() throws(SubledgerError) {
    try ledger.access("compare rows") { try $0.execute("delete from pair") }
  }
}
