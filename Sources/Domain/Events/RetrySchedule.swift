/// When a provider retries a message that was not accepted.
///
/// Envelopes do not contain the attempt number, so it is inferred from the delay between creation
/// and receipt. A retry can arrive a sixtieth of its delay early (clocks differ), or an eighth of
/// it, at least 10 minutes, late (queues); the first attempt can arrive up to 2 minutes late. A
/// time within the ranges of two attempts belongs to the later one.
public struct RetrySchedule: Sendable, Hashable {
  /// Seconds from a message's creation to each attempt, ascending; the first is 0.
  public let delays: [Int64]

  /// A first attempt, and retries at `seconds` after it; nil unless the seconds ascend.
  public init?(retriesAfter seconds: [Int64]) {
    guard zip([0] + seconds, seconds).allSatisfy({ $0 < $1 }) else { return nil }
    delays = [0] + seconds
  }

  /// Published delays, which ascend from 0.
  init(delays: [Int64]) { self.delays = delays }

  /// A first attempt without published retries.
  public static let firstOnly = RetrySchedule(delays: [0])

  /// The seconds from a message's creation in which the attempt at `delay` can arrive.
  private static func range(of delay: Int64) -> Range<Int64> {
    // Qonversion's first attempt arrives 20–120 s after the event.
    delay == 0 ? -120..<120 : delay - delay / 60..<delay + max(600, delay / 8)
  }

  /// How late a message can still arrive: the last retry and its tolerance, rounded up to five
  /// minutes.
  ///
  /// Where no retries are published, Qonversion's window is used.
  public var deliveryWindow: Interval {
    guard let last = delays.last, last > 0 else { return .hours(27) }
    return .minutes((Self.range(of: last).upperBound + 299) / 300 * 5)
  }

  /// The number of the attempt, from 1, that arrives `seconds` after the message was created; nil
  /// when no attempt fits that time.
  public func attempt(after seconds: Int64) -> Int? {
    delays.lastIndex { Self.range(of: $0).contains(seconds) }.map { $0 + 1 }
  }
}
