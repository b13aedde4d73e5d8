internal import EventStore

extension ReportContext {
  /// Computes percentiles of each day's latencies in buckets of the histogram: the smallest bucket
  /// that covers the share of deliveries.
  func makeLatencies() throws {
    try table(
      "latency",
      """
      day integer, provider integer, kind integer, p50 integer, p95 integer, p99 integer,
      primary key (day, provider, kind)
      """, options: "without rowid")
    var day = LatencyDay()
    try ledger.rows(
      sql: """
        select day, provider, kind, bucket, deliveries from latency_cell
        where deliveries > 0
        order by day, provider, kind, bucket
        """
    ) { row in
      let key = [row.number(0), row.number(1), row.number(2)]
      if key != day.key {
        if !day.key.isEmpty { try insert("latency", day.values) }
        day = LatencyDay(key: key)
      }
      day.add(bucket: row.number(3), deliveries: row.number(4))
    }
    if !day.key.isEmpty { try insert("latency", day.values) }
  }

  /// Finds stretches in which the receiving endpoint accepted nothing.
  ///
  /// A stretch has three or more messages whose first attempt must have failed, at least a minute
  /// between the first and last failure, and no receipt in between. Receipts are known to five
  /// minutes: failures between two of those do not count.
  func makeOutages() throws {
    try table(
      "outage",
      """
      provider integer, from_ms integer, to_ms integer, delayed integer, last_taken_ms integer,
      next_taken_ms integer
      """)
    var candidate = OutageCandidate()
    try ledger.rows(
      sql: """
        select provider, slot, min(from_ms) as from_ms, max(to_ms) as to_ms, 0 as attempt
        from receipt_cell
        group by provider, slot
        union all
        select provider, at_ms / ?, at_ms, at_ms, attempt
        from (
          select distinct failed.provider, at_ms, identity, attempt
          from failed_attempt as failed
          left join temp.fitting_schedule as fit on fit.provider = failed.provider
          where failed.schedule = coalesce(fit.schedule, 0)
        )
        order by 1, 2, 3, 5
        """, arguments: [.integer(Ledger.receiptSlot)]
    ) { row in
      let (provider, from, attempt) = (row.number(0), row.number(2), row.number(4))
      let isOther = candidate.provider != provider
      if isOther || attempt == 0 {
        let outage = candidate.outage(endedAt: isOther ? nil : from)
        if let outage { try insert("outage", outage) }
        candidate = OutageCandidate(provider: provider, taken: attempt == 0 ? row.number(3) : nil)
      }
      if attempt > 0 { candidate.fail(at: from, isFirst: attempt == 1) }
    }
    if let outage = candidate.outage(endedAt: nil) { try insert("outage", outage) }
  }
}

/// The latencies of one kind of event on one day, shortest first.
private struct LatencyDay {
  /// Day, provider and kind; empty before the first row.
  var key: [Int64] = []
  var buckets: [(bucket: Int64, reached: Int64)] = []

  mutating func add(bucket: Int64, deliveries: Int64) {
    buckets.append((bucket, (buckets.last?.reached ?? 0) + deliveries))
  }

  var values: [LedgerValue] {
    let total = buckets.last?.reached ?? 0
    let percentiles = [50, 95, 99].map { (percent: Int64) -> LedgerValue in
      let found = buckets.first { 100 * $0.reached >= percent * total }
      return found.map { .integer($0.bucket) } ?? .null
    }
    return key.map(LedgerValue.integer) + percentiles
  }
}

/// A time without receipts, in ms, with the attempts that must have failed during it.
private struct OutageCandidate {
  var provider: Int64?
  /// The last receipt before it; nil when there is none.
  var taken: Int64?
  var first: Int64?
  var last: Int64 = 0
  var delayed: Int64 = 0

  /// Counts a failure, unless messages were received before and after it in the same stretch.
  mutating func fail(at time: Int64, isFirst: Bool) {
    if let taken, time <= taken { return }
    first = first ?? time
    last = time
    if isFirst { delayed += 1 }
  }

  /// The row of the outage that the next receipt ends; nil when there was no outage.
  func outage(endedAt next: Int64?) -> [LedgerValue]? {
    guard let provider, let first, delayed >= 3, last - first >= 60_000 else { return nil }
    return [
      .integer(provider), .integer(first), .integer(last), .integer(delayed),
      taken.map(LedgerValue.integer) ?? .null, next.map(LedgerValue.integer) ?? .null,
    ]
  }
}
