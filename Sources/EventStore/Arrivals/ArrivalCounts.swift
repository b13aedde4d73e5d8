internal import Domain

/// Deliveries by day, their latency and attempts, and the hours of each feed, for one archive.
final class ArrivalCounts {
  private let calendar = CivilCalendar.utc
  /// Retry schedules by the raw value of the provider; if none is configured, also the one from
  /// older documentation.
  private let schedules: [(current: RetrySchedule, older: RetrySchedule?)]
  private var slots: [DeliveryKey: Int32] = [:]
  private var deliveries: [(key: DeliveryKey, counts: DeliveryCounts)] = []
  /// Number of buckets in all of `deliveries`.
  private var bucketsCount = 0
  private var attempts = AttemptCounts()
  /// One element for each of the few feeds of an archive.
  private var feeds: [Feed: FeedArrivals] = [:]

  init(schedules: [Provider: RetrySchedule]) {
    let last = Provider.allCases.map(\.rawValue).max() ?? 0
    self.schedules = (0...last).map { value in
      guard let provider = Provider(rawValue: value) else { return (.firstOnly, nil) }
      if let own = schedules[provider] { return (own, nil) }
      return (provider.interface.retries, provider.interface.olderRetries)
    }
  }

  /// Memory in use, approximately.
  var size: Int {
    deliveries.count * 264 + bucketsCount * 48 + attempts.count * 64
      + feeds.values.reduce(0) { $0 + $1.size }
  }

  /// Adds a delivered event, and returns the slot where `count` adds its result.
  func enter(_ event: Event) -> Int32 {
    let arrived = event.arrivedAt
    let key = DeliveryKey(
      day: calendar.day(of: arrived), provider: event.provider, kind: event.kind)
    let slot = slot(of: key)
    if let received = event.received { addReceipt(of: event, at: received, slot: slot) }
    // An undated observation may carry the end of a period, in the future; it proves no delivery.
    if event.observation?.isUndated != true {
      feeds[event.feed, default: FeedArrivals()].add(event, at: arrived)
    }
    return slot
  }

  /// Counts the result of an event for which `enter` returned `slot`.
  func count(_ result: UpsertResult, at slot: Int32) { deliveries[Int(slot)].counts.add(result) }

  private func slot(of key: DeliveryKey) -> Int32 {
    if let slot = slots[key] { return slot }
    let slot = Int32(deliveries.count)
    slots[key] = slot
    deliveries.append((key, DeliveryCounts()))
    return slot
  }

  /// Receive times that overflow the difference are not real; the difference wraps, harmlessly.
  private func addReceipt(of event: Event, at received: Instant, slot: Int32) {
    let latency = (received.milliseconds &- event.time.milliseconds) / 1000
    let delay = (received.milliseconds &- event.createdAt.milliseconds) / 1000
    let provider = Int(event.provider.rawValue)
    let attempt = schedules[provider].current.attempt(after: delay)
    let isNew = deliveries[Int(slot)].counts.receive(attempt, latency: latency)
    if isNew { bucketsCount += 1 }
    attempts.add(event, receivedAt: received)
    attempts.add(event, attempt, of: schedules[provider].current)
    guard let older = schedules[provider].older else { return }
    var key = deliveries[Int(slot)].key
    key.isOlderSchedule = true
    let olderAttempt = older.attempt(after: delay)
    deliveries[Int(self.slot(of: key))].counts.receive(olderAttempt)
    attempts.add(event, olderAttempt, of: older, isOlder: true)
  }

  /// Adds the sums to the tables as part of `run`, adds those of feeds to `arrivals`, and clears
  /// them.
  func write(
    to database: Connection, run: Int64, _ arrivals: inout [Feed: FeedArrivals]
  ) throws {
    let upsert = try database.statement(DeliveryCounts.upsert)
    let latencies = try database.statement(
      """
      insert into latency_cell (run, day, provider, kind, bucket, deliveries)
      values (?, ?, ?, ?, ?, ?)
      on conflict (run, day, provider, kind, bucket) do update set
        deliveries = deliveries + excluded.deliveries
      """)
    for (key, counts) in deliveries.sorted(by: { $0.key < $1.key }) {
      try counts.write(by: upsert, run, key)
      for (bucket, count) in counts.latencies.sorted(by: { $0.key < $1.key }) {
        try latencies.run(run, key.day, key.provider, key.kind, bucket, count)
      }
    }
    try attempts.write(to: database, run: run)
    for (feed, own) in feeds { arrivals[feed, default: FeedArrivals()].add(own) }
    slots.removeAll()
    deliveries.removeAll()
    bucketsCount = 0
    feeds.removeAll()
  }
}

/// The histogram of times between an event and its receipt (v1-account.sql).
public enum LatencyBucket {
  /// Returns the bucket of a whole number of seconds; negative numbers count as 0.
  public static func of(seconds: Int64) -> Int64 {
    guard seconds >= 128 else { return max(0, seconds) }
    let doubling = Int64(63 - seconds.leadingZeroBitCount)
    return 128 + (doubling - 7) * 64 + (seconds >> (doubling - 6)) - 64
  }

  /// Returns the least number of seconds in a bucket.
  public static func seconds(_ bucket: Int64) -> Int64 {
    guard bucket >= 128 else { return bucket }
    let (doubling, part) = (bucket - 128).quotientAndRemainder(dividingBy: 64)
    return (64 + part) << (doubling + 1)
  }
}

struct DeliveryKey: Hashable, Comparable {
  let day: Day
  let provider: Provider
  let kind: EventKind
  /// Whether the counts are only the attempts of the provider's older schedule.
  var isOlderSchedule = false

  static func < (left: DeliveryKey, right: DeliveryKey) -> Bool {
    (left.day, left.provider.rawValue, left.kind.rawValue, left.isOlderSchedule ? 1 : 0)
      < (right.day, right.provider.rawValue, right.kind.rawValue, right.isOlderSchedule ? 1 : 0)
  }
}

/// Counts of the deliveries of one day, provider and kind.
struct DeliveryCounts {
  private static let columns = [
    "delivered", "distinct_events", "duplicates_exact", "duplicates_semantic", "conflicts",
    "received", "attempt_1", "attempt_2", "attempt_3", "attempt_4", "attempt_5", "attempt_6",
  ]

  /// In the order of `columns`: four results follow the sum of them, and attempts `received`.
  private var sums = InlineArray<12, Int64>(repeating: 0)
  private var latencyMax: Int64?
  /// Number of deliveries by their bucket of `LatencyBucket`.
  private(set) var latencies: [Int64: Int64] = [:]

  mutating func add(_ result: UpsertResult) {
    sums[0] += 1
    sums[1 + Int(result.rawValue)] += 1
  }

  /// Adds a delivery with a known receive time, `latency` seconds after the event; returns whether
  /// it is the first of its bucket.
  mutating func receive(_ attempt: Int?, latency: Int64) -> Bool {
    sums[5] += 1
    latencyMax = max(latencyMax ?? 0, latency)
    receive(attempt)
    let known = latencies.count
    latencies[LatencyBucket.of(seconds: latency), default: 0] += 1
    return latencies.count > known
  }

  mutating func receive(_ attempt: Int?) {
    if let attempt, 1...6 ~= attempt { sums[5 + attempt] += 1 }
  }

  static let upsert = """
    insert into delivery_cell (
      run, day, provider, kind, schedule, latency_max_s, \(columns.joined(separator: ", ")))
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, day, provider, kind, schedule) do update set
      \(columns.map { "\($0) = \($0) + excluded.\($0)" }.joined(separator: ", ")),
      latency_max_s = max(
        coalesce(latency_max_s, excluded.latency_max_s),
        coalesce(excluded.latency_max_s, latency_max_s))
    """

  /// Runs `upsert` for the row of a day, provider, kind and schedule.
  func write(by upsert: Statement, _ run: Int64, _ key: DeliveryKey) throws {
    upsert.bindAll(
      run, key.day, key.provider, key.kind, Int64(key.isOlderSchedule ? 1 : 0), latencyMax)
    for index in sums.indices { upsert.bind(Int32(7 + index), sums[index]) }
    try upsert.run()
  }
}
