public import Domain

/// Points in time read from text; all are in the years 1 to 9999.
public enum InstantText {
  private static let millisecondsMin: Int64 = -62_135_596_800_000
  private static let millisecondsMax: Int64 = 253_402_300_799_999

  /// The instant of a JSON number, or a string of the same grammar, that counts from 1970 in UTC:
  /// seconds in the years 1 to 9999; larger numbers are milliseconds, from 1978 on, and with
  /// `isMilliseconds` all are.
  ///
  /// Fractions of a millisecond are rounded down. Nil if it is not a number.
  public static func epoch(
    _ bytes: UnsafeRawBufferPointer, isMilliseconds: Bool = false
  ) -> Instant? {
    if let plain = Int64(plainNumber: bytes) {
      let isLarge = isMilliseconds || plain > millisecondsMax / 1000
      return isLarge ? instant(milliseconds: plain) : Instant(seconds: plain)
    }
    guard let parts = DecimalParts(bytes), let whole = parts.scaled(places: 0) else { return nil }
    let limit = parts.isNegative ? millisecondsMin : millisecondsMax
    let isLarge = isMilliseconds || whole.magnitude > limit.magnitude / 1000
    guard let (magnitude, rest) = isLarge ? whole : parts.scaled(places: 3),
      let milliseconds = Int64(exactly: magnitude)
    else { return nil }
    guard parts.isNegative else { return instant(milliseconds: milliseconds) }
    return instant(milliseconds: -milliseconds - (rest == .none ? 0 : 1))
  }

  /// The instant of a date and time of RFC 3339.
  ///
  /// Also accepts a space between date and time, lower case, no offset (then UTC), an offset of
  /// hours alone or without colon, the word UTC as databases print it, and a date alone, which
  /// means midnight in UTC. Fractions of a millisecond are cut off. A leap second, 23:59:60 in UTC,
  /// is the last millisecond before it. Nil for everything else and, with `needsOffset`, for text
  /// without an offset.
  public static func rfc3339(
    _ bytes: UnsafeRawBufferPointer, needsOffset: Bool = false
  ) -> Instant? {
    var text = DigitReader(bytes: bytes)
    guard let year = text.number(4), text.skip("-"), let month = text.number(2), text.skip("-"),
      let day = text.number(2), year >= 1, (1...12).contains(month),
      (1...31).contains(day)
    else { return nil }
    let date = Day(year: year, month: month, day: day)
    // A day after the end of its month would be one of the next month.
    guard day <= 28 || date.date.day == day else { return nil }
    let midnight = Int64(date.number) * Interval.days(1).milliseconds
    if text.isAtEnd { return needsOffset ? nil : Instant(milliseconds: midnight) }
    guard text.skip("T") || text.skip("t") || text.skip(" "),
      let hour = text.number(2), text.skip(":"), let minute = text.number(2), text.skip(":"),
      let second = text.number(2), hour <= 23, minute <= 59, second <= 60,
      let fraction = text.milliseconds(), !needsOffset || !text.isAtEnd,
      let offset = text.offsetMinutes(), text.isAtEnd
    else { return nil }
    let minutes = hour * 60 + minute - offset
    let clock: Int
    if second == 60 {
      guard (minutes + 1440) % 1440 == 1439 else { return nil }
      clock = minutes * 60_000 + 59_999
    } else {
      clock = minutes * 60_000 + second * 1000 + fraction
    }
    return instant(milliseconds: midnight + Int64(clock))
  }

  /// The same for a String.
  public static func rfc3339(_ text: String, needsOffset: Bool = false) -> Instant? {
    var text = text
    return text.withUTF8 { rfc3339(UnsafeRawBufferPointer($0), needsOffset: needsOffset) }
  }

  private static func instant(milliseconds: Int64) -> Instant? {
    guard milliseconds >= millisecondsMin, milliseconds <= millisecondsMax else { return nil }
    return Instant(milliseconds: milliseconds)
  }
}

private struct DigitReader {
  let bytes: UnsafeRawBufferPointer
  var here = 0

  var isAtEnd: Bool { here == bytes.count }

  mutating func number(_ count: Int) -> Int? {
    guard here + count <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[here..<here + count] {
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value * 10 + Int(digit)
    }
    here += count
    return value
  }

  mutating func skip(_ mark: Unicode.Scalar) -> Bool {
    guard here < bytes.count, bytes[here] == UInt8(ascii: mark) else { return false }
    here += 1
    return true
  }

  /// The first three decimals after a point, 0 without a point; nil for a point without decimals.
  mutating func milliseconds() -> Int? {
    guard skip(".") else { return 0 }
    let first = here
    var (value, unit) = (0, 100)
    while let digit = number(1) {
      value += digit * unit
      unit /= 10
    }
    return here > first ? value : nil
  }

  mutating func offsetMinutes() -> Int? {
    if isAtEnd || skip("Z") || skip("z") { return 0 }
    if skip(" ") { return skip("U") && skip("T") && skip("C") ? 0 : nil }
    let isEast = skip("+")
    guard isEast || skip("-"), let hours = number(2), hours <= 23,
      let minutes = isAtEnd ? 0 : minutesBehindHours(), minutes <= 59
    else { return nil }
    return (hours * 60 + minutes) * (isEast ? 1 : -1)
  }

  private mutating func minutesBehindHours() -> Int? {
    _ = skip(":")
    return number(2)
  }
}
