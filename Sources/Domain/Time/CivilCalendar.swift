/// A calendar day as the number of days since 1970-01-01, in the report's time zone.
public struct Day: Codable, Sendable, Hashable, Comparable {
  /// Days since 1970-01-01.
  public var number: Int32

  /// The day `number` days after 1970-01-01.
  public init(number: Int32) { self.number = number }

  /// The day of a proleptic Gregorian date.
  ///
  /// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", days_from_civil.
  public init(year: Int, month: Int, day: Int) {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    number = Int32(era * 146_097 + dayOfEra - 719_468)
  }

  /// Year, month (1–12) and day of the month.
  public var date: (year: Int, month: Int, day: Int) {
    let z = Int(number) + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// The month that contains this day.
  public var month: Month {
    let (year, month, _) = date
    return Month(number: Int32(year * 12 + month - 1))
  }

  /// Orders by time.
  public static func < (left: Day, right: Day) -> Bool { left.number < right.number }

  /// `2026-11-20`.
  public var text: String {
    let (year, month, day) = date
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }
}

/// A calendar month as year × 12 + (month − 1).
public struct Month: Codable, Sendable, Hashable, Comparable {
  /// Year × 12 + (month − 1).
  public var number: Int32

  /// The month with this number.
  public init(number: Int32) { self.number = number }

  /// The month in text such as `2026-10`; nil for any other text.
  public init?(text: String) {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 2, (1970...9999).contains(parts[0]), (1...12).contains(parts[1]) else {
      return nil
    }
    number = Int32(parts[0] * 12 + parts[1] - 1)
    guard self.text == text else { return nil }
  }

  /// The month after this one.
  public var next: Month { Month(number: number + 1) }

  /// The first day of the month.
  public var firstDay: Day {
    Day(year: Int(number) / 12, month: Int(number) % 12 + 1, day: 1)
  }

  /// Orders by time.
  public static func < (left: Month, right: Month) -> Bool { left.number < right.number }

  /// `2026-11`.
  public var text: String { "\(padded(Int(number) / 12, 4))-\(padded(Int(number) % 12 + 1, 2))" }

  /// Reads a month in the form `2026-10`.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    guard let month = Month(text: try value.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: value, debugDescription: "it is not a month")
    }
    self = month
  }

  /// Writes the month as `2026-10`.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(text)
  }
}

extension Instant {
  /// `2026-11-20T08:15:00Z`, with milliseconds only when they are not zero.
  public var text: String {
    let days = milliseconds.flooredDividing(by: Interval.days(1).milliseconds)
    let rest = Int(milliseconds - days * Interval.days(1).milliseconds)
    let day = Day(number: Int32(truncatingIfNeeded: days))
    let hours = padded(rest / 3_600_000, 2)
    let minutes = padded(rest / 60_000 % 60, 2)
    let seconds = padded(rest / 1000 % 60, 2)
    let fraction = rest % 1000 == 0 ? "" : ".\(padded(rest % 1000, 3))"
    return "\(day.text)T\(hours):\(minutes):\(seconds)\(fraction)Z"
  }
}

private func padded(_ value: Int, _ width: Int) -> String {
  (value < 0 ? "-" : "") + String(abs(value)).zeroPadded(to: width)
}

/// Days and months of one time zone, as a table of its offsets.
///
/// The table is built where the time zone is read, so that all code below is integer arithmetic
/// with the same results on every machine.
public struct CivilCalendar: Sendable {
  /// The start of a range of time, and its offset in seconds east of UTC.
  public typealias Offset = (from: Instant, seconds: Int64)

  /// The zone's IANA name.
  public let identifier: String
  private let offsets: [Offset]

  /// A zone with `offsets` in ascending order; the first one also applies before its start.
  public init(identifier: String, offsets: [Offset]) {
    precondition(!offsets.isEmpty, "a time zone has at least one offset")
    self.identifier = identifier
    self.offsets = offsets
  }

  /// Coordinated universal time.
  public static let utc = CivilCalendar(
    identifier: "UTC", offsets: [(from: Instant(milliseconds: .min), seconds: 0)])

  /// The day that `instant` falls on.
  public func day(of instant: Instant) -> Day {
    let local = instant.milliseconds + offset(at: instant) * 1000
    let days = local.flooredDividing(by: Interval.days(1).milliseconds)
    return Day(number: Int32(truncatingIfNeeded: days))
  }

  /// The month that `instant` falls in.
  public func month(of instant: Instant) -> Month { day(of: instant).month }

  /// The first instant of `day`; if the zone skipped that day, the first instant of the next one.
  public func start(of day: Day) -> Instant {
    let length = Interval.days(1).milliseconds
    let midnight = Int64(day.number) * length
    // The local midnight is UTC midnight minus the offset before or after a nearby change.
    let midnights = [midnight - length, midnight, midnight + length].lazy.map {
      Instant(milliseconds: midnight - offset(at: Instant(milliseconds: $0)) * 1000)
    }
    if let first = midnights.filter({ self.day(of: $0) == day }).min() { return first }
    // A clock change skipped midnight or the whole day: the day starts at the change.
    let change = offsets.dropFirst().first { self.day(of: $0.from) >= day }
    let seconds = offset(at: Instant(milliseconds: midnight))
    return change?.from ?? Instant(milliseconds: midnight - seconds * 1000)
  }

  /// The first instant of `month`.
  public func start(of month: Month) -> Instant { start(of: month.firstDay) }

  private func offset(at instant: Instant) -> Int64 {
    let next = (1..<offsets.count).partitioningIndex { offsets[$0].from > instant }
    return offsets[next - 1].seconds
  }
}

extension Int64 {
  func flooredDividing(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
