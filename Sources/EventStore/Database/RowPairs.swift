public import Domain

/// Rows of two sides, paired by key.
///
/// They are stored in an unnamed temporary file, so memory does not grow with them.
public final class RowPairs {
  /// The side of a row.
  public enum Side: String, Sendable { case before, after }

  private let ledger: Ledger

  /// Creates an empty table.
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

  /// Stores a row under its key, replacing that of the same side.
  public func put(_ row: String, _ side: Side, key: String) throws(SubledgerError) {
    try ledger.access("compare rows") {
      try $0.run(
        """
        insert into pair (key, \(side.rawValue)) values (?1, ?2)
        on conflict (key) do update set \(side.rawValue) = ?2
        """, key, row)
    }
  }

  /// Returns the row of a side under a key; nil if there is none.
  public func row(_ side: Side, key: String) throws(SubledgerError) -> String? {
    try ledger.first("compare rows", "select \(side.rawValue) from pair where key = ?", key) {
      $0.isNull(0) ? nil : $0.text(0)
    } ?? nil
  }

  /// Calls `body` with each key whose rows differ or that one side lacks, in byte order of keys.
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

  /// Removes all rows.
  public func removeAll() throws(SubledgerError) {
    try ledger.access("compare rows") { try $0.execute("delete from pair") }
  }
}
