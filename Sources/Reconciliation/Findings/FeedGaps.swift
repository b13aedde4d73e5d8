public import Domain
internal import Glibc

/// A day, or a run of hours, of a feed with none or far fewer deliveries than the days around it
/// make likely.
public struct FeedGap: Sendable, Equatable {
  /// Its UTC hours, numbered since 1970-01-01.
  public var hours: Range<Int64>
  /// Events that arrived in it, each once.
  public var delivered: Int64
  /// Events that the days around it make likely, rounded down.
  public var expected: Int64
  /// All events from the first to the last day that it was compared with.
  public var compared: Int64
  /// The first and the last of these days.
  public var days: ClosedRange<Day>

  /// The UTC day, unless it is a run of hours.
  public var day: Day? {
    hours.lowerBound % 24 == 0 && hours.count == 24
      ? Day(number: Int32(clamping: hours.lowerBound / 24)) : nil
  }
}

/// The gaps of one feed: its days from the second to the last whole one, then the runs of hours
/// outside of these days.
///
/// A day is compared with the 28 days on each side of it, of which 13 must exist, the days that are
/// as empty around it left out. What was to be expected is the least of five means: of all these
/// days, of the seven before, of the seven after, of the same weekday, and from the 29th on of that
/// day in the three months on each side, so that weekly rhythm, growth, decline and the end of a
/// month raise nothing: what began on a 31st, in seven months of twelve, is renewed on one. So few
/// deliveries must be less likely than 1 in `odds` by a Poisson distribution, widened to a negative
/// binomial one where the days vary more, and at most half of what was expected.
///
/// A run of hours with at most a tenth of the feed's mean in each is compared in the same way with
/// the same hours of the days around it, so that the rhythm of a day raises nothing either. It must
/// be 24 times less likely, because it can begin in any hour.
///
/// Source: C. P. Farrington et al., "A Statistical Algorithm for the Early Detection of Outbreaks
/// of Infectious Disease", 1996: counts against their own past, with overdispersion.
///
/// - Parameters:
///   - deliveries: events of UTC hours, in any order; hours without any may be missing.
///   - end: the hour after the last whole one that the feed is known of.
///   - odds: a gap is less likely than 1 in so many.
public func feedGaps(
  _ deliveries: [(hour: Int64, events: Int64)], before end: Int64, odds: Int
) -> [FeedGap] {
  guard let first = deliveries.lazy.map(\.hour).min(), first < end else { return [] }
  let hours = HourCounts(deliveries, from: first / 24, before: end)
  let days = hours.dayGaps(odds: odds)
  let runs = hours.lowRuns.compactMap { hours.gap(in: $0, odds: 24 * odds) }
  return days + runs.filter { run in !days.contains { $0.hours.overlaps(run.hours) } }
}

/// A feed's deliveries by hour, from the start of its first day.
private struct HourCounts {
  private let first: Int64
  /// Deliveries before each hour, and all.
  private var sums: [Int64]

  init(
    _ deliveries: [(hour: Int64, events: Int64)], from first: Int64, before end: Int64
  ) {
    self.first = first
    sums = Array(repeating: 0, count: Int(end - first * 24) + 1)
    for (hour, events) in deliveries where hour < end { sums[Int(hour - first * 24) + 1] += events }
    for hour in sums.indices.dropFirst() { sums[hour] += sums[hour - 1] }
  }

  private var count: Int { sums.count - 1 }

  private func sum(_ start: Int, _ length: Int) -> Int64 { sums[start + length] - sums[start] }

  func dayGaps(odds: Int) -> [FeedGap] {
    let counts = (0..<count / 24).map { sum($0 * 24, 24) }
    let before = counts.reduce(into: [Int64(0)]) { $0.append($0[$0.count - 1] + $1) }
    // The first day begins with the first delivery.
    return counts.indices.dropFirst().compactMap { day in
      gap(
        DayComparison(counts, day, before, ofMonths: sameOfMonths), odds: odds,
        in: day * 24..<day * 24 + 24, since: 0)
    }
  }

  /// The days with the number of a day behind the 28th, in the three months on each side.
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

  /// The longest runs of hours that each have at most a tenth of the mean of the 28 days on each
  /// side.
  var lowRuns: [Range<Int>] {
    var runs: [Range<Int>] = []
    var start: Int?
    for hour in 0...count {
      let around = max(0, hour - 672)..<min(count, hour + 673)
      let isLow =
        hour < count
        && 10 * sum(hour, 1) * Int64(around.count) <= sum(around.lowerBound, around.count)
      if isLow {
        start = start ?? hour
      } else if let from = start {
        runs.append(from..<hour)
        start = nil
      }
    }
    return runs
  }

  /// The run as a gap, if the same hours of the days around it make it one.
  func gap(in run: Range<Int>, odds: Int) -> FeedGap? {
    let (index, hour) = run.lowerBound.quotientAndRemainder(dividingBy: 24)
    let since = max(0, index - 62)
    let last = min(index + 62, (count - hour - run.count) / 24)
    guard since < index, index <= last else { return nil }
    // Few runs have as many in the same hours of one of the next days.
    let next = max(since, index - 7)...min(last, index + 7)
    let least = log(Double(odds))
    guard next.contains(where: { Double(sum($0 * 24 + hour, run.count)) > least }) else {
      return nil
    }
    let counts = (since...last).map { sum($0 * 24 + hour, run.count) }
    let before = counts.reduce(into: [Int64(0)]) { $0.append($0[$0.count - 1] + $1) }
    return gap(
      DayComparison(counts, index - since, before), odds: odds, in: run, since: since)
  }

  /// The compared hours as a gap; nil if they are none.
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

/// One day of a feed, or some hours of it, beside the same of the days around it.
private struct DayComparison {
  private let counts: [Int64]
  private let index: Int
  /// The days around it in their order, less the run of days as empty that it is in.
  let others: [Int]
  /// The same days of other months, less those as empty.
  private let ofMonths: [Int]

  var delivered: Int64 { counts[index] }

  /// Nil where there are too few days, or where the day is not conspicuous.
  ///
  /// - Parameter sums: of the counts before each day, and of all.
  init?(
    _ counts: [Int64], _ index: Int, _ sums: [Int64], ofMonths: (Int) -> [Int] = { _ in [] }
  ) {
    let around = max(0, index - 28)..<min(counts.count, index + 29)
    guard around.count > 13 else { return nil }
    let sum = sums[around.upperBound] - sums[around.lowerBound]
    // At most half of the mean, before anything is worked out.
    guard 2 * counts[index] * Int64(around.count) <= sum, sum > 0 else { return nil }
    let isEmpty = { (day: Int) in 10 * counts[day] * Int64(around.count) <= sum }
    var run = index...index
    while run.lowerBound > 0, isEmpty(run.lowerBound - 1) {
      run = run.lowerBound - 1...run.upperBound
    }
    // Before the feed began nothing was to be expected.
    guard run.lowerBound > 0 else { return nil }
    while run.upperBound < counts.count - 1, isEmpty(run.upperBound + 1) {
      run = run.lowerBound...run.upperBound + 1
    }
    let rest = max(0, run.lowerBound - 28)..<min(counts.count, run.upperBound + 29)
    others = rest.filter { !run.contains($0) }
    guard others.count >= 13 else { return nil }
    self.ofMonths = ofMonths(index).filter { !isEmpty($0) }
    self.counts = counts
    self.index = index
  }

  /// How much was to be expected, rounded down, where so little makes the day a gap; else nil.
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

  /// How much more the other days vary about the means of their weekdays than a Poisson
  /// distribution does, the one that varies most left out; at least 1.
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
/// Below the mean each probability is less than the next by at least the last ratio, so that a
/// geometric series bounds their sum.
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
  // Where the days vary so much, a few events are as likely as none.
  return ratio < 1 ? last / (1 - ratio) : 1
}
