/// The tables that runs seal, and which of their rows each run seals.
///
/// All columns are sealed except those that only locate a file, and those whose digest is in
/// another column.
enum SealedTables {
  /// Tables whose rows of a run never change, with the condition that finds them.
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

  /// Tables that change only with a run: the newest run seals all of their rows.
  static let whole = ["break_episode", "decision", "published_month", "erased"]

  static let unsealed = [
    "archive": ["path", "modified_ms", "inode"],
    "act": ["run", "what", "zone", "period", "reason", "who", "content"],
  ]

  private static let ofArchives = "archive in (select id from archive where run = ?1)"

  /// Audit entries after the previous run and before this one.
  private static let previous =
    "(select coalesce(max(id), 0) from run where published is not null and id < ?1)"
}
