import Domain
import Fetch
import Testing

@Suite("Questions keep to the rate, and come back after a while")
struct TokenBucketTests {
  private let start = Instant(seconds: 1_000_000)

  private func at(_ milliseconds: Int64) -> Instant {
    Instant(milliseconds: start.milliseconds + milliseconds)
  }

  @Test("One token is there at once, the next after its share of a second")
  func rate() {
    var bucket = TokenBucket(rate: 4, at: start)
    let taken = [0, 0, 249, 250, 250, 499, 500].map { bucket.take(at: at($0)) }
    #expect(taken == [true, false, false, true, false, false, true])
  }

  @Test("After an hour there are as many as in a second, no more")
  func burst() {
    var bucket = TokenBucket(rate: 4, at: start)
    let taken = (0..<6).map { _ in bucket.take(at: at(3_600_000)) }
    #expect(taken.count { $0 } == 4)
  }

  @Test("A clock that is set back by an hour gives nothing, and goes on")
  func backwards() {
    var bucket = TokenBucket(rate: 1, at: start)
    let taken = [0, -3_600_000, -3_600_000 + 1000].map { bucket.take(at: at($0)) }
    #expect(taken == [true, false, true])
  }

  @Test("A pause ends at its time, without what was saved up")
  func pause() {
    var bucket = TokenBucket(rate: 2, at: start)
    bucket.pause(until: at(5000))
    let taken = [4999, 5000, 5000, 5000].map { bucket.take(at: at($0)) }
    #expect(taken == [false, true, true, false])
  }

  @Test("Waits double from half a second to a minute, half of each by chance")
  func backoff() {
    func waits(_ random: (ClosedRange<Int64>) -> Int64) -> [Int64] {
      [1, 2, 7, 20].map { Backoff.wait(after: $0, retryAfter: nil, using: random) }
    }
    #expect(waits(\.lowerBound) == [500, 1000, 30_000, 30_000])
    #expect(waits(\.upperBound) == [1000, 2000, 60_000, 60_000])
  }

  @Test("A server's own wish is the least, up to a quarter of an hour")
  func retryAfter() {
    #expect(Backoff.wait(after: 1, retryAfter: 7, using: \.lowerBound) == 7000)
    #expect(Backoff.wait(after: 7, retryAfter: 7, using: \.lowerBound) == 30_000)
    #expect(Backoff.wait(after: 1, retryAfter: .max, using: \.lowerBound) == 900_000)
  }
}
