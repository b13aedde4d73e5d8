import Domain
import Testing

@testable import EventStore

@Suite("Whether a feed continues after as-of")
struct ArrivalHourTests {
  private let asOf = Instant(seconds: 1_800_000_000)

  /// Arrivals these hours before and after as-of.
  private func hours(
    _ before: some Sequence<Int64>, then after: [Int64]
  ) -> [ArrivalHour] {
    (before.map { -$0 } + after).sorted().map { asOf + .hours($0)...asOf + .hours($0) }
  }

  @Test("A feed continues if it keeps its rate, even after days of silence")
  func goesOn() {
    let past = stride(from: Int64(1), to: 2400, by: 4)
    #expect(hours(past, then: [25, 29, 33]).goOn(after: asOf))
    #expect(hours(past, then: [60]).goOn(after: asOf), "nine of its hours are missing")
    let silence = Array(stride(from: Int64(240), to: 400, by: 4))
    #expect(hours(past, then: silence).goOn(after: asOf))
  }

  @Test("A feed does not continue if only a few messages are later")
  func isOver() {
    let past = stride(from: Int64(1), to: 2400, by: 4)
    for few: [Int64] in [[], [24], [72], [72, 960], [800, 801, 802], [30_000]] {
      #expect(!hours(past, then: few).goOn(after: asOf), "\(few)")
    }
  }

  @Test("A feed with little history continues if anything follows within two years")
  func young() {
    #expect(hours([1, 200], then: [17_000]).goOn(after: asOf))
    #expect(hours([], then: [17_000]).goOn(after: asOf))
    #expect(!hours([1, 200], then: [18_000]).goOn(after: asOf))
  }
}
