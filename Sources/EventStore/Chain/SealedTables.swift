/// What runs seal of each table: these columns by name, so that one which a later schema adds
/// leaves the digests of all earlier runs as they are.
extension RunParts {
  /// Rows of a run's archives; the numbers of the first and last one are arguments.
  static let byArchive = [
    (
      "archive",
      """
      select id, run, name, sha256, kind, bytes, lines, accepted, duplicates, skipped, rejected,
        rounded_amounts, missing_is_proceed, first_event_ms, last_event_ms, status, damage_offset,
        imported_until, snapshots_check, captured_ms
      from archive where id between ? and ? order by id
      """
    ),
    (
      "skipped",
      """
      select archive, reason, lines from skipped where archive between ? and ?
      order by archive, reason
      """
    ),
    (
      "rejected",
      """
      select archive, reason, lines from rejected where archive between ? and ?
      order by archive, reason
      """
    ),
    (
      "reject",
      """
      select archive, line, byte_offset, reason, detail from reject where archive between ? and ?
      order by archive, line, byte_offset
      """
    ),
  ]

  /// Rows of a run; its number is the argument.
  static let byRun = [
    (
      "delivery_cell",
      """
      select run, day, provider, kind, delivered, distinct_events, duplicates_exact,
        duplicates_semantic, conflicts, received, attempt_1, attempt_2, attempt_3, attempt_4,
        attempt_5, attempt_6, latency_max_s
      from delivery_cell where run = ? order by run, day, provider, kind
      """
    ),
    (
      "latency_cell",
      """
      select run, day, provider, kind, bucket, deliveries from latency_cell where run = ?
      order by run, day, provider, kind, bucket
      """
    ),
    (
      "receipt_cell",
      """
      select run, provider, slot, from_ms, to_ms from receipt_cell where run = ?
      order by run, provider, slot
      """
    ),
    (
      "failed_attempt",
      """
      select run, provider, at_ms, identity, attempt from failed_attempt where run = ?
      order by run, provider, at_ms, identity, attempt
      """
    ),
    (
      "watermark",
      """
      select run, provider, app, newest_ms, first_event_ms from watermark where run = ?
      order by run, provider, app
      """
    ),
    ("publication", "select run, zone, last_archive from publication where run = ?"),
    (
      "published_horizon",
      """
      select run, provider, app, booked_month, settled_month, ended_month
      from published_horizon where run = ? order by run, provider, app
      """
    ),
    (
      "published",
      """
      select id, run, report, zone, period, sha256 from published where run = ? order by id
      """
    ),
    (
      "published_row",
      """
      select version, key, row_values, is_complete, cause from published_row
      where version in (select id from published where run = ?) order by version, key
      """
    ),
    // What people did before the run, and after the one before it.
    (
      "act",
      """
      select \(AuditEntry.columns) from act where run = (
        select coalesce(max(id), 0) from run where published is not null and id < ?)
      order by id
      """
    ),
    (
      "closed_report",
      """
      select closed.act, closed.report, closed.sha256, closed.row_count, closed.totals, closed.rows
      from closed_report as closed join act on act.id = closed.act
      where act.run = (
        select coalesce(max(id), 0) from run where published is not null and id < ?)
      order by closed.act, closed.report
      """
    ),
  ]

  /// The tables that change with a run only.
  static let whole = [
    (
      "break_episode",
      """
      select break_id, episode, code, status, severity, provider, app, environment, store, user,
        subscription, transaction_id, product_id, expected_ms, settles_ms, evidence_expires_ms,
        missing_events, estimated_usd, amount_basis, evidence, action, lineage, first_seen_ms,
        last_seen_ms, first_run, last_run, resolved_ms, resolved_run
      from break_episode order by break_id, episode
      """
    ),
    ("decision", "select break_id, verdict, reason, who from decision order by break_id"),
    (
      "published_month",
      """
      select zone, period, run, row_count, incomplete_rows from published_month
      order by zone, period
      """
    ),
    ("erased", "select key, pseudonym from erased order by key"),
  ]
}
