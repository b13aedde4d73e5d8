public import Domain
import Formats
import Foundation
import Yams

/// Units and names in values of settings.
extension SettingValue {
  /// The longest duration: a hundred years, so that no sum of durations and instants overflows.
  private static let longest = Interval.days(36_525)

  /// `24h`, `41h10m`, `60d`, `90s`, or a number of seconds.
  func duration() throws(SubledgerError) -> Interval {
    let text = node.scalar?.string ?? ""
    let seconds = Int64(text).flatMap { 0...1 << 40 ~= $0 ? Interval.seconds($0) : nil }
    guard let duration = seconds ?? Interval(units: text), duration <= Self.longest else {
      throw isNot("a duration such as 24h, 41h10m or 60d, at most 36525d")
    }
    return duration
  }

  /// `[1m, 6m, 4h]`: the time from the first attempt to each retry; `[]` for none.
  func schedule() throws(SubledgerError) -> RetrySchedule {
    var seconds: [Int64] = []
    for item in items() { seconds.append(try item.duration().milliseconds / 1000) }
    guard let schedule = RetrySchedule(retriesAfter: seconds) else {
      throw refused("the times from the first attempt to each retry must rise")
    }
    return schedule
  }

  func period() throws(SubledgerError) -> PeriodLength {
    guard let length = PeriodLength(iso: try text()) else {
      throw isNot("an ISO 8601 period such as P1M, P1Y or P7D")
    }
    return length
  }

  func provider() throws(SubledgerError) -> Provider {
    guard let provider = Provider(name: key) else {
      throw unknown(among: Provider.allCases.map(\.name))
    }
    return provider
  }

  /// Providers, each once.
  func authority() throws(SubledgerError) -> [Provider] {
    var providers: [Provider] = []
    for name in try list() {
      guard let provider = Provider(name: name), !providers.contains(provider) else {
        throw isNot("a list of " + Provider.allCases.map(\.name).joined(separator: ", "))
      }
      providers.append(provider)
    }
    return providers
  }

  func eventKind() throws(SubledgerError) -> EventKind {
    guard let kind = EventKind(name: try text()) else {
      throw isNot("one of " + EventKind.allCases.map(\.name).joined(separator: ", "))
    }
    return kind
  }

  /// A plain amount such as `50` or `0.99`.
  func amount() throws(SubledgerError) -> Amount {
    guard let amount = (node.scalar?.string).flatMap(Amount.init(typed:)) else {
      throw isNot("an amount such as 50 or 0.99, at most 10¹², with at most six decimals")
    }
    return amount
  }

  /// A share such as `0.01` or `1%`, in millionths; above a whole only as `500%`, for a bare 5
  /// is mostly a percentage whose sign is missing.
  func share() throws(SubledgerError) -> Amount {
    let written = node.scalar?.string ?? ""
    let isPercent = written.hasSuffix("%")
    let parts: Int64 = isPercent ? 100 : 1
    // Nothing is rounded: a share of 0 would mean something else than a small one.
    guard let amount = Amount(typed: isPercent ? String(written.dropLast()) : written),
      amount.micros % parts == 0, isPercent || amount.micros <= 1_000_000
    else {
      throw isNot("a share such as 0.01 or 1%, in whole millionths; above 1 write 500%, not 5")
    }
    return Amount(micros: amount.micros / parts)
  }

  /// A date, or an RFC 3339 time with its offset.
  func time() throws(SubledgerError) -> GivenTime {
    guard let time = GivenTime(try text()) else {
      throw isNot("a date such as 2026-11-20, or a time with offset such as 2026-11-20T06:00:00Z")
    }
    return time
  }

  /// The address of a hook, or behind `ping+` of what is asked for with GET; no message shows it,
  /// for whoever has it can use it.
  func webAddress() throws(SubledgerError) -> String {
    let text = node.scalar?.string ?? ""
    guard
      text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("ping+http://")
        || text.hasPrefix("ping+https://")
    else { throw refused("the value does not begin with https://, http:// or ping+https://") }
    return text
  }

  func timeZone() throws(SubledgerError) -> CivilCalendar {
    let name = try text()
    guard let calendar = CivilCalendar(named: name) else {
      let meant = suggestion(for: name, among: TimeZone.knownTimeZoneIdentifiers)
      throw refused(
        "unknown time zone \"\(name)\"\(meant.isEmpty ? ", use one such as Europe/Berlin" : meant)")
    }
    return calendar
  }
}

/// A business time as people write it.
enum GivenTime: Sendable {
  case day(Day)
  case instant(Instant)

  /// Reads RFC 3339 text, or a date.
  ///
  /// A time must have its offset: without one, its writer and a calendar could mean two moments.
  init?(_ text: String) {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    if text.count == 10, parts.count == 3 {
      let day = Day(year: parts[0], month: parts[1], day: parts[2])
      guard day.text == text else { return nil }
      self = .day(day)
      return
    }
    var text = text
    let instant = text.withUTF8 { bytes in
      InstantText.rfc3339(UnsafeRawBufferPointer(bytes), needsOffset: true)
    }
    guard let instant else { return nil }
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
  /// The instant of RFC 3339 text, or the start of a date.
  public func instant(_ text: String) -> Instant? { GivenTime(text)?.instant(in: self) }
}

extension Interval {
  /// Reads `41h10m`: whole numbers, each with one of the units d, h, m, s.
  init?(units text: String) {
    var total: Int64 = 0
    var digits = ""
    for character in text {
      if character.isNumber {
        digits.append(character)
        continue
      }
      let seconds: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
      let most: Int64 = 1_000_000 * 86_400
      guard let unit = seconds[character], let count = Int64(digits), count <= most / unit else {
        return nil
      }
      total += count * unit
      // A text of any length has any number of parts.
      guard total <= most else { return nil }
      digits = ""
    }
    guard digits.isEmpty, !text.isEmpty else { return nil }
    self = .seconds(total)
  }
}

extension Amount {
  /// Reads a plain decimal of at most 10¹² with at most six decimals, such as `0.005`.
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
  /// The days of an IANA time zone, as the system's tables know it from 1970 to 2100.
  ///
  /// Nil when the zone is unknown.
  init?(named identifier: String) {
    if identifier == "UTC" {
      self = .utc
      return
    }
    // The list of known names leaves out links such as Asia/Kolkata; a name without a slash that is
    // not in it is an offset, not a place.
    guard TimeZone.knownTimeZoneIdentifiers.contains(identifier) || identifier.contains("/"),
      let zone = TimeZone(identifier: identifier)
    else { return nil }
    let end = Date(timeIntervalSince1970: 4_102_444_800)
    var date = Date(timeIntervalSince1970: 0)
    var offsets = [
      Offset(
        from: Instant(milliseconds: .min), seconds: Int64(zone.secondsFromGMT(for: date)))
    ]
    while let change = zone.nextDaylightSavingTimeTransition(after: date), change < end {
      offsets.append(
        Offset(
          from: Instant(milliseconds: Int64((change.timeIntervalSince1970 * 1000).rounded())),
          seconds: Int64(zone.secondsFromGMT(for: change))))
      date = change
    }
    self.init(identifier: identifier, offsets: offsets)
  }
}
