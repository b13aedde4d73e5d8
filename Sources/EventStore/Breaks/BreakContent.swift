internal import Domain

/// The columns of `break_episode` that describe the break, without its key and its dates.
enum BreakContent {
  static let columns = [
    "code", "status", "severity", "provider", "app", "environment", "store", "user",
    "subscription", "transaction_id", "product_id", "expected_ms", "settles_ms",
    "evidence_expires_ms", "missing_events", "estimated_usd", "amount_basis", "evidence", "action",
    "lineage",
  ]

  static let selected = columns.joined(separator: ", ") + ", break_id"

  /// Writes an episode: `?1` is the break's id, `?2` its number, `?3` the as-of, `?4` the run, and
  /// the columns follow.
  static let upsert = """
    insert into break_episode (
      break_id, episode, first_seen_ms, last_seen_ms, first_run, last_run,
      \(columns.joined(separator: ", ")))
    values (?1, ?2, ?3, ?3, ?4, ?4, \(columns.indices.map { "?\($0 + 5)" }.joined(separator: ", ")))
    on conflict (break_id, episode) do update set
      last_seen_ms = max(last_seen_ms, ?3), last_run = ?4,
      \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
    """

  /// Binds the columns of `item` from parameter `first` on, in the order of `columns`.
  static func bind(_ item: Break, to row: Statement, from first: Int32) {
    let values: [any Bindable] = [
      item.code, item.status, item.severity, item.provider, item.app, item.environment, item.store,
      Int64(userKeyText: item.user), item.subscription, item.transaction, item.product,
      item.expectedAt, item.settlesAt, item.evidenceExpiresAt, item.missingEvents,
      item.estimatedUSD?.micros, item.basis, item.evidence, item.action, item.lineage,
    ]
    for (offset, value) in values.enumerated() {
      value.bind(to: row, at: first + Int32(offset))
    }
  }

  static func read(_ row: Statement) throws(SubledgerError) -> Break {
    var item = Break(id: row.text(20), code: try row.value(0), provider: try row.value(3))
    item.status = try row.value(1)
    item.severity = try row.value(2)
    item.app = row.text(4)
    item.environment = try row.value(5)
    item.store = try row.value(6)
    item.user = row.int64(7).userKeyText
    item.subscription = row.text(8)
    item.transaction = row.text(9)
    item.product = row.text(10)
    item.expectedAt = row.optionalInstant(11)
    item.settlesAt = row.optionalInstant(12)
    item.evidenceExpiresAt = row.optionalInstant(13)
    item.missingEvents = row.int64(14)
    item.estimatedUSD = row.optionalInt64(15).map(Amount.init(micros:))
    item.basis = try row.value(16)
    item.evidence = row.text(17)
    item.action = row.text(18)
    item.lineage = row.int64(19)
    return item
  }
}
