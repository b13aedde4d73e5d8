import Domain

// Times in a scenario are seconds since 1970, in UTC: the resolution of the provider's clock.

let hour: Int64 = 3_600
let day: Int64 = 86_400

/// The same time of day so many months later, on the last day of a month that is too short.
func adding(months: Int, to second: Int64) -> Int64 {
  let start = civilDay(of: second)
  let date = start.date
  let target = Month(number: start.month.number + Int32(months))
  let length = target.next.firstDay.number - target.firstDay.number
  let dayOfMonth = min(Int32(date.day), length)
  let number = Int64(target.firstDay.number + dayOfMonth - 1)
  return number * day + second - Int64(start.number) * day
}

func civilDay(of second: Int64) -> Day {
  Day(number: Int32(truncatingIfNeeded: (second - (second % day + day) % day) / day))
}

func civilMonth(of second: Int64) -> Month { civilDay(of: second).month }

/// The first second of a month.
func start(of month: Month) -> Int64 { Int64(month.firstDay.number) * day }
