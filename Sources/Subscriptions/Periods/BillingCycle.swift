public import Domain

/// Periods of one length, counted from the date of the first.
///
/// Dates are those of UTC: what a subscriber paid for does not depend on the zone of a report.
///
/// A subscription of the 31st renews on the last day of shorter months and on the 31st after them:
/// by the start of each period alone its day would be lost.
struct BillingCycle {
  private let first: Instant
  private let length: PeriodLength
  private var count = 1
  /// How much later than by the date of the first the last period began.
  private var delay = Interval(milliseconds: 0)

  /// A first period of `length` that begins at `start`.
  init(from start: Instant, length: PeriodLength) {
    first = start
    self.length = length
  }

  /// The end of the last period.
  var end: Instant { length.end(from: first, times: count) + delay }

  /// The same with one more period, paid at `start`; nil unless that is at most `gap` before or
  /// after the end of the last, and the new one is of its length.
  func renewed(at start: Instant, length: PeriodLength, gap: Interval) -> BillingCycle? {
    let late = start.since(end)
    guard length == self.length, abs(late.milliseconds) <= gap.milliseconds else { return nil }
    var cycle = self
    cycle.count += 1
    cycle.delay = delay + late
    return cycle
  }
}

extension PeriodLength {
  /// The end of a period of this length from `start`, or of several in a row, in months of UTC
  /// where it has months.
  func end(from start: Instant, times: Int = 1) -> Instant { shifted(start, by: times) }

  /// The start of a period of this length that ends at `end`.
  public func start(before end: Instant) -> Instant { shifted(end, by: -1) }

  private func shifted(_ start: Instant, by times: Int) -> Instant {
    switch self {
    case .days(let count): return start + .days(Int64(times * count))
    case .months(let count):
      let day = CivilCalendar.utc.day(of: start)
      let date = day.date
      let target = Month(number: day.month.number + Int32(times * count))
      let lastDay = Int(target.next.firstDay.number - target.firstDay.number)
      let shifted = Day(
        number: target.firstDay.number + Int32(min(date.day, lastDay) - 1))
      return start + .days(Int64(shifted.number - day.number))
    }
  }
}
