public import Domain
internal import Glibc

/// A day of a feed with none or far fewer deliveries than the days around it make likely.
public struct FeedGap: Sendable, Equatable {
  /// The UTC day.
  public var day: Day
  /// Events that arrived on it, each once.
  public var delivered: Int64
  /// Events that the days around it make likely, rounded down.
  public var expected: Int64
  /// Events of the days that it was compared with.
  public var compared: Int64
  /// The first and the last of these days.
  public var days: ClosedRange<Day>
}

/// The gaps of one feed, from its first to its last whole day.
///
/// A day is compared with the 28 days on each side of it, of which 13 must exist, the days that are
/// as empty around it left out. What was to be expected is the least of four means: of all these
/// days, of the seven before, of the seven after, and of the same weekday, so that weekly rhythm,
/// growth and decline raise nothing. So few deliveries must be less likely than 1 in `odds` by a
/// Poisson distribution, widened to a negative binomial one where the days vary more, and at most
/// half of what was expected.
///
/// Source: C. P. Farrington et al., "A Statistical Algorithm for the Early Detection of Outbreaks
/// of Infectious Disease", 1996: counts against their own past, with overdispersion.
///
/// - Parameters:
///   - deliveries: events by day; days without any may be missing.
///   - last: the last whole day that the feed is known of.
///   - odds: a gap is less likely than 1 in so many.
public func feedGaps(
  _ deliveries: [Day: Int64], through last: Day, odds: Int
) -> [FeedGap] {
  guard let first = deliveries.keys.min(), first < last else { return [] }
  let counts = (first.number...last.number).map { deliveries[Day(number: $0)] ?? 0 }
  var sums: [Int64] = [0]
  for count in counts { sums.append(sums[sums.count - 1] + count) }
  // The first day begins with the first delivery.
  return counts.indices.dropFirst().compactMap { index in
    DayComparison(counts, index, sums)?.gap(of: first, odds: odds)
  }
}

/// One day of a feed beside the days around it.
private struct DayComparison {
  private let counts: [Int64]
  private let index: Int
  /// The days around it, less the run of days as empty that it is in.
  private let others: [Int]

  /// Nil where there are too few days, or where the day is not conspicuous.
  ///
  /// - Parameter sums: of the counts before each day, and of all.
  init?(_ counts: [Int64], _ index: Int, _ sums: [Int64]) {
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
    self.counts = counts
    self.index = index
  }

  func gap(of first: Day, odds: Int) -> FeedGap? {
    let before = others.filter { $0 < index }.suffix(7)
    let after = others.filter { $0 > index }.prefix(7)
    let weekday = others.filter { ($0 - index) % 7 == 0 }
    let expected =
      [others, Array(before), Array(after), weekday].filter { !$0.isEmpty }
      .map(mean).min() ?? 0
    let delivered = counts[index]
    guard expected > 0, 2 * Double(delivered) <= expected,
      tail(delivered, mean: expected, dispersion: dispersion) * Double(odds) < 1,
      let low = others.first, let high = others.last
    else { return nil }
    let day = { (index: Int) in Day(number: first.number + Int32(index)) }
    return FeedGap(
      day: day(index), delivered: delivered, expected: Int64(expected),
      compared: others.reduce(0) { $0 + counts[$1] }, days: day(low)...day(high))
  }

  private func mean(_ days: [Int]) -> Double {
    Double(days.reduce(Int64(0)) { $0 + counts[$1] }) / Double(days.count)
  }

  /// How much more the other days vary about the means of their weekdays than a Poisson
  /// distribution does, the one that varies most left out; at least 1.
  private var dispersion: Double {
    let means = (0..<7).map { weekday in
      let days = others.filter { $0 % 7 == weekday }
      return days.isEmpty ? 0 : mean(days)
    }
    let terms = others.compactMap { day -> Double? in
      let mean = means[day % 7]
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
  let last = exp(
    lgamma(size + k) - lgamma(size) - lgamma(k + 1) - size * log(dispersion) + k * log(failure))
  return count == 0 ? last : last / (1 - k / ((size + k - 1) * failure))
}
