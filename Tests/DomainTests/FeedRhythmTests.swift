import Domain
import Testing

@Suite("What the hours of a feed's deliveries show")
struct FeedRhythmTests {
  private static let start = Instant(seconds: 1_767_225_600)

  /// A feed with deliveries at these times, in days.
  private func feed(_ days: [Double], asOf: Double = 10_000) -> FeedRhythm {
    var feed = FeedRhythm(asOf: at(asOf))
    for day in days { feed.add(first: at(day), last: at(day)) }
    return feed
  }

  private func at(_ day: Double) -> Instant {
    Self.start + Interval(milliseconds: Int64(day * 86_400_000))
  }

  private func every(_ step: Double, _ range: ClosedRange<Double>) -> [Double] {
    Array(stride(from: range.lowerBound, through: range.upperBound, by: step))
  }

  @Test("A feed may be silent three times as long as in the last 60 days")
  func silence() {
    #expect(feed([0]).gapMax == .hours(48))
    #expect(feed(every(0.5, 0...60)).gapMax == .hours(48))
    #expect(feed([0, 3]).gapMax == .days(9))
    #expect(feed(every(3, 0...90)).gapMax == .days(9))
    // Older silences do not count; one that lasted into the 60 days does.
    #expect(feed([0, 4, 8] + every(1, 9...64)).gapMax == .days(12))
    #expect(feed([0, 4, 8] + every(1, 9...65)).gapMax == .days(3))
  }

  @Test("The limit is 14 days, or the longest past silence if that is longer")
  func mostSilence() {
    #expect(feed([0, 4.5]).gapMax == .hours(324))
    #expect(feed([0, 5]).gapMax == .days(14))
    #expect(feed([0, 14]).gapMax == .days(14))
    #expect(feed([0, 20]).gapMax == .days(20))
  }

  @Test("A single outage does not raise the limit once there are ten silences")
  func outage() {
    #expect(feed(every(1, 0...8) + [12]).gapMax == .days(12))
    #expect(feed(every(1, 0...9) + [13]).gapMax == .days(3))
  }

  @Test("A feed begins with its first delivery, except an isolated one long before the rest")
  func begin() {
    let rest = every(1, 0...100)
    #expect(feed(rest).begin == at(0))
    #expect(feed([-364] + rest).begin == at(-364))
    #expect(feed([-4000] + rest).begin == at(0))
    #expect(feed([-4001, -4000] + rest).begin == at(-4001), "two of a hundred belong to it")
    #expect(feed([-400] + every(41, 0...400)).begin == at(-400), "it is often silent for long")
    #expect(feed([-4000] + every(1, 0...9)).begin == at(0))
    #expect(feed([-4000] + every(1, 0...8)).begin == at(-4000), "ten hours show too little")
    let busy = every(1.0 / 24, 0...100)
    #expect(feed([-62, -61] + busy).begin == at(0), "two of thousands are lonely")
    #expect(feed([-60, -59] + busy).begin == at(-60), "within 60 days nothing is far")
    #expect(feed([-62, -61.5, -61] + busy).begin == at(-62))
  }

  @Test("A feed ends with its newest delivery, except an isolated one long after the rest")
  func newest() {
    let rest = every(1, 0...100)
    #expect(feed(rest).newest == at(100) && feed(rest + [464]).newest == at(464))
    let far = feed(rest + [466])
    #expect(far.newest == at(100) && far.gapMax == .days(3) && far.trustedFrom == nil)
    #expect(feed(rest + [4000, 4001]).newest == at(4001), "two of a hundred belong to it")
    #expect(feed(every(41, 0...410) + [810]).newest == at(810), "it is often silent for long")
    #expect(feed(every(1, 0...9) + [4000]).newest == at(9))
    #expect(feed(every(1, 0...8) + [4000]).newest == at(4000), "ten hours show too little")
    let busy = every(1.0 / 24, 0...100)
    #expect(feed(busy + [161, 161.5]).newest == at(100), "two of thousands are lonely")
    #expect(feed(busy + [159, 159.5]).newest == at(159.5), "within 60 days nothing is far")
    let both = feed([-4000] + rest + [4000])
    #expect(both.begin == at(0) && both.newest == at(100))
    #expect(feed([-4000] + rest).trustedFrom == at(0) && feed(rest).trustedFrom == nil)
  }

  @Test("Deliveries after as-of do not count")
  func later() {
    let known = feed([0, 1, 40], asOf: 2)
    #expect(known.newest == at(1) && known.gapMax == .days(3))
    #expect(feed([5], asOf: 4).newest == nil && feed([5], asOf: 4).begin == nil)
  }
}
