import Domain

// Times in a scenario are seconds since 1970, in UTC: the resolution of the provider's clock.

let hour: Int64 = 3_600
let day: Int64 = 86_400

/// The same time of day so many months later, on the last day of a month that is too short.
func adding(months: Int, to second: Int64) -> Int64 {
  PeriodLength.months(months).end(from: Instant(seconds: second)).milliseconds / 1000
}

func civilDay(of second: Int64) -> Day { CivilCalendar.utc.day(of: Instant(seconds: second)) }

func civilMonth(of second: Int64) -> Month { civilDay(of: second).month }

func start(of month: Month) -> Int64 { Int64(month.firstDay.number) * day }

/// The simulated time, in seconds since 1970.
struct TimeSpan: Sendable, Equatable {
  /// Events before this one were never archived.
  var start: Int64
  /// As-of: nothing at or after it has happened.
  var end: Int64
  /// From here on monthly subscriptions cost more.
  var priceRise: Int64
  /// From here on one app sends sales instead of proceeds.
  var proceedSwitch: Int64

  init(_ scenario: Scenario) {
    start = scenario.start.milliseconds / 1000
    end = adding(months: scenario.months, to: start)
    priceRise = adding(months: (scenario.months + 1) / 2, to: start)
    proceedSwitch = adding(months: scenario.months * 2 / 3, to: start)
  }
}
