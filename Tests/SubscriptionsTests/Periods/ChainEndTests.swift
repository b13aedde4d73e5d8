import Domain
import Testing

@testable import Subscriptions

@Suite("A purchase continues the subscription that ended last before it")
struct ChainEndTests {
  private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

  @Test("A purchase continues the last ended subscription, or the first of several, once")
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

  @Test("A subscription that ended before the purchase it continued is found by its own end")
  func earlier() {
    var ends = ChainEnds()
    ends.add(at(40), 0)
    #expect(ends.takeLast(before: at(60)) == 0)
    ends.add(at(10), 0)
    ends.add(at(55), 1)
    #expect(ends.takeLast(before: at(60)) == 1)
    #expect(ends.takeLast(before: at(60)) == 0)
  }

  @Test("Filtering that keeps all events copies nothing, and checks each once, in order")
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
