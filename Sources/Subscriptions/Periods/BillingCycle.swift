import Domain

/// Consecutive periods of one length, counted from the date of the first.
///
/// Dates are in UTC: a paid period does not depend on a report's time zone.
///
/// A subscription that began on the 31st renews on the last day of shorter months and on the 31st
/// of the months after them; counting from the start of each period would lose that day.
struct BillingCycle {
  private let first: Instant
  private let length: PeriodLength
  private var count = 1
  /// How much later the last period was paid than the date of the first implies; a store that
  /// charges earlier does not shorten the period.
  private var delay = Interval(milliseconds: 0)

  /// The cycle of a period of `length`, paid at `start`: one more of `previous`, unless the length
  /// differs or `start` is more than `gap` away from the last end.
  init(
    after previous: BillingCycle?, paidAt start: Instant, length: PeriodLength, gap: Interval
  ) {
    guard let previous, previous.length == length, start.isWithin(gap, of: previous.end) else {
      (first, self.length) = (start, length)
      return
    }
    self = previous
    delay = max(Interval(milliseconds: 0), start.since(length.end(from: first, times: count)))
    count += 1
  }

  /// The delay moves the first date, so that it cannot move the end out of a shorter month.
  var end: Instant { length.end(from: first + delay, times: count) }
}
