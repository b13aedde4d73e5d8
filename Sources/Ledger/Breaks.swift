internal import GRDB
public import Vocabulary

/// What became of breaks in a run.
public struct BreakTally: Sendable, Equatable {
  /// Not seen in any run before.
  public var new: Int64 = 0
  /// Resolved before, and back.
  public var reopened: Int64 = 0
  /// Gone since the last run.
  public var resolved: Int64 = 0

  /// Nothing yet.
  public init() {}
}

extension Ledger {
  /// Makes `current` the breaks that exist at `asOf`, whole or not at all.
  ///
  /// A break that is stored but not in `current` is resolved by `run`, the number that `beginRun`
  /// gave. One that comes back begins another episode. A run that looks back resolves and reopens
  /// nothing of later as-ofs: what was seen there had not begun, and what was explained there was
  /// not explained yet.
  public func storeBreaks(
    _ current: [Break], asOf: Instant, run: Int64
  ) throws(LedgerError) -> BreakTally {
    try change("write the breaks") { database in
      var tally = BreakTally()
      let upsert = try RawStatement(cachedIn: database, Self.upsertBreak)
      let life = try BreakLife(database, asOf: asOf, run: run)
      for item in current.sorted(by: { $0.id < $1.id }) {
        bind(item, run: run, to: upsert)
        try upsert.run()
        try life.see(item.id, &tally)
      }
      tally.resolved = try life.resolveUnseen()
      return tally
    }
  }

  private func bind(_ item: Break, run: Int64, to row: RawStatement) {
    row.bind(1, item.id)
    row.bind(2, item.code.rawValue)
    row.bind(3, item.status.rawValue)
    row.bind(4, item.severity.rawValue)
    row.bind(5, Int64(item.provider.rawValue))
    row.bind(6, item.app)
    row.bind(7, Int64(item.environment.rawValue))
    row.bind(8, Int64(item.store.rawValue))
    row.bind(9, item.user)
    row.bind(10, item.subscription)
    row.bind(11, item.transaction)
    row.bind(12, item.product)
    row.bind(13, item.expectedAt?.milliseconds)
    row.bind(14, item.settlesAt?.milliseconds)
    row.bind(15, item.evidenceExpiresAt?.milliseconds)
    row.bind(16, item.missingEvents)
    row.bind(17, item.estimatedUSD?.micros)
    row.bind(18, Int64(item.basis.rawValue))
    row.bind(19, item.evidence)
    row.bind(20, item.action)
    row.bind(21, run)
  }

  private static let upsertBreak = """
    insert into break (
      id, code, status, severity, provider, app, environment, store, user_id, subscription_id,
      transaction_id, product_id, expected_ms, settles_ms, evidence_expires_ms, missing_events,
      estimated_usd, amount_basis, evidence, action, last_run)
    values (
      ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
      ?21)
    on conflict (id) do update set
      code = excluded.code, status = excluded.status, severity = excluded.severity,
      provider = excluded.provider, app = excluded.app, environment = excluded.environment,
      store = excluded.store, user_id = excluded.user_id,
      subscription_id = excluded.subscription_id, transaction_id = excluded.transaction_id,
      product_id = excluded.product_id, expected_ms = excluded.expected_ms,
      settles_ms = excluded.settles_ms, evidence_expires_ms = excluded.evidence_expires_ms,
      missing_events = excluded.missing_events, estimated_usd = excluded.estimated_usd,
      amount_basis = excluded.amount_basis, evidence = excluded.evidence,
      action = excluded.action, last_run = excluded.last_run
    """
}
