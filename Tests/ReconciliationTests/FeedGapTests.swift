import Domain
import Foundation
import TestSupport
import Testing

@testable import Reconciliation

@Suite("A day on which a feed went silent")
struct FeedGapTests {
  private let first = Day(year: 2026, month: 10, day: 1)

  private func day(_ index: Int) -> Day { Day(number: first.number + Int32(index)) }

  private func gaps(_ counts: [Int64], odds: Int = 1_000_000) -> [FeedGap] {
    let days = counts.enumerated().filter { $0.element > 0 }.map { (day($0.offset), $0.element) }
    return feedGaps(
      Dictionary(uniqueKeysWithValues: days), through: day(counts.count - 1), odds: odds)
  }

  private func steady(_ count: Int64, days: Int, absent: Set<Int> = []) -> [Int64] {
    (0..<days).map { absent.contains($0) ? 0 : count }
  }

  @Test("is found among twenty days of sixty events, early or late", arguments: [2, 9, 18])
  func absentDay(_ index: Int) {
    let found = gaps(steady(60, days: 20, absent: [index]))
    #expect(
      found == [
        FeedGap(
          day: day(index), delivered: 0, expected: 60, compared: 60 * 19, days: day(0)...day(19))
      ])
  }

  @Test("is each day of a silence of two weeks")
  func longSilence() {
    #expect(gaps(steady(60, days: 60, absent: Set(25..<39))).map(\.day) == (25..<39).map(day))
  }

  @Test("may have brought some events, if far fewer than usual")
  func fewEvents() {
    var counts = steady(60, days: 30)
    counts[12] = 10
    #expect(gaps(counts).map(\.delivered) == [10])
    counts[12] = 31
    #expect(gaps(counts).isEmpty)
  }

  @Test("is no day of a small feed, of a short past, or of a week with days off")
  func innocent() {
    #expect(gaps(steady(6, days: 60, absent: [20])).isEmpty)
    #expect(gaps(steady(60, days: 13, absent: [7])).isEmpty)
    #expect(gaps((0..<80).map { $0 % 7 < 5 ? 100 : 0 }).isEmpty)
    // A day off in a week without one is seen.
    #expect(gaps((0..<80).map { $0 % 7 < 5 && $0 != 44 ? 100 : 0 }).map(\.day) == [day(44)])
  }

  @Test("is no day before a launch, nor of growth or decline")
  func changing() {
    #expect(gaps([1] + steady(0, days: 40) + steady(100, days: 40)).isEmpty)
    #expect(gaps((0..<100).map { Int64(1) << ($0 / 10) }).isEmpty)
    #expect(gaps((0..<100).map { Int64(1) << ((99 - $0) / 10) }).isEmpty)
  }

  @Test("is never seen in a hundred years of whole feeds, and nearly always when it is there")
  func figures() {
    var numbers = SeededNumbers(seed: 20_261_010)
    var falseAlarms = 0
    var absent = 0
    var found = 0
    for year in 0..<100 {
      let mean = [3.0, 20, 60, 250][year % 4]
      var counts = (0..<365).map { _ in poisson(mean, &numbers) }
      falseAlarms += gaps(counts).count
      guard mean >= 20 else { continue }
      let days = stride(from: 20, to: 350, by: 30)
      for day in days { counts[day] = 0 }
      absent += Array(days).count
      found += gaps(counts).count
    }
    #expect(falseAlarms == 0)
    #expect(absent == 825 && 100 * found >= 99 * absent, "\(found) of \(absent)")
  }

  /// A number of events around `mean`, by multiplying uniform numbers (Knuth).
  private func poisson(_ mean: Double, _ numbers: inout SeededNumbers) -> Int64 {
    var count: Int64 = -1
    var sum = 0.0
    while sum < mean {
      sum -= log(1 - Double.random(in: 0..<1, using: &numbers))
      count += 1
    }
    return count
  }
}
