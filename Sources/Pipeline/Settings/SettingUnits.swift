public import Domain
import Formats
import Foundation

/// A business time in the form that people write.
enum GivenTime: Sendable {
  case day(Day)
  case instant(Instant)

  /// Parses RFC 3339 text, or a date.
  ///
  /// A time must have an offset: without one, it could be understood as two different instants.
  init?(_ text: String) {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    if text.count == 10, parts.count == 3 {
      let day = Day(year: parts[0], month: parts[1], day: parts[2])
      guard day.text == text else { return nil }
      self = .day(day)
      return
    }
    guard let instant = InstantText.rfc3339(text, needsOffset: true) else { return nil }
    self = .instant(instant)
  }

  func instant(in calendar: CivilCalendar) -> Instant {
    switch self {
    case .day(let day): calendar.start(of: day)
    case .instant(let instant): instant
    }
  }
}

extension CivilCalendar {
  /// Returns the instant of RFC 3339 text, or the start of a date.
  public func instant(_ text: String) -> Instant? { GivenTime(text)?.instant(in: self) }
}

extension Interval {
  /// Parses `41h10m`: whole numbers, each with one of the units d, h, m, s.
  init?(units text: String) {
    let units: [Substring: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
    let most: Int64 = 1_000_000 * 86_400
    var total: Int64 = 0
    var rest = text[...]
    repeat {
      guard let (part, digits, letter) = rest.prefixMatch(of: /([0-9]+)([dhms])/)?.output,
        let unit = units[letter], let count = Int64(digits), count <= most / unit
      else { return nil }
      total += count * unit
      // The number of parts is not limited, so the sum is checked after each.
      guard total <= most else { return nil }
      rest = rest[part.endIndex...]
    } while !rest.isEmpty
    self = .seconds(total)
  }
}

extension Amount {
  /// Parses a plain decimal of at most 10¹² with at most six decimals, such as `0.005`.
  init?(typed text: String) {
    // A sign or an exponent is a typing error.
    guard text.utf8.allSatisfy({ 48...57 ~= $0 || $0 == UInt8(ascii: ".") }) else { return nil }
    var text = text
    let parsed = text.withUTF8 { DecimalText.amount(UnsafeRawBufferPointer($0)) }
    guard case .amount(let amount, wasRounded: false) = parsed else { return nil }
    self = amount
  }
}

extension CivilCalendar {
  /// Creates the calendar of an IANA time zone, from the system's tables from 1970 to 2100.
  ///
  /// Nil when the zone is unknown.
  init?(named identifier: String) {
    if identifier == "UTC" {
      self = .utc
      return
    }
    // A name such as GMT+8 is an offset, not a place.
    guard identifier.contains("/") || !identifier.contains(/[+-]\d/),
      let zone = TimeZone(identifier: identifier)
    else { return nil }
    let end = Date(timeIntervalSince1970: 4_102_444_800)
    var date = Date(timeIntervalSince1970: 0)
    var offsets: [Offset] = [
      (Instant(milliseconds: .min), Int64(zone.secondsFromGMT(for: date)))
    ]
    while let change = zone.nextDaylightSavingTimeTransition(after: date), change < end {
      let from = Instant(milliseconds: Int64((change.timeIntervalSince1970 * 1000).rounded()))
      offsets.append((from, Int64(zone.secondsFromGMT(for: change))))
      date = change
    }
    self.init(identifier: identifier, offsets: offsets)
  }
}
