import Foundation
import Domain

@testable import Pipeline

/// Days and months of time zones with summer time, half hours and a skipped day: each instant is on
/// the day in Foundation's table, and a day's start is its first instant.
func feedCalendar(_ bytes: UnsafeRawBufferPointer) {
  guard let (choice, rest) = bytes.steered, rest.count >= 5 else { return }
  let calendar = calendars[choice % calendars.count]
  // Five bytes of milliseconds and a step of 4 make 139 years.
  let part = rest.prefix(5).reduce(Int64(0)) { $0 << 8 | Int64($1) }
  let instant = Instant(milliseconds: min(part * 4, 4_102_444_799_999))
  let day = calendar.day(of: instant)
  let date = Date(timeIntervalSince1970: TimeInterval(instant.milliseconds / 1000))
  let offset = TimeZone(identifier: calendar.identifier)?.secondsFromGMT(for: date) ?? 0
  let local = instant.milliseconds / 1000 + Int64(offset)
  claim(
    Int64(day.number) == (local - (local % 86_400 + 86_400) % 86_400) / 86_400,
    "\(instant.text) is \(day.text) in \(calendar.identifier)")
  let start = calendar.start(of: day)
  claim(start <= instant, "\(day.text) starts before \(instant.text)")
  claim(calendar.day(of: start) == day, "\(day.text) starts on \(day.text)")
  let before = calendar.day(of: Instant(milliseconds: start.milliseconds - 1))
  claim(before < day, "\(day.text) starts behind \(before.text)")
  let month = calendar.month(of: instant)
  let first = calendar.start(of: month)
  claim(first <= instant, "\(month.text) starts before \(instant.text)")
  // Clocks set back over midnight repeat the end of a day: in St. John's, up to two hours.
  let end = calendar.start(of: month.next).milliseconds + 7_200_000
  claim(instant.milliseconds < end, "\(month.text) ends behind \(instant.text)")
  claim(calendar.month(of: first) == month, "\(month.text) starts in \(month.text)")
  claim(calendar.instant(day.text) == start, "\(day.text) is read as its start")
}

private let calendars: [CivilCalendar] = [
  "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
  "Pacific/Apia", "America/St_Johns", "Asia/Kathmandu", "Africa/Casablanca", "America/Sao_Paulo",
  "Asia/Beirut", "Pacific/Chatham", "America/Santiago", "Africa/Cairo", "Asia/Gaza",
].compactMap { CivilCalendar(named: $0) }
