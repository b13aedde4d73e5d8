internal import Domain

/// What a run tells of a break: the columns of `break_episode` behind its key, up to its life.
enum BreakContent {
  static let columns = [
    "code", "status", "severity", "provider", "app", "environment", "store", "user_id",
    "subscription_id", "transaction_id", "product_id", "expected_ms", "settles_ms",
    "evidence_expires_ms", "missing_events", "estimated_usd", "amount_basis", "evidence", "action",
    "lineage",
  ]

  /// What `read` reads.
  static let selected = columns.joined(separator: ", ") + ", break_id"

  /// Binds what `item` says from parameter `first` on, in the order of `columns`.
  static func bind(_ item: Break, to row: Statement, from first: Int32) {
    row.bind(first, item.code.rawValue)
    row.bind(first + 1, item.status.rawValue)
    row.bind(first + 2, item.severity.rawValue)
    row.bind(first + 3, Int64(item.provider.rawValue))
    row.bind(first + 4, item.app)
    row.bind(first + 5, Int64(item.environment.rawValue))
    row.bind(first + 6, Int64(item.store.rawValue))
    row.bind(first + 7, item.user)
    row.bind(first + 8, item.subscription)
    row.bind(first + 9, item.transaction)
    row.bind(first + 10, item.product)
    row.bind(first + 11, item.expectedAt?.milliseconds)
    row.bind(first + 12, item.settlesAt?.milliseconds)
    row.bind(first + 13, item.evidenceExpiresAt?.milliseconds)
    row.bind(first + 14, item.missingEvents)
    row.bind(first + 15, item.estimatedUSD?.micros)
    row.bind(first + 16, Int64(item.basis.rawValue))
    row.bind(first + 17, item.evidence)
    row.bind(first + 18, item.action)
    row.bind(first + 19, item.lineage)
  }

  /// The break of a row of what is `selected`.
  static func read(_ row: Statement) throws(LedgerError) -> Break {
    var item = Break(id: row.text(20), code: try row.breakCode(0), provider: try row.provider(3))
    item.status = try row.breakStatus(1)
    item.severity = try row.severity(2)
    item.app = row.text(4)
    item.environment = try row.environment(5)
    item.store = try row.store(6)
    item.user = row.text(7)
    item.subscription = row.text(8)
    item.transaction = row.text(9)
    item.product = row.text(10)
    item.expectedAt = row.optionalInstant(11)
    item.settlesAt = row.optionalInstant(12)
    item.evidenceExpiresAt = row.optionalInstant(13)
    item.missingEvents = row.int64(14)
    item.estimatedUSD = row.optionalInt64(15).map(Amount.init(micros:))
    item.basis = try row.basis(16)
    item.evidence = row.text(17)
    item.action = row.text(18)
    item.lineage = row.int64(19)
    return item
  }
}
