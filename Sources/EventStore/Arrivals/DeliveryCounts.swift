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

  mutating func add(_ result: UpsertResult) {
    switch result {
    case .new: new += 1
    case .exact: exact += 1
    case .semantic: semantic += 1
    case .conflict: conflicts += 1
    }
  }

  /// Adds a delivery whose receive time is known, `latency` seconds after the event.
  mutating func receive(_ attempt: Int?, latency: Int64) {
    received += 1
    latencyMax = max(latencyMax ?? 0, latency)
    if let attempt, attempt <= attempts.count { attempts[attempt - 1] += 1 }
  }

  private static let sums = [
    "delivered", "distinct_events", "duplicates_exact", "duplicates_semantic", "conflicts",
    "received", "attempt_1", "attempt_2", "attempt_3", "attempt_4", "attempt_5", "attempt_6",
  ]

  static let upsert = """
    insert into delivery_cell (
      run, day, provider, kind, \(sums.joined(separator: ", ")), latency_max_s)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, day, provider, kind) do update set
      \(sums.map { "\($0) = \($0) + excluded.\($0)" }.joined(separator: ", ")),
      latency_max_s = max(
        coalesce(latency_max_s, excluded.latency_max_s),
        coalesce(excluded.latency_max_s, latency_max_s))
    """

  /// Runs `upsert` for the row of a day, provider and kind.
  func write(
    by upsert: Statement, _ run: Int64, _ day: Day, _ provider: Provider, _ kind: EventKind
  ) throws {
    try upsert.run(
      run, day, provider, kind, new + exact + semantic + conflicts, new, exact, semantic,
      conflicts, received, attempts[0], attempts[1], attempts[2], attempts[3], attempts[4],
      attempts[5], latencyMax)
  }
}
