/// The tables that runs seal, and which of their rows each run seals.
///
/// All columns are sealed but those that only say where a file lay, and those of which a column
/// beside them is the digest.
enum SealedTables {
  /// Rows of a run, by the condition that finds them; they never change.
  ///
  /// `?1` is the run.
  static let byRun: [(name: String, rows: String)] = [
    ("archive", "run = ?1"), ("unknown_input", ofArchives), ("skipped", ofArchives),
    ("rejected", ofArchives),
    ("reject", ofArchives), ("delivery_cell", "run = ?1"), ("latency_cell", "run = ?1"),
    ("receipt_cell", "run = ?1"), ("failed_attempt", "run = ?1"), ("delivery_day", "run = ?1"),
    ("creation_lag", "run = ?1"),
    ("publication", "run = ?1"), ("published_horizon", "run = ?1"), ("published", "run = ?1"),
    ("published_row", "version in (select id from published where run = ?1)"),
    ("act", "run = \(previous)"),
    ("closed_report", "act in (select id from act where run = \(previous))"),
  ]

  /// The tables that change with a run only: the newest run seals all of their rows.
  static let whole = ["break_episode", "decision", "published_month", "erased"]

  static let unsealed = [
    "archive": ["path", "modified_ms", "inode", "path_check"],
    "act": ["run", "what", "zone", "period", "reason", "who", "content"],
  ]

  private static let ofArchives = "archive in (select id from archive where run = ?1)"

  /// What people did before the run, and after the one before it.
  private static let previous =
    "(select coalesce(max(id), 0) from run where published is not null and id < ?1)"
}
