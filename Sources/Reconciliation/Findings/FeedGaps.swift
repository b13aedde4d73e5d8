public import Domain
internal import Glibc

/// A day or consecutive hours in which a feed delivered far less than surrounding days make likely.
public struct FeedGap: Sendable, Equatable {
  /// Its UTC hours, numbered since 1970-01-01.
  public var hours: Range<Int64>
  /// The number of events created in it that arrived, each counted once.
  public var delivered: Int64
  /// The number of events that the surrounding days make likely, rounded down.
  public var expected: Int64
  /// The number of events from the first to the last compared day.
  public var compared: Int64
  /// The first and the last compared day.
  public var days: ClosedRange<Day>

  /// Whether no other gap began earlier on the same UTC day.
  public var isFirstOfDay = true

  /// The UTC day in which it begins.
  public var firstDay: Day { Day(number: Int32(clamping: hours.lowerBound / 24)) }

  /// The UTC day; nil if the gap is a run of hours.
  public var day: Day? { hours.lowerBound % 24 == 0 && hours.count == 24 ? firstDay : nil }
}

/// The gaps of one feed: its complete days from the second on, then runs of hours on other days.
///
/// A day is compared with the 28 days on each side, of which at least 13 must exist; adjacent days
/// that are just as empty are left out. The expected number is the lowest of five means: of all
/// these days, of the seven days before, of the seven days after, of the same weekday, and from the
/// 29th on of that day in the three months on each side. So weekly rhythm, growth, decline and the
/// end of a month raise nothing: subscriptions that began on a 31st renew on a 31st in seven months
/// of twelve. The number of deliveries must be at most half of the expected number, and its
/// probability below 1 in `feedGapOdds` by a Poisson distribution, or by a wider negative binomial
/// one if the days vary more.
///
/// A run of hours with at most a tenth of the feed's mean in each is compared in the same way with
/// the same hours of the surrounding days, so that the daily rhythm raises nothing. It must be 24
/// times less likely, because it can begin in any hour.
///
/// Source: C. P. Farrington et al., "A Statistical Algorithm for the Early Detection of Outbreaks
/// of Infectious Disease", 1996: counts against their own past, with overdispersion.
///
/// - Parameters:
///   - deliveries: number of events per UTC hour, in any order; hours without events may be
///     missing.
///   - end: the hour after the last complete hour of the feed.
public func feedGaps(
  _ deliveries: [(hour: Int64, events: Int64)], before end: Int64
) -> [FeedGap] {
  guard let first = deliveries.lazy.map(\.hour).min(), first < end else { return [] }
  let hours = HourCounts(deliveries, from: first / 24, before: end)
  let days = hours.dayGaps
  var runs = hours.lowRuns(outside: Set(days.map(\.firstDay))).compactMap(hours.gap(in:))
  for (index, previous) in zip(runs.indices.dropFirst(), runs) {
    runs[index].isFirstOfDay = runs[index].firstDay != previous.firstDay
  }
  return days + runs
}

/// A gap must be less likely than 1 in this number.
public let feedGapOdds = 1_000_000

/// A feed's deliveries by hour, from the start of its first day.
private struct HourCounts {
  private let first: Int64
  /// Deliveries before each hour; the last element is the total.
  private var sums: [Int64]

  init(_ deliveries: [(hour: Int64, events: Int64)], from first: Int64, before end: Int64) {
    self.first = first
    sums = Array(repeating: 0, count: Int(end - first * 24) + 1)
    for (hour, events) in deliveries where hour < end { sums[Int(hour - first * 24) + 1] += events }
    for hour in sums.indices.dropFirst() { sums[hour] += sums[hour - 1] }
  }

  private var count: Int { sums.count - 1 }

  private func sum(_ start: Int, _ length: Int) -> Int64 { sums[start + length] - sums[start] }

  var dayGaps: [FeedGap] {
    let counts = (0..<count / 24).map { sum($0 * 24, 24) }
    // The first day is incomplete: it begins with the first delivery.
    return counts.indices.dropFirst().compactMap { day in
      gap(
        DayComparison(counts, day, ofMonths: sameOfMonths(day)), odds: feedGapOdds,
        in: day * 24..<day * 24 + 24, since: 0)
    }
  }

  /// The days with the same number, if above 28, in the three months on each side.
  private func sameOfMonths(_ index: Int) -> [Int] {
    let day = day(index)
    guard day.date.day > 28 else { return [] }
    return [Int32(-3), -2, -1, 1, 2, 3].compactMap { months in
      let month = Month(number: day.month.number + months)
      let same = Day(number: month.firstDay.number + Int32(day.date.day) - 1)
      let other = index + Int(same.number - day.number)
      return same.month == month && (0..<count / 24).contains(other) ? other : nil
    }
  }

  /// The longest runs of hours on other days that each have at most a tenth of the mean of 28 days
  /// on each side.
  func lowRuns(outside days: Set<Day>) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for hour in 0..<count where !days.contains(day(hour / 24)) {
      let around = max(0, hour - 672)..<min(count, hour + 673)
      guard 10 * sum(hour, 1) * Int64(around.count) <= sum(around.lowerBound, around.count)
      else { continue }
      let start = runs.last?.upperBound == hour ? runs.removeLast().lowerBound : hour
      runs.append(start..<hour + 1)
    }
    return runs
  }

  /// The run as a gap, if the same hours of the surrounding days show that it is one.
  func gap(in run: Range<Int>) -> FeedGap? {
    let odds = 24 * feedGapOdds
    let (index, hour) = run.lowerBound.quotientAndRemainder(dividingBy: 24)
    let since = max(0, index - 62)
    let last = min(index + 62, (count - hour - run.count) / 24)
    guard since < index, index <= last else { return nil }
    // Few runs have that many in the same hours of any nearby day.
    let next = max(since, index - 7)...min(last, index + 7)
    let least = log(Double(odds))
    guard next.contains(where: { Double(sum($0 * 24 + hour, run.count)) > least }) else {
      return nil
    }
    let counts = (since...last).map { sum($0 * 24 + hour, run.count) }
    return gap(DayComparison(counts, index - since), odds: odds, in: run, since: since)
  }

  /// The compared hours as a gap; nil if they are not a gap.
  private func gap(
    _ comparison: DayComparison?, odds: Int, in hours: Range<Int>, since day: Int
  ) -> FeedGap? {
    guard let comparison, let expected = comparison.expected(odds: odds) else { return nil }
    let others = comparison.others
    let (low, high) = (others[0] + day, others[others.count - 1] + day)
    let start = first * 24
    return FeedGap(
      hours: start + Int64(hours.lowerBound)..<start + Int64(hours.upperBound),
      delivered: comparison.delivered, expected: expected,
      compared: sum(low * 24, min(high * 24 + 24, count) - low * 24),
      days: self.day(low)...self.day(high))
  }

  private func day(_ index: Int) -> Day { Day(number: Int32(clamping: first + Int64(index))) }
}

/// One day of a feed, or some of its hours, compared with the same of the surrounding days.
private struct DayComparison {
  private let counts: [Int64]
  private let index: Int
  /// The surrounding days in order, without the run of equally empty days that contains it.
  let others: [Int]
  /// The same days of other months, without equally empty ones.
  private let ofMonths: [Int]

  var delivered: Int64 { counts[index] }

  /// Nil if there are too few days or the day is not conspicuous.
  init?(_ counts: [Int64], _ index: Int, ofMonths: [Int] = []) {
    let around = max(0, index - 28)..<min(counts.count, index + 29)
    guard around.count > 13 else { return nil }
    let sum = counts[around].reduce(0, +)
    // At most half of the mean; checked first because it is cheap.
    guard 2 * counts[index] * Int64(around.count) <= sum, sum > 0 else { return nil }
    let isEmpty = { (day: Int) in 10 * counts[day] * Int64(around.count) <= sum }
    // Nothing was expected before the feed began.
    guard let before = (0..<index).last(where: { !isEmpty($0) }) else { return nil }
    let after = (index + 1..<counts.count).first { !isEmpty($0) } ?? counts.count
    let near = max(0, before - 27)..<min(counts.count, after + 28)
    others = near.filter { $0 <= before || $0 >= after }
    guard others.count >= 13 else { return nil }
    self.ofMonths = ofMonths.filter { !isEmpty($0) }
    self.counts = counts
    self.index = index
  }

  /// The expected number, rounded down, if the delivered number makes the day a gap; else nil.
  func expected(odds: Int) -> Int64? {
    let split = others.firstIndex { $0 > index } ?? others.count
    let weekday = others.filter { ($0 - index) % 7 == 0 }
    let expected =
      [
        others[...], others[..<split].suffix(7), others[split...].prefix(7), weekday[...],
        ofMonths[...],
      ].filter { !$0.isEmpty }.map(mean).min() ?? 0
    guard expected > 0, 2 * Double(delivered) <= expected,
      tail(delivered, mean: expected, dispersion: dispersion) * Double(odds) < 1
    else { return nil }
    return Int64(expected)
  }

  private func mean(_ days: ArraySlice<Int>) -> Double {
    Double(days.reduce(Int64(0)) { $0 + counts[$1] }) / Double(days.count)
  }

  /// How much more the other days vary around the means of their weekdays than a Poisson
  /// distribution does, without the most varying day; at least 1.
  private var dispersion: Double {
    var weekdays = Array(repeating: (sum: Int64(0), days: Int64(0)), count: 7)
    for day in others {
      weekdays[day % 7].sum += counts[day]
      weekdays[day % 7].days += 1
    }
    let terms = others.compactMap { day -> Double? in
      let mean = Double(weekdays[day % 7].sum) / Double(weekdays[day % 7].days)
      let difference = Double(counts[day]) - mean
      return mean > 0 ? difference * difference / mean : nil
    }
    return max(1, terms.sorted().dropLast().reduce(0, +) / Double(max(1, terms.count - 8)))
  }
}

/// An upper bound of the probability of at most `count` events.
///
/// Below the mean, each probability is smaller than the next by at least the last ratio, so a
/// geometric series bounds the sum.
private func tail(_ count: Int64, mean: Double, dispersion: Double) -> Double {
  let k = Double(count)
  guard dispersion > 1.001 else {
    let last = exp(k * log(mean) - mean - lgamma(k + 1))
    return last / (1 - k / mean)
  }
  let size = mean / (dispersion - 1)
  let failure = 1 - 1 / dispersion
  let ways: Double = lgamma(size + k) - lgamma(size) - lgamma(k + 1)
  let last = exp(ways - size * log(dispersion) + k * log(failure))
  let ratio = count == 0 ? 0 : k / ((size + k - 1) * failure)
  // If the days vary that much, a few events are as likely as none.
  return ratio < 1 ? last / (1 - ratio) : 1
}
