internal import Domain

/// The hours in which deliveries of a feed arrived, and how late its messages are made, for one
/// archive.
struct FeedArrivals {
  let feed: Feed
  private var lags = LagSample()
  /// The first and the last arrival of each UTC hour but the current one.
  private var hours: [Int64: ClosedRange<Instant>] = [:]
  /// The hour of the last delivery: most come hour by hour.
  private var current: (hour: Int64, arrivals: ClosedRange<Instant>)?

  init(feed: Feed) { self.feed = feed }

  /// Memory held, about.
  var size: Int { hours.count * 64 }

  mutating func add(_ event: Event, at arrived: Instant) {
    lags.add(event)
    let hour = arrived.hour
    guard var arrivals = current?.arrivals, current?.hour == hour else {
      if let current { hours[current.hour] = current.arrivals }
      current = (hour, (hours[hour] ?? arrived...arrived).including(arrived))
      return
    }
    guard !arrivals.contains(arrived) else { return }
    arrivals = arrivals.including(arrived)
    current = (hour, arrivals)
  }

  /// Merges them into those of the ledger, as what `run` will publish.
  func write(to database: Connection, run: Int64) throws {
    let upsert = try database.statement(
      """
      insert into delivery_hour (provider, app, hour, run, first_ms, last_ms)
      values (?, ?, ?, ?, ?, ?)
      on conflict (provider, app, hour, run) do update set
        first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms)
      """)
    var hours = hours
    if let current { hours[current.hour] = current.arrivals }
    for (hour, arrivals) in hours.sorted(by: { $0.key < $1.key }) {
      try upsert.run(
        feed.provider, feed.app, hour, run, arrivals.lowerBound, arrivals.upperBound)
    }
    try lags.write(to: database, run: run, feed)
  }
}

extension ClosedRange<Instant> {
  func including(_ instant: Instant) -> Self {
    Swift.min(lowerBound, instant)...Swift.max(upperBound, instant)
  }
}
