public import Domain

/// A sample of a feed's events, with the time from each to the creation of its message.
///
/// The sample consists of the events with the least fingerprints. Of several messages of one event
/// the slowest counts. So neither order nor split nor repetition of deliveries changes it.
struct LagSample {
  /// Enough to show one event in a thousand.
  static let size = 1_000
  /// Seconds by the fingerprint of an event.
  private var lags: [Int64: Int64] = [:]
  /// The greatest fingerprint that can still enter the sample.
  private var bound = Int64.max

  /// Adds a message of `event`, if the message has a time of its own.
  mutating func add(_ event: Event) {
    guard event.identity <= bound, let created = event.created else { return }
    add(max(0, (created.milliseconds &- event.time.milliseconds) / 1000), of: event.identity)
  }

  /// Adds the messages of `other`.
  mutating func add(_ other: LagSample) {
    for (identity, lag) in other.lags { add(lag, of: identity) }
  }

  private mutating func add(_ lag: Int64, of identity: Int64) {
    guard identity <= bound else { return }
    lags[identity] = max(lags[identity] ?? 0, lag)
    guard lags.count >= 2 * Self.size else { return }
    bound = lags.keys.sorted()[Self.size - 1]
    lags = lags.filter { $0.key <= bound }
  }

  /// Merges the sample into that of the feed, as a result that `run` will publish.
  ///
  /// Each event of the sample has one row per run that received a slower message of it.
  func write(to database: Connection, run: Int64, _ feed: Feed) throws {
    guard !lags.isEmpty else { return }
    let known = try Self.known(of: feed, in: database)
    let sample = Set(known.keys).union(lags.keys).sorted().prefix(Self.size)
    for identity in sample {
      guard let lag = lags[identity], lag > known[identity] ?? -1 else { continue }
      try database.run(
        """
        insert into creation_lag (provider, app, identity, run, lag_s) values (?, ?, ?, ?, ?)
        on conflict (provider, app, identity, run) do update set lag_s = excluded.lag_s
        """, feed.provider, feed.app, identity, run, lag)
    }
    guard sample.count == Self.size, let last = sample.last else { return }
    try database.run(
      "delete from creation_lag where provider = ? and app = ? and run = ? and identity > ?",
      feed.provider, feed.app, run, last)
  }

  /// Returns the feed's stored sample: the slowest message of each event, by fingerprint.
  private static func known(of feed: Feed, in database: Connection) throws -> [Int64: Int64] {
    var known: [Int64: Int64] = [:]
    try database.forEachRow(
      """
      select identity, max(lag_s) from creation_lag where provider = ? and app = ?
      group by identity order by identity limit \(size)
      """, feed.provider, feed.app
    ) { known[$0.int64(0)] = $0.int64(1) }
    return known
  }
}

extension Ledger {
  /// Returns the time from an event to its message by feed, except the slowest of a thousand.
  public func creationLags() throws(SubledgerError) -> [Feed: Interval] {
    let lags = try all(
      "read how late messages are made",
      """
      select provider, app, max(lag_s) from creation_lag group by provider, app, identity
      order by provider, app, identity
      """
    ) { (try $0.feed(0), $0.int64(2)) }
    return Dictionary(grouping: lags, by: \.0).mapValues { sample in
      .seconds(sample.prefix(LagSample.size).map(\.1).sorted().dropLast().last ?? 0)
    }
  }
}
