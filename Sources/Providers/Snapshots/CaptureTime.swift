public import Domain
import Formats

/// The moment in a snapshot file's name: `2026-11-20` or `20261120`, alone or followed by a time as
/// in `2026-11-20T02-15`, `20261120_021500` or `20261120021500`.
///
/// A date is the start of that day in `calendar`; a time is in UTC.
///
/// Only the last part of a path counts, and years since there are app stores: other digits are a
/// number. After anything but `T` a time needs its seconds, so that
/// the `-0001` of a numbered part is not taken for one minute past midnight.
public func captureTime(
  fileName: String, in calendar: CivilCalendar
) -> Instant? {
  let name = Array(fileName.utf8)
  let start = name.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
  var here = start
  while here < name.count {
    if isDigit(name[here]), here == start || !isDigit(name[here - 1]),
      let found = NameClock(name: name, here: here).instant(in: calendar)
    {
      return found
    }
    here += 1
  }
  return nil
}

/// Reads a date and time out of the middle of a name.
private struct NameClock {
  let name: [UInt8]
  var here: Int

  func instant(in calendar: CivilCalendar) -> Instant? {
    var clock = self
    guard let year = clock.digits(4), ("2008"..."2099").contains(year) else { return nil }
    let isDashed = clock.skip("-")
    guard let month = clock.digits(2), !isDashed || clock.skip("-"), let day = clock.digits(2)
    else { return nil }
    let time = clock.time(afterDigits: !isDashed)
    if time == nil, clock.isAtDigit { return nil }
    let date = "\(year)-\(month)-\(day)"
    if let time { return rfc3339(date + time) }
    guard rfc3339(date) != nil, let year = Int(year), let month = Int(month), let day = Int(day)
    else { return nil }
    return calendar.start(of: Day(year: year, month: month, day: day))
  }

  /// The time behind the date, as RFC 3339 writes it.
  private func time(afterDigits: Bool) -> String? {
    var clock = self
    let isMarked = clock.skip("T") || clock.skip("t")
    guard isMarked || clock.skip("_") || clock.skip("-") || clock.skip(" ") || afterDigits,
      let hour = clock.digits(2)
    else { return nil }
    clock.skipMark()
    guard let minute = clock.digits(2) else { return nil }
    clock.skipMark()
    let second = clock.digits(2)
    guard isMarked || second != nil, !clock.isAtDigit else { return nil }
    let time = "T\(hour):\(minute):\(second ?? "00")Z"
    return rfc3339("2000-01-01" + time) == nil ? nil : time
  }

  private var isAtDigit: Bool { here < name.count && isDigit(name[here]) }

  private mutating func digits(_ count: Int) -> String? {
    guard name.count - here >= count, name[here..<here + count].allSatisfy(isDigit) else {
      return nil
    }
    defer { here += count }
    return String(decoding: name[here..<here + count], as: UTF8.self)
  }

  @discardableResult
  private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
    guard here < name.count, name[here] == UInt8(ascii: mark) else { return false }
    here += 1
    return true
  }

  private mutating func skipMark() { _ = skip(":") || skip("-") || skip(".") || skip("_") }

  private func rfc3339(_ text: String) -> Instant? {
    Array(text.utf8).withUnsafeBytes { InstantText.rfc3339($0) }
  }
}
