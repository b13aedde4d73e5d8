internal import GRDB
public import Vocabulary

/// Breaks of one code and severity that are in one state.
public struct BreakCount: Sendable, Equatable {
  /// `pending`, `open`, `reopened`, `explained` or `written_off`.
  public var status: String
  /// `info`, `low`, `medium`, `high` or `critical`.
  public var severity: String
  /// `MISSED_RENEWAL` and so on.
  public var code: String
  /// How many.
  public var count: Int64
  /// The earliest business time of what is missing or in doubt; nil when none is known.
  public var oldest: Instant?
}

extension Ledger {
  /// Breaks that are not resolved, by status, severity and code.
  public func breakCounts() throws(LedgerError) -> [BreakCount] {
    try access("count the breaks") { database in
      let statement = try RawStatement(
        database,
        """
        select
          case
            when decision.verdict is not null then decision.verdict
            when break.status = 'open' and break.episode > 1 then 'reopened'
            else break.status
          end as state,
          break.severity, break.code, count(*), min(break.expected_ms)
        from break_episode as break
        left join decision on decision.break_id = break.break_id
        where break.resolved_ms is null and break.status <> 'resolved'
        group by state, break.severity, break.code
        order by state, break.severity, break.code
        """)
      var counts: [BreakCount] = []
      try statement.forEachRow {
        counts.append(
          BreakCount(
            status: $0.text(0), severity: $0.text(1), code: $0.text(2), count: $0.int64(3),
            oldest: $0.optionalInt64(4).map(Instant.init(milliseconds:))))
      }
      return counts
    }
  }
}
