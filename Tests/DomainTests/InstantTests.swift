import Testing
import Domain

@Suite("Days, months and instants over ten thousand years")
struct InstantTests {
  @Test("Every day from 0001 to 9999 has its number, its date and its month")
  func everyDay() {
    var number = Day(year: 1, month: 1, day: 1).number
    #expect(number == -719_162)
    for year in 1...9999 {
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        .enumerated()
      {
        for day in [1, length] {
          let expected = number + Int32(day - 1)
          let made = Day(year: year, month: month + 1, day: day)
          let date = made.date
          guard made.number == expected, date.year == year, date.month == month + 1,
            date.day == day, made.month.number == Int32(year * 12 + month)
          else {
            Issue.record("\(year)-\(month + 1)-\(day) is \(made.number), which is \(date)")
            return
          }
        }
        number += Int32(length)
      }
    }
    #expect(number == Day(year: 10_000, month: 1, day: 1).number)
  }

  @Test(
    "Instants print as RFC 3339",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00Z"), (1_709_251_199_001, "2024-02-29T23:59:59.001Z"),
      (1_483_228_799_999, "2016-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func printing(milliseconds: Int64, text: String) {
    #expect(Instant(milliseconds: milliseconds).text == text)
  }
}
