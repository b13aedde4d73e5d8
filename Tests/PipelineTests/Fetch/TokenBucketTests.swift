import Domain
import Testing

@testable import Pipeline

@Suite("Requests keep to the rate and are retried after a wait")
struct TokenBucketTests {
  private let start = Instant(seconds: 1_000_000)

  private func at(_ milliseconds: Int64) -> Instant {
    Instant(milliseconds: start.milliseconds + milliseconds)
  }

  @Test("One token is available at once, the next after its share of a second")
  func rate() {
    var bucket = TokenBucket(rate: 4, at: start)
    let taken = [0, 0, 249, 250, 250, 499, 500].map { bucket.take(at: at($0)) }
    #expect(taken == [true, false, false, true, false, false, true])
  }

  @Test("After an hour, the bucket holds no more tokens than for one second")
  func burst() {
    var bucket = TokenBucket(rate: 4, at: start)
    let taken = (0..<6).map { _ in bucket.take(at: at(3_600_000)) }
    #expect(taken.count { $0 } == 4)
  }

  @Test("A clock set back by an hour adds no tokens, and the bucket continues")
  func backwards() {
    var bucket = TokenBucket(rate: 1, at: start)
    let taken = [0, -3_600_000, -3_600_000 + 1000].map { bucket.take(at: at($0)) }
    #expect(taken == [true, false, true])
  }

  @Test("A pause ends at its time, and saved tokens are lost")
  func pause() {
    var bucket = TokenBucket(rate: 2, at: start)
    bucket.pause(until: at(5000))
    let taken = [4999, 5000, 5000, 5000].map { bucket.take(at: at($0)) }
    #expect(taken == [false, true, true, false])
  }

  @Test("Waits double from half a second to a minute, and half of each is random")
  func backoff() {
    func waits(_ random: (ClosedRange<Int64>) -> Int64) -> [Int64] {
      [1, 2, 7, 20].map { Backoff.wait(after: $0, retryAfter: nil, using: random) }
    }
    #expect(waits(\.lowerBound) == [500, 1000, 30_000, 30_000])
    #expect(waits(\.upperBound) == [1000, 2000, 60_000, 60_000])
  }

  @Test("The server's Retry-After is the minimum, up to a quarter of an hour")
  func retryAfter() {
    #expect(Backoff.wait(after: 1, retryAfter: 7, using: \.lowerBound) == 7000)
    #expect(Backoff.wait(after: 7, retryAfter: 7, using: \.lowerBound) == 30_000)
    #expect(Backoff.wait(after: 1, retryAfter: .max, using: \.lowerBound) == 900_000)
  }
}
