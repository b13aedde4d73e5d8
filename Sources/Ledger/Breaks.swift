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
  /// A break keeps when it was first seen; one that is stored but not in `current` becomes
  /// resolved by `run`, the number that `beginRun` gave.
  public func storeBreaks(
    _ current: [Break], asOf: Instant, run: Int64
  ) throws(LedgerError) -> BreakTally {
    try change("write the breaks") { database in
      var tally = BreakTally()
      let status = try RawStatement(
        cachedIn: database, "select status from break where id = ?")
      let upsert = try RawStatement(cachedIn: database, Self.upsertBreak)
      for item in current.sorted(by: { $0.id < $1.id }) {
        status.bind(1, item.id)
        let before = try status.first { $0.text(0) }
        if before == nil { tally.new += 1 }
        if before == BreakStatus.resolved.rawValue { tally.reopened += 1 }
        bind(item, asOf: asOf, run: run, to: upsert)
        try upsert.run()
      }
      let resolve = try RawStatement(
        cachedIn: database,
        """
        update break set status = 'resolved', resolved_run = ?1
        where status <> 'resolved' and last_run <> ?1
        """)
      resolve.bind(1, run)
      try resolve.run()
      tally.resolved = Int64(database.changesCount)
      return tally
    }
  }

  private func bind(_ item: Break, asOf: Instant, run: Int64, to row: RawStatement) {
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
    row.bind(14, asOf.milliseconds)
    row.bind(15, item.settlesAt?.milliseconds)
    row.bind(16, item.evidenceExpiresAt?.milliseconds)
    row.bind(17, item.missingEvents)
    row.bind(18, item.estimatedUSD?.micros)
    row.bind(19, Int64(item.basis.rawValue))
    row.bind(20, item.evidence)
    row.bind(21, item.action)
    row.bind(22, run)
  }

  private static let upsertBreak = """
    insert into break (
      id, code, status, severity, provider, app, environment, store, user_id, subscription_id,
      transaction_id, product_id, expected_ms, first_seen_ms, last_seen_ms, settles_ms,
      evidence_expires_ms, missing_events, estimated_usd, amount_basis, evidence, action,
      first_run, last_run, resolved_run)
    values (
      ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, ?15, ?16, ?17, ?18, ?19,
      ?20, ?21, ?22, ?22, null)
    on conflict (id) do update set
      code = excluded.code, status = excluded.status, severity = excluded.severity,
      provider = excluded.provider, app = excluded.app, environment = excluded.environment,
      store = excluded.store, user_id = excluded.user_id,
      subscription_id = excluded.subscription_id, transaction_id = excluded.transaction_id,
      product_id = excluded.product_id, expected_ms = excluded.expected_ms,
      last_seen_ms = excluded.last_seen_ms, settles_ms = excluded.settles_ms,
      evidence_expires_ms = excluded.evidence_expires_ms,
      missing_events = excluded.missing_events, estimated_usd = excluded.estimated_usd,
      amount_basis = excluded.amount_basis, evidence = excluded.evidence,
      action = excluded.action, last_run = excluded.last_run, resolved_run = null
    """
}
