import Domain
import Testing

@testable import Subscriptions

@Suite("A purchase continues the subscription that ended last before it")
struct ChainEndTests {
  private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

  @Test("Of those over by then the last one, of several the first; each continues once")
  func last() {
    var ends = ChainEnds()
    for (chain, end) in [30, 20, 30, 50].enumerated() { ends.add(at(Int64(end)), chain) }
    #expect(ends.takeLast(before: at(19)) == nil)
    #expect(ends.takeLast(before: at(49)) == 0)
    #expect(ends.takeLast(before: at(49)) == 2)
    #expect(ends.takeLast(before: at(50)) == 3)
    #expect(ends.takeLast(before: at(50)) == 1)
    #expect(ends.takeLast(before: at(99)) == nil)
  }

  @Test("One that ended before the purchase it was put to is found by what it ended")
  func earlier() {
    var ends = ChainEnds()
    ends.add(at(40), 0)
    #expect(ends.takeLast(before: at(60)) == 0)
    ends.add(at(10), 0)
    ends.add(at(55), 1)
    #expect(ends.takeLast(before: at(60)) == 1)
    #expect(ends.takeLast(before: at(60)) == 0)
  }

  @Test("Events that all stay are not copied; each is asked once, in order")
  func keeping() {
    let events = (0..<4).map { Event(kind: .renewed, time: at($0)) }
    var asked: [Int64] = []
    let kept = events.keeping {
      asked.append($0.time.milliseconds)
      return $0.time.milliseconds % 3 != 1
    }
    #expect(asked == [0, 1, 2, 3] && kept.map(\.time.milliseconds) == [0, 2, 3])
    let all = events.keeping { _ in true }
    let place = events.withUnsafeBufferPointer(\.baseAddress)
    #expect(all.withUnsafeBufferPointer(\.baseAddress) == place)
  }
}
