public import Domain

/// Counts of the breaks that a run changed.
public struct BreakCounts: Sendable, Equatable {
  /// Breaks that no earlier run found.
  public var new: Int64 = 0
  /// Breaks that were resolved and came back.
  public var reopened: Int64 = 0
  /// Breaks that the previous run found and this one did not.
  public var resolved: Int64 = 0
}

extension Ledger {
  /// Stores `current` as the breaks that exist at `asOf`, in one transaction.
  ///
  /// A stored break that is missing from `current` is resolved by `run`, the number that `beginRun`
  /// returned. A break that comes back begins another episode. A run as of an earlier time neither
  /// resolves nor reopens breaks of later as-ofs: what it finds before the end of the last episode
  /// is episode 0 until the next run. An earlier attempt at the same run is undone first.
  public func storeBreaks(
    _ current: [Break], asOf: Instant, run: Int64
  ) throws(SubledgerError) -> BreakCounts {
    try change("write the breaks") { database in
      var counts = BreakCounts()
      try database.execute("delete from break_episode where episode = 0")
      try database.rewindBreaks(to: run)
      let upsert = try database.statement(BreakContent.upsert)
      for item in current {
        let known = try database.first(
          """
          select episode, resolved_ms from break_episode
          where break_id = ? order by episode desc limit 1
          """, item.id
        ) { ($0.int64(0), $0.optionalInstant(1)) }
        var episode = known?.0 ?? 1
        if known == nil { counts.new += 1 }
        if let resolved = known?.1 {
          let isReopened = asOf >= resolved
          episode = isReopened ? episode + 1 : 0
          if isReopened { counts.reopened += 1 }
        }
        upsert.bindAll(item.id, episode, asOf, run)
        BreakContent.bind(item, to: upsert, from: 5)
        try upsert.run()
      }
      counts.resolved = try database.run(
        """
        update break_episode set resolved_ms = ?1, resolved_run = ?2
        where resolved_ms is null and last_run <> ?2 and last_seen_ms <= ?1
        """, asOf, run)
      return counts
    }
  }

  /// Returns the break with this id as the last run that found it described it, with the texts as
  /// they were received; nil if no run found it.
  public func knownBreak(_ id: String) throws(SubledgerError) -> Break? {
    try first(
      "read a break", "select \(BreakContent.selected) from break where break_id = ?", id
    ) { try BreakContent.read($0) }
  }

  /// Returns the breaks that events alone prove and the newest run found, by id.
  ///
  /// They are not all unresolved breaks: a run as of an earlier time does not touch later ones.
  public func standingBreaks() throws(SubledgerError) -> [Break] {
    try all(
      "read the breaks",
      """
      select \(BreakContent.selected) from break_episode
      where last_run = (select max(id) from run) and lineage <> 0 order by break_id
      """
    ) { try BreakContent.read($0) }
  }
}

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
  /// Returns counts and amounts of breaks that the newest run found, by status, severity and code.
  public func breakCounts() throws(SubledgerError) -> [BreakCount] {
    let isPriced = """
      (break.missing_events <> 0 or break.code = '\(BreakCode.feedGap.rawValue)')
        and break.environment = \(Environment.production.rawValue)
      """
    return try all(
      "count the breaks",
      """
      select
        case
          when decision.verdict is not null then decision.verdict
          when break.status = 'open' and exists (
            select 1 from break_episode as earlier
            where earlier.break_id = break.break_id and earlier.episode > 0
              and earlier.resolved_ms <= newest.as_of_ms
          ) then 'reopened'
          else break.status
        end as state,
        break.severity, break.code, count(*), min(break.expected_ms),
        sum(break.missing_events),
        -- As quality_monthly.csv counts it, which has no row for the events of a feed.
        sum(break.estimated_usd) filter (where \(isPriced)),
        count(*) filter (where \(isPriced) and break.estimated_usd is null)
      from break_episode as break
      join (select id, as_of_ms from run order by id desc limit 1) as newest
        on break.last_run = newest.id
      left join decision on decision.break_id = break.break_id
      where break.status <> 'resolved'
      group by state, break.severity, break.code
      order by state, break.severity, break.code
      """
    ) {
      BreakCount(
        status: $0.text(0), severity: $0.text(1), code: $0.text(2), count: $0.int64(3),
        missingEvents: $0.int64(5),
        estimatedUSD: $0.optionalInt64(6).map(Amount.init(micros:)),
        withoutEstimate: $0.int64(7), oldest: $0.optionalInstant(4))
    }
  }
}
