/// A point in time: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct Instant: Codable, Sendable, Hashable, Comparable {
  /// Milliseconds since the epoch.
  public var milliseconds: Int64

  /// The instant `milliseconds` after the epoch.
  @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The instant `seconds` after the epoch.
  public init(seconds: Int64) { milliseconds = seconds * 1000 }

  /// Orders by time.
  public static func < (left: Instant, right: Instant) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The UTC hour that contains it, numbered since 1970-01-01.
  public var hour: Int64 { milliseconds.flooredDividing(by: Interval.hours(1).milliseconds) }

  /// The start of a UTC hour.
  public init(hour: Int64) { milliseconds = hour * Interval.hours(1).milliseconds }

  /// The instant `duration` later.
  public static func + (instant: Instant, duration: Interval) -> Instant {
    Instant(milliseconds: instant.milliseconds + duration.milliseconds)
  }

  /// The instant `duration` earlier.
  public static func - (instant: Instant, duration: Interval) -> Instant {
    Instant(milliseconds: instant.milliseconds - duration.milliseconds)
  }

  /// The time from `earlier` to this instant.
  public func since(_ earlier: Instant) -> Interval {
    Interval(milliseconds: milliseconds - earlier.milliseconds)
  }

  /// Whether it is at most `distance` before or after `other`.
  public func isWithin(_ distance: Interval, of other: Instant) -> Bool {
    abs(since(other).milliseconds) <= distance.milliseconds
  }
}

/// A length of time in milliseconds.
public struct Interval: Codable, Sendable, Hashable, Comparable {
  /// Length in milliseconds.
  public var milliseconds: Int64

  /// A length of `milliseconds`.
  @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// A length of `seconds`.
  public static func seconds(_ seconds: Int64) -> Interval {
    Interval(milliseconds: seconds * 1000)
  }

  /// A length of `minutes`.
  public static func minutes(_ minutes: Int64) -> Interval { .seconds(minutes * 60) }

  /// A length of `hours`.
  public static func hours(_ hours: Int64) -> Interval { .seconds(hours * 3600) }

  /// A length of `days` of 24 hours.
  public static func days(_ days: Int64) -> Interval { .seconds(days * 86_400) }

  /// Orders by length.
  public static func < (left: Interval, right: Interval) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// How many times `length`, above 0, it is, rounded half up if it is not negative.
  public func rounded(dividingBy length: Interval) -> Int64 {
    (milliseconds + length.milliseconds / 2) / length.milliseconds
  }

  /// Whether it is a calendar month, allowing for the hours by which stores charge early or late.
  public var isMonth: Bool { self > .hours(27 * 24 + 12) && self < .hours(31 * 24 + 12) }

  /// The sum of both lengths.
  public static func + (left: Interval, right: Interval) -> Interval {
    Interval(milliseconds: left.milliseconds + right.milliseconds)
  }
}
