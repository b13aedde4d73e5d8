public import Domain
import Formats

/// The time in a snapshot file's name: `2026-11-20` or `20261120`, alone or followed by a time as
/// in `2026-11-20T02-15`, `20261120_021500` or `20261120021500`.
///
/// A date is the start of that day in `calendar`; a time is in UTC.
///
/// Only the last path component counts, and only years since app stores exist: other digits are
/// some number. After anything but `T`, a time needs seconds, so that the `-0001` of a numbered
/// part is not read as one minute past midnight.
public func captureTime(
  fileName: String, in calendar: CivilCalendar
) -> Instant? {
  // By scalars: a combining mark after a digit would merge with it into another Character.
  let clock = /(\d{4})(-?)(\d\d)\2(\d\d)(?:([Tt_ -]?)(\d\d)[:._-]?(\d\d)[:._-]?+(\d\d)?)?(?!\d)/
    .asciiOnlyDigits().matchingSemantics(.unicodeScalar)
  let scalars = fileName.unicodeScalars
  let start = scalars.lastIndex(of: "/").map(scalars.index(after:)) ?? scalars.startIndex
  var last: Unicode.Scalar = "/"
  for place in scalars[start...].indices {
    defer { last = scalars[place] }
    guard !("0"..."9").contains(last), let found = fileName[place...].prefixMatch(of: clock)
    else { continue }
    let (_, year, dash, month, day, mark, hour, minute, second) = found.output
    guard ("2008"..."2099").contains(year) else { continue }
    let date = "\(year)-\(month)-\(day)"
    if let mark, let hour, let minute, !mark.isEmpty || dash.isEmpty,
      second != nil || mark == "T" || mark == "t",
      let time = InstantText.rfc3339("\(date)T\(hour):\(minute):\(second ?? "00")Z")
    {
      return time
    }
    if mark != "", let midnight = InstantText.rfc3339(date) {
      return calendar.start(of: CivilCalendar.utc.day(of: midnight))
    }
  }
  return nil
}
