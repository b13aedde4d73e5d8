import Domain

/// Periods of one length, counted from the date of the first.
///
/// Dates are in UTC: a paid period does not depend on the zone of a report.
///
/// A subscription of the 31st renews on the last day of shorter months and on the 31st after them:
/// by the start of each period alone its day would be lost.
struct BillingCycle {
  private let first: Instant
  private let length: PeriodLength
  private var count = 1
  /// How much later than by the date of the first the last period began.
  private var delay = Interval(milliseconds: 0)

  init(from start: Instant, length: PeriodLength) {
    first = start
    self.length = length
  }

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
