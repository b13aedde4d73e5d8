internal import Domain

/// The deliveries of one day, provider and kind.
struct DeliveryCounts {
  private var new: Int64 = 0
  private var exact: Int64 = 0
  private var semantic: Int64 = 0
  private var conflicts: Int64 = 0
  private var received: Int64 = 0
  private var attempts = InlineArray<6, Int64>(repeating: 0)
  private var latencyMax: Int64?

  mutating func add(_ fate: UpsertResult) {
    switch fate {
    case .new: new += 1
    case .exact: exact += 1
    case .semantic: semantic += 1
    case .conflict: conflicts += 1
    }
  }

  /// Adds that the envelope told when the delivery came, `latency` seconds after the event.
  mutating func receive(_ attempt: Int?, latency: Int64) {
    received += 1
    latencyMax = max(latencyMax ?? 0, latency)
    if let attempt, attempt <= attempts.count { attempts[attempt - 1] += 1 }
  }

  static let upsert = """
    insert into delivery_cell (
      run, day, provider, kind, delivered, distinct_events, duplicates_exact,
      duplicates_semantic, conflicts, received, attempt_1, attempt_2, attempt_3, attempt_4,
      attempt_5, attempt_6, latency_max_s)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, day, provider, kind) do update set
      delivered = delivered + excluded.delivered,
      distinct_events = distinct_events + excluded.distinct_events,
      duplicates_exact = duplicates_exact + excluded.duplicates_exact,
      duplicates_semantic = duplicates_semantic + excluded.duplicates_semantic,
      conflicts = conflicts + excluded.conflicts,
      received = received + excluded.received,
      attempt_1 = attempt_1 + excluded.attempt_1,
      attempt_2 = attempt_2 + excluded.attempt_2,
      attempt_3 = attempt_3 + excluded.attempt_3,
      attempt_4 = attempt_4 + excluded.attempt_4,
      attempt_5 = attempt_5 + excluded.attempt_5,
      attempt_6 = attempt_6 + excluded.attempt_6,
      latency_max_s = max(
        coalesce(latency_max_s, excluded.latency_max_s),
        coalesce(excluded.latency_max_s, latency_max_s))
    """

  /// Binds the columns from `delivered` on, the first of them as number `first`.
  func bind(to statement: Statement, from first: Int32) {
    let delivered = new + exact + semantic + conflicts
    var column = first
    for value in [delivered, new, exact, semantic, conflicts, received] {
      statement.bind(column, value)
      column += 1
    }
    for index in attempts.indices {
      statement.bind(column, attempts[index])
      column += 1
    }
    statement.bind(column, latencyMax)
  }
}
