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

  init(from start: Instant, length: PeriodLength) {
    first = start
    self.length = length
  }

  var end: Instant { length.end(from: first, times: count) + delay }

  /// The cycle with one more period, paid at `start`; nil if `start` is more than `gap` away from
  /// the last end, or if the length differs.
  func renewed(at start: Instant, length: PeriodLength, gap: Interval) -> BillingCycle? {
    let late = start.since(end)
    guard length == self.length, abs(late.milliseconds) <= gap.milliseconds else { return nil }
    var cycle = self
    cycle.count += 1
    cycle.delay = max(Interval(milliseconds: 0), delay + late)
    return cycle
  }
}
