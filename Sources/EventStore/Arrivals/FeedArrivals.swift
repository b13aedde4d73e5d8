internal import Domain

/// The hours in which deliveries of a feed arrived, and the creation lag of its messages.
struct FeedArrivals {
  private var lags = LagSample()
  /// The first and the last arrival of each UTC hour.
  private var hours: [Int64: ClosedRange<Instant>] = [:]

  /// Memory in use, approximately.
  var size: Int { hours.count * 64 }

  mutating func add(_ event: Event, at arrived: Instant) {
    lags.add(event)
    add(arrived...arrived, in: arrived.hour)
  }

  /// Adds the arrivals of other archives.
  mutating func add(_ other: FeedArrivals) {
    lags.add(other.lags)
    for (hour, arrivals) in other.hours { add(arrivals, in: hour) }
  }

  private mutating func add(_ arrivals: ClosedRange<Instant>, in hour: Int64) {
    hours[hour] = hours[hour]?.including(arrivals) ?? arrivals
  }

  /// Merges the arrivals into those of the ledger, as a result that `run` will publish.
  func write(to database: Connection, run: Int64, _ feed: Feed) throws {
    let days = Dictionary(grouping: hours.values) { CivilCalendar.utc.day(of: $0.lowerBound) }
    for (day, hours) in days.sorted(by: { $0.key < $1.key }) {
      let known = try database.first(
        "select hours from delivery_day where provider = ? and app = ? and day = ? and run = ?",
        feed.provider, feed.app, day, run
      ) { try [ArrivalHour]($0.blob(0), of: day) }
      try database.run(
        """
        insert or replace into delivery_day (provider, app, day, run, hours) values (?, ?, ?, ?, ?)
        """, feed.provider, feed.app, day, run, ((known ?? []) + hours).mergedByHour.bytes)
    }
    try lags.write(to: database, run: run, feed)
  }
}

/// The first to the last arrival in a UTC hour in which deliveries of a feed arrived.
typealias ArrivalHour = ClosedRange<Instant>

extension [ArrivalHour] {
  /// The same hours in order, one element each.
  var mergedByHour: Self {
    var merged: Self = []
    for next in sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, last.lowerBound.hour == next.lowerBound.hour {
        merged[merged.count - 1] = last.including(next)
      } else {
        merged.append(next)
      }
    }
    return merged
  }

  /// Whether arrivals continue more than a day after `asOf`: within two years, and at some point at
  /// more than a tenth of the earlier rate, if a hundred hours show that rate.
  func goOn(after asOf: Instant) -> Bool {
    let start = asOf + .days(1)
    let before = prefix { $0.lowerBound <= asOf }
    let later = dropFirst(before.count).drop { $0.lowerBound <= start }
      .prefix { $0.lowerBound <= asOf + .days(730) }
    guard before.count >= 100, let first = before.first else { return !later.isEmpty }
    let past = asOf.since(first.lowerBound).milliseconds + 1
    return later.enumerated().contains { number, hour in
      let since = hour.lowerBound.since(start).milliseconds
      let likely = Int64(before.count) * since / past
      return likely < 10 || Int64(number + 1) * 10 > likely
    }
  }

  /// A day's hours as stored in `delivery_day`: for each, its number in the day, the milliseconds
  /// from its start to the first arrival, and from there to the last.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    for arrivals in self {
      let (first, last) = (arrivals.lowerBound, arrivals.upperBound)
      let day = CivilCalendar.utc.day(of: first)
      writer.put(byte: UInt8(truncatingIfNeeded: first.hour - Int64(day.number) * 24))
      writer.put(unsigned: UInt64(first.since(Instant(hour: first.hour)).milliseconds))
      writer.put(unsigned: UInt64(last.since(first).milliseconds))
    }
    return writer.bytes
  }

  /// Reads the hours of a day from such bytes.
  init(_ bytes: UnsafeRawBufferPointer, of day: Day) throws(SubledgerError) {
    self.init()
    let length = UInt64(Interval.hours(1).milliseconds)
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      let hour = Int64(reader.byte())
      let (start, rest) = (reader.unsigned(), reader.unsigned())
      guard reader.isSound, hour < 24, start < length, rest < length - start else {
        throw .damaged("the hours of a day of deliveries")
      }
      let first =
        Instant(hour: Int64(day.number) * 24 + hour) + Interval(milliseconds: Int64(start))
      append(first...(first + Interval(milliseconds: Int64(rest))))
    }
  }
}

extension ClosedRange<Instant> {
  func including(_ other: Self) -> Self {
    Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
  }
}
