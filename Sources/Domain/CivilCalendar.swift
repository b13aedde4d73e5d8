/// Days and months of one time zone, as a table of its offsets.
///
/// The table is made where the time zone is read (`TimeZoneTable.swift` of `Nightly`), so that
/// everything below it is arithmetic on integers and the same on every machine.
public struct CivilCalendar: Sendable, Equatable {
  /// One stretch of time with a constant distance to UTC.
  public struct Offset: Sendable, Equatable {
    /// When it begins to hold.
    public var from: Instant
    /// Seconds east of UTC.
    public var seconds: Int64

    /// An offset of `seconds` from `from` on.
    public init(from: Instant, seconds: Int64) {
      self.from = from
      self.seconds = seconds
    }
  }

  /// The zone's IANA name.
  public let identifier: String
  private let offsets: [Offset]

  /// A zone with `offsets` in ascending order; the first one also holds before its start.
  public init(identifier: String, offsets: [Offset]) {
    precondition(!offsets.isEmpty, "a time zone has at least one offset")
    self.identifier = identifier
    self.offsets = offsets
  }

  /// Coordinated universal time.
  public static let utc = CivilCalendar(
    identifier: "UTC", offsets: [Offset(from: Instant(milliseconds: .min), seconds: 0)])

  /// The day that `instant` falls on.
  public func day(of instant: Instant) -> Day {
    let local = instant.milliseconds + offset(at: instant) * 1000
    let days = local.flooredDividing(by: Interval.day.milliseconds)
    return Day(number: Int32(truncatingIfNeeded: days))
  }

  /// The month that `instant` falls in.
  public func month(of instant: Instant) -> Month { day(of: instant).month }

  /// The first instant of `day`; of a day that a zone left out, that of the next one.
  public func start(of day: Day) -> Instant {
    let length = Interval.day.milliseconds
    let midnight = Int64(day.number) * length
    // A local midnight is one of: midnight minus the offset before or after a change nearby.
    var best: Instant?
    for probe in [midnight - length, midnight, midnight + length] {
      let candidate = Instant(
        milliseconds: midnight - offset(at: Instant(milliseconds: probe)) * 1000)
      if self.day(of: candidate) == day, best.map({ candidate < $0 }) ?? true { best = candidate }
    }
    if let best { return best }
    // Midnight itself was skipped by a clock change, or the whole day: it starts at the change.
    let change = offsets.dropFirst().first { self.day(of: $0.from) >= day }
    let seconds = offset(at: Instant(milliseconds: midnight))
    return change?.from ?? Instant(milliseconds: midnight - seconds * 1000)
  }

  /// The first instant of `month`.
  public func start(of month: Month) -> Instant { start(of: month.firstDay) }

  private func offset(at instant: Instant) -> Int64 {
    guard offsets.count > 1 else { return offsets[0].seconds }
    var low = 0
    var high = offsets.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if offsets[middle].from <= instant { low = middle } else { high = middle }
    }
    return offsets[low].seconds
  }
}

extension Int64 {
  func flooredDividing(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
