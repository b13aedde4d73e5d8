import Testing
import Domain

@testable import Pipeline

@Suite("Days and months of a time zone follow the system's tables")
struct CalendarTests {
  private func start(_ year: Int, _ month: Int, _ day: Int, in zone: String) throws -> String {
    let calendar = try #require(CivilCalendar(named: zone))
    let start = calendar.start(of: Day(year: year, month: month, day: day))
    let before = Instant(milliseconds: start.milliseconds - 1)
    #expect(calendar.day(of: start) == Day(year: year, month: month, day: day))
    #expect(calendar.day(of: before) < calendar.day(of: start))
    return start.text
  }

  @Test("Berlin is an hour ahead in winter and two in summer")
  func berlin() throws {
    #expect(try start(2026, 1, 1, in: "Europe/Berlin") == "2025-12-31T23:00:00Z")
    #expect(try start(2026, 7, 1, in: "Europe/Berlin") == "2026-06-30T22:00:00Z")
    // The clocks change in the night before these days end.
    #expect(try start(2026, 3, 29, in: "Europe/Berlin") == "2026-03-28T23:00:00Z")
    #expect(try start(2026, 3, 30, in: "Europe/Berlin") == "2026-03-29T22:00:00Z")
    #expect(try start(2026, 10, 25, in: "Europe/Berlin") == "2026-10-24T22:00:00Z")
    #expect(try start(2026, 10, 26, in: "Europe/Berlin") == "2026-10-25T23:00:00Z")
  }

  @Test("Kolkata is five and a half hours ahead all year")
  func kolkata() throws {
    #expect(try start(2026, 1, 1, in: "Asia/Kolkata") == "2025-12-31T18:30:00Z")
    #expect(try start(2026, 7, 1, in: "Asia/Kolkata") == "2026-06-30T18:30:00Z")
  }

  @Test("If midnight is skipped, the day begins at the clock change")
  func skippedMidnight() throws {
    #expect(try start(2018, 11, 4, in: "America/Sao_Paulo") == "2018-11-04T03:00:00Z")
  }

  @Test("A day that a zone skipped begins together with the next one")
  func skippedDay() throws {
    for (zone, change) in [
      ("Pacific/Apia", "2011-12-30T10:00:00Z"), ("Pacific/Fakaofo", "2011-12-30T11:00:00Z"),
    ] {
      let calendar = try #require(CivilCalendar(named: zone))
      #expect(calendar.start(of: Day(year: 2011, month: 12, day: 30)).text == change)
      #expect(try start(2011, 12, 31, in: zone) == change)
    }
  }

  @Test("A time repeated by a clock change over midnight belongs to its own day both times")
  func repeatedEvening() throws {
    #expect(try start(2009, 11, 1, in: "America/St_Johns") == "2009-11-01T02:30:00Z")
    let calendar = try #require(CivilCalendar(named: "America/St_Johns"))
    let again = try #require(calendar.instant("2009-10-31T23:39:00-03:30"))
    #expect(calendar.day(of: again).text == "2009-10-31")
  }

  @Test("Every day of ten years begins where the previous one ends")
  func gapless() throws {
    for zone in ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Pacific/Chatham"] {
      let calendar = try #require(CivilCalendar(named: zone))
      for number in Int32(18_262)..<21_915 {
        let day = Day(number: number)
        let next = calendar.start(of: Day(number: number + 1))
        #expect(calendar.day(of: calendar.start(of: day)) == day)
        #expect(calendar.day(of: Instant(milliseconds: next.milliseconds - 1)) == day)
      }
    }
  }

  @Test("A time zone without a slash is known", arguments: ["CET", "EST5EDT", "GB-Eire", "Zulu"])
  func known(name: String) {
    #expect(CivilCalendar(named: name) != nil)
  }

  @Test(
    "An unknown time zone is refused",
    arguments: ["", "Berlin", "Europe/Atlantis", "CET+1", "GMT+8"])
  func unknown(name: String) {
    #expect(CivilCalendar(named: name) == nil)
  }
}
