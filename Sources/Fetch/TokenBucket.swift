public import Domain

/// Lets so many questions a second pass, and none while a server asks for quiet.
public struct TokenBucket: Sendable {
  private let rate: Int64
  /// In thousandths of a question; at most those of one second.
  private var tokens: Int64 = 1000
  private var filledAt: Instant
  private var quietUntil: Instant?

  /// A bucket with one token at `now` that gets `rate` a second.
  public init(rate: Int, at now: Instant) {
    self.rate = Int64(rate)
    filledAt = now
  }

  /// Takes a token; false if there is none at `now`.
  public mutating func take(at now: Instant) -> Bool {
    // A clock that was set back gives nothing, one that was set ahead no more than a second's.
    let passed = min(max(0, now.since(filledAt).milliseconds), 1000)
    tokens = min(tokens + passed * rate, max(1000, rate * 1000))
    filledAt = now
    guard tokens >= 1000, quietUntil.map({ Backoff.isOver($0, at: now) }) ?? true else {
      return false
    }
    tokens -= 1000
    return true
  }

  /// Gives none before `instant`, and none that were saved up.
  public mutating func pause(until instant: Instant) {
    quietUntil = max(quietUntil ?? instant, instant)
    tokens = 0
  }
}

/// How long to wait before a question is asked again.
public struct Backoff {
  /// The longest wait, also of those that a server asks for, in milliseconds.
  public static let longest: Int64 = 15 * 60_000

  /// The wait in milliseconds after so many failed attempts, from 1: twice as long each time up to
  /// a minute, of which a random half is spared, so that questions do not come back together.
  ///
  /// A server's own wish (`Retry-After`) is the least.
  public static func wait(
    after attempts: Int, retryAfter seconds: Int?,
    using random: (ClosedRange<Int64>) -> Int64 = { Int64.random(in: $0) }
  ) -> Int64 {
    let whole = min(60_000, Int64(500) << Int64(min(attempts, 8)))
    let wished = Int64(min(seconds ?? 0, Int(longest / 1000))) * 1000
    return max(whole / 2, wished) + random(0...whole / 2)
  }

  /// Whether a wait until `end` is over `now`; of a clock that was set back, too.
  static func isOver(_ end: Instant, at now: Instant) -> Bool {
    now >= end || end.since(now).milliseconds > 2 * longest
  }
}
