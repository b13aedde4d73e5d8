internal import GRDB

/// How many breaks of a code are in a state.
public struct BreakCount: Sendable, Equatable {
  /// `MISSED_RENEWAL` and so on.
  public var code: String
  /// `pending` or `open`.
  public var status: String
  /// How many.
  public var count: Int64
}

extension Ledger {
  /// Breaks that are not resolved, by code and status.
  public func breakCounts() throws(LedgerError) -> [BreakCount] {
    try access("count the breaks") { database in
      let statement = try RawStatement(
        database,
        """
        select code, status, count(*) from break
        where status <> 'resolved' group by code, status order by code, status
        """)
      var counts: [BreakCount] = []
      try statement.forEachRow {
        counts.append(BreakCount(code: $0.text(0), status: $0.text(1), count: $0.int64(2)))
      }
      return counts
    }
  }
}
