import Domain

/// Limits requests to a rate per second, and stops them while a server asks to wait.
struct TokenBucket {
  private let rate: Int64
  /// In thousandths of a request, at most those of one second.
  private var tokens: Int64 = 1000
  private var filledAt: Instant
  private var quietUntil: Instant?

  /// A bucket with one token at `now` that gains `rate` tokens per second.
  init(rate: Int, at now: Instant) {
    self.rate = Int64(rate)
    filledAt = now
  }

  /// Takes a token; returns false if there is none at `now`.
  mutating func take(at now: Instant) -> Bool {
    // A clock set back adds no tokens; one set ahead, at most those of one second.
    let passed = min(max(0, now.since(filledAt).milliseconds), 1000)
    tokens = min(tokens + passed * rate, max(1000, rate * 1000))
    filledAt = now
    guard tokens >= 1000, quietUntil.map({ Backoff.isOver($0, at: now) }) ?? true else {
      return false
    }
    tokens -= 1000
    return true
  }

  /// Stops all requests until `instant`, and discards saved tokens.
  mutating func pause(until instant: Instant) {
    quietUntil = max(quietUntil ?? instant, instant)
    tokens = 0
  }
}

/// How long to wait before a request is repeated.
enum Backoff {
  /// The longest wait in milliseconds, also if a server asks for more.
  static let longest: Int64 = 15 * 60_000

  /// The wait in milliseconds after `attempts` failed attempts (from 1): it doubles up to a minute,
  /// and half of it is random, so that requests do not return all at once.
  ///
  /// The server's `Retry-After` is the minimum.
  static func wait(
    after attempts: Int, retryAfter seconds: Int?,
    using random: (ClosedRange<Int64>) -> Int64 = { Int64.random(in: $0) }
  ) -> Int64 {
    let whole = min(60_000, Int64(500) << Int64(min(attempts, 8)))
    let wished = Int64(min(seconds ?? 0, Int(longest / 1000))) * 1000
    return max(whole / 2, wished) + random(0...whole / 2)
  }

  /// Whether a wait until `end` is over at `now`, also if the clock was set back.
  static func isOver(_ end: Instant, at now: Instant) -> Bool {
    now >= end || end.since(now).milliseconds > 2 * longest
  }
}
