import Domain
import Foundation
import TestSupport
import Testing

@testable import Reconciliation

@Suite("Gaps in a feed")
struct FeedGapTests {
  private let first = Day(year: 2026, month: 10, day: 1)

  private func day(_ index: Int) -> Day { Day(number: first.number + Int32(index)) }

  /// The gaps of a feed that sends all of a day's events at noon.
  private func gaps(_ counts: [Int64]) -> [FeedGap] {
    gaps(byHour: counts.flatMap { count in (0..<24).map { $0 == 12 ? count : 0 } })
  }

  private func gaps(byHour counts: [Int64]) -> [FeedGap] {
    let start = Int64(first.number) * 24
    let hours = counts.enumerated().filter { $0.element > 0 }
    return feedGaps(
      hours.map { (start + Int64($0.offset), $0.element) }, before: start + Int64(counts.count))
  }

  private func hours(_ hours: Range<Int>) -> Range<Int64> {
    let start = Int64(first.number) * 24
    return start + Int64(hours.lowerBound)..<start + Int64(hours.upperBound)
  }

  private func steady(_ count: Int64, days: Int, absent: Set<Int> = []) -> [Int64] {
    (0..<days).map { absent.contains($0) ? 0 : count }
  }

  @Test("A gap is found among twenty days of sixty events, early or late", arguments: [2, 9, 18])
  func absentDay(_ index: Int) {
    let found = gaps(steady(60, days: 20, absent: [index]))
    #expect(
      found == [
        FeedGap(
          hours: hours(index * 24..<index * 24 + 24), delivered: 0, expected: 60,
          compared: 60 * 19, days: day(0)...day(19))
      ])
  }

  @Test("A silence of two weeks is a gap on each day")
  func longSilence() {
    #expect(gaps(steady(60, days: 60, absent: Set(25..<39))).map(\.day) == (25..<39).map(day))
  }

  @Test("A gap may have had some events, if far fewer than usual")
  func fewEvents() {
    var counts = steady(60, days: 30)
    counts[12] = 10
    #expect(gaps(counts).map(\.delivered) == [10])
    counts[12] = 31
    #expect(gaps(counts).isEmpty)
  }

  @Test("A small feed, a short history or a week with regular days off has no gap")
  func innocent() {
    #expect(gaps(steady(6, days: 60, absent: [20])).isEmpty)
    #expect(gaps(steady(60, days: 13, absent: [7])).isEmpty)
    #expect(gaps((0..<80).map { $0 % 7 < 5 ? 100 : 0 }).isEmpty)
    // A day without events in a week without days off is a gap.
    #expect(gaps((0..<80).map { $0 % 7 < 5 && $0 != 44 ? 100 : 0 }).map(\.day) == [day(44)])
  }

  @Test("One event instead of two is not a gap; one instead of sixty is, even before a move")
  func beforeMove() {
    var counts = steady(2, days: 40) + steady(40, days: 30)
    counts[25] = 1
    #expect(gaps(counts).isEmpty)
    counts = steady(60, days: 40) + steady(80, days: 30)
    counts[25] = 1
    #expect(gaps(counts).map(\.day) == [day(25)])
  }

  @Test("A 31st with as few events as others is not a gap; one without events is")
  func endOfMonth() {
    var counts = steady(100, days: 150)
    // The 31st of October, December and January.
    for index in [30, 91, 122] { counts[index] = 45 }
    #expect(gaps(counts).isEmpty)
    counts[91] = 0
    #expect(gaps(counts).map(\.day) == [day(91)])
    #expect(gaps(counts).map(\.expected) == [45])
    counts[92] = 45
    #expect(gaps(counts).map(\.day) == [day(91), day(92)])
  }

  @Test("A day before a launch, or during growth or decline, is not a gap")
  func changing() {
    #expect(gaps([1] + steady(0, days: 40) + steady(100, days: 40)).isEmpty)
    #expect(gaps((0..<100).map { Int64(1) << ($0 / 10) }).isEmpty)
    #expect(gaps((0..<100).map { Int64(1) << ((99 - $0) / 10) }).isEmpty)
  }

  @Test("Six silent hours at ten an hour are a gap, even at midnight", arguments: [226, 237])
  func absentHours(_ start: Int) {
    var counts = (0..<480).map { _ in Int64(10) }
    for hour in start..<start + 6 { counts[hour] = 0 }
    let found = gaps(byHour: counts)
    #expect(found.map(\.hours) == [hours(start..<start + 6)])
    #expect(found.map(\.expected) == [60] && found.map(\.day) == [nil])
    // All events of days with these hours, so that each event has its usual worth.
    #expect(found.map(\.compared) == [start == 226 ? 4_740 : 4_500])
  }

  @Test("Hours of a daily rhythm or of a small feed are not gaps")
  func innocentHours() {
    // No events from midnight to eight on any day.
    #expect(gaps(byHour: (0..<960).map { $0 % 24 < 8 ? 0 : 15 }).isEmpty)
    // At two an hour, twelve events are too few to be missed.
    var small = (0..<960).map { _ in Int64(2) }
    for hour in 400..<406 { small[hour] = 0 }
    #expect(gaps(byHour: small).isEmpty)
  }

  @Test("A silence around a whole day is a gap of that day and of the hours on both sides")
  func overnight() {
    // From six in the evening to six in the morning after the next day.
    let counts = (0..<960).map { (402..<438).contains($0) ? 0 : Int64(10) }
    let found = gaps(byHour: counts)
    #expect(
      found.map(\.hours) == [hours(408..<432), hours(402..<408), hours(432..<438)])
    #expect(found.map(\.expected) == [231, 60, 60])
  }

  @Test("A gap keeps its id while its silence lasts, and when its hours become a whole day")
  func growing() {
    func ids(_ silence: Range<Int>, until end: Int) -> [String] {
      gaps(byHour: (0..<end).map { silence.contains($0) ? 0 : 10 }).map { gap in
        feedGapID(gap, provider: .qonversion, app: "app", isWholeProvider: false)
      }
    }
    // Four in the morning to eight in the evening, seen at noon, at nine, and two days later.
    let first = ids(412..<428, until: 420)
    #expect(first.count == 1)
    #expect(ids(412..<428, until: 429) == first && ids(412..<428, until: 480) == first)
    // Over midnight, the next day has one of its own once it is a gap.
    let evening = ids(402..<426, until: 420)
    #expect(ids(402..<426, until: 480).suffix(1) == evening)
    // Two gaps on one day.
    let both = gaps(
      byHour: (0..<960).map {
        (408..<412).contains($0) || (418..<422).contains($0) ? 0 : 20
      })
    #expect(both.map(\.isFirstOfDay) == [true, false])
  }

  @Test("A hundred years of complete feeds have no gap, and real gaps are nearly always found")
  func figures() {
    var numbers = SeededNumbers(seed: 20_261_010)
    var falseAlarms = 0
    var (absentDays, foundDays) = (0, 0)
    var (absentRuns, foundRuns) = (0, 0)
    for year in 0..<100 {
      let mean = [3.0, 20, 60, 250][year % 4]
      // From half of the mean before dawn to one and a half times it in the afternoon.
      let rates = (0..<24).map { mean / 24 * (1 + sin(2 * .pi * Double($0 - 10) / 24) / 2) }
      var counts = (0..<8_760).map { poisson(rates[$0 % 24], &numbers) }
      falseAlarms += gaps(byHour: counts).count
      guard mean >= 20 else { continue }
      let days = stride(from: 20, to: 350, by: 30)
      let starts =
        mean < 200 ? [] : days.map { $0 * 24 + 240 + Int.random(in: 0..<24, using: &numbers) }
      for day in days { for hour in 0..<24 { counts[day * 24 + hour] = 0 } }
      for start in starts { for hour in 0..<6 { counts[start + hour] = 0 } }
      let found = gaps(byHour: counts)
      absentDays += Array(days).count
      foundDays += found.count { $0.day != nil }
      absentRuns += starts.count
      foundRuns += starts.count { start in
        found.contains { $0.hours.overlaps(hours(start..<start + 6)) }
      }
    }
    #expect(falseAlarms == 0)
    #expect(
      absentDays == 825 && 100 * foundDays >= 99 * absentDays, "\(foundDays) of \(absentDays)")
    #expect(absentRuns == 275 && foundRuns >= 275, "\(foundRuns) of \(absentRuns)")
  }

  /// A Poisson-distributed number of events with this mean, by multiplying uniform numbers (Knuth).
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
