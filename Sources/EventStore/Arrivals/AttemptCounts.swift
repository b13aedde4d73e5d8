internal import Domain

/// When each provider's deliveries were received, and when attempts must have failed, for one
/// archive.
///
/// A delivery at the third attempt proves that two failed, and when. Failures are kept as a set, of
/// receipts the first and the last of each slot: order, split and repetition of archives change
/// nothing.
struct AttemptCounts {
  private var receipts: [ReceiptKey: ClosedRange<Instant>] = [:]
  private var failures: Set<FailedAttempt> = []

  /// Number of rows to write.
  var count: Int { receipts.count + failures.count }

  /// Adds a delivery that was received at `received`.
  mutating func add(_ event: Event, receivedAt received: Instant) {
    let key = ReceiptKey(
      provider: event.provider, slot: received.milliseconds / Ledger.receiptSlot)
    receipts[key] = receipts[key]?.including(received...received) ?? received...received
  }

  /// Adds the failures before an attempt of `schedule`, if the attempt is known.
  mutating func add(
    _ event: Event, _ attempt: Int?, of schedule: RetrySchedule, isOlder: Bool = false
  ) {
    guard let attempt, attempt > 1 else { return }
    for (index, delay) in schedule.delays.prefix(attempt - 1).enumerated() {
      failures.insert(
        FailedAttempt(
          provider: event.provider, schedule: isOlder ? 1 : 0,
          time: event.createdAt.milliseconds &+ delay &* 1000, identity: event.identity,
          attempt: Int64(index + 1)))
    }
  }

  /// Adds all counts to the tables as part of `run`, and clears the counts.
  mutating func write(to database: Connection, run: Int64) throws {
    let upsert = try database.statement(
      """
      insert into receipt_cell (run, provider, slot, from_ms, to_ms) values (?, ?, ?, ?, ?)
      on conflict (run, provider, slot) do update set
        from_ms = min(from_ms, excluded.from_ms), to_ms = max(to_ms, excluded.to_ms)
      """)
    for (key, span) in receipts {
      try upsert.run(run, key.provider, key.slot, span.lowerBound, span.upperBound)
    }
    let insert = try database.statement(
      """
      insert into failed_attempt (run, provider, schedule, at_ms, identity, attempt)
      values (?, ?, ?, ?, ?, ?)
      on conflict (run, provider, schedule, at_ms, identity, attempt) do nothing
      """)
    for failure in failures {
      try insert.run(
        run, failure.provider, failure.schedule, failure.time, failure.identity, failure.attempt)
    }
    receipts.removeAll()
    failures.removeAll()
  }
}

extension Ledger {
  /// Length of a `slot` of `receipt_cell`, in milliseconds: five minutes.
  public static var receiptSlot: Int64 { 300_000 }
}

private struct ReceiptKey: Hashable {
  let provider: Provider
  let slot: Int64
}

private struct FailedAttempt: Hashable {
  let provider: Provider
  let schedule: Int64
  let time: Int64
  let identity: Int64
  let attempt: Int64
}
