public import Domain

/// Breaks of one code, severity and status.
public struct BreakCount: Sendable, Equatable {
  /// `pending`, `open`, `reopened`, `explained` or `written_off`.
  public var status: String
  /// `info`, `low`, `medium`, `high` or `critical`.
  public var severity: String
  /// `MISSED_RENEWAL` and so on.
  public var code: String
  /// Number of breaks.
  public var count: Int64
  /// Number of missing events.
  public var missingEvents: Int64
  /// Estimated gross amount of the missing events that have an estimate; nil if none has.
  ///
  /// Sandbox purchases never carry money.
  public var estimatedUSD: Amount?
  /// Breaks whose missing events have no estimate.
  public var withoutEstimate: Int64
  /// The earliest business time of a missing or doubtful event; nil if unknown.
  public var oldest: Instant?
}

extension Ledger {
  /// Returns counts and estimated amounts of unresolved breaks, by status, severity and code.
  public func breakCounts() throws(SubledgerError) -> [BreakCount] {
    let isPriced =
      "break.missing_events <> 0 and break.environment = \(Environment.production.rawValue)"
    return try all(
      "count the breaks",
      """
      select
        case
          when decision.verdict is not null then decision.verdict
          when break.status = 'open' and break.episode > 1 then 'reopened'
          else break.status
        end as state,
        break.severity, break.code, count(*), min(break.expected_ms),
        sum(break.missing_events),
        -- As quality_monthly.csv counts it.
        sum(break.estimated_usd) filter (where \(isPriced)),
        count(*) filter (where \(isPriced) and break.estimated_usd is null)
      from break_episode as break
      left join decision on decision.break_id = break.break_id
      where break.episode > 0 and break.resolved_ms is null and break.status <> 'resolved'
      group by state, break.severity, break.code
      order by state, break.severity, break.code
      """
    ) {
      let (known, withoutEstimate) = ($0.optionalInt64(6), $0.int64(7))
      return BreakCount(
        status: $0.text(0), severity: $0.text(1), code: $0.text(2), count: $0.int64(3),
        missingEvents: $0.int64(5),
        estimatedUSD: (known ?? (withoutEstimate > 0 ? nil : 0)).map(Amount.init(micros:)),
        withoutEstimate: withoutEstimate, oldest: $0.optionalInstant(4))
    }
  }
}
