/// When a provider retries a message that was not accepted.
///
/// Envelopes do not contain the attempt number, so it is inferred from the delay between creation
/// and receipt. A retry can arrive a sixtieth of its delay early (clocks differ), or an eighth of
/// it, at least 10 minutes, late (queues); the first attempt can arrive up to 2 minutes late. A
/// time within the ranges of two attempts belongs to the later one.
public struct RetrySchedule: Sendable, Hashable {
  /// Seconds from a message's creation to each attempt, ascending; the first is 0.
  public let delays: [Int64]
  /// The first second of each attempt's range.
  private let starts: [Int64]
  /// The second after each attempt's range.
  private let ends: [Int64]

  /// A first attempt, and retries at `seconds` after it; nil unless the seconds ascend.
  public init?(retriesAfter seconds: [Int64]) {
    guard zip([0] + seconds, seconds).allSatisfy({ $0 < $1 }) else { return nil }
    self.init(ascending: seconds)
  }

  private init(ascending seconds: [Int64]) {
    delays = [0] + seconds
    starts = [-Self.firstTolerance] + seconds.map { $0 - $0 / 60 }
    ends = [Self.firstTolerance] + seconds.map { $0 + max(600, $0 / 8) }
  }

  /// Qonversion's first attempt arrives 20–120 s after the event.
  private static let firstTolerance: Int64 = 120

  /// A first attempt without published retries.
  public static let firstOnly = RetrySchedule(ascending: [])

  /// How late a message can still arrive: the last retry and its tolerance, rounded up to five
  /// minutes.
  ///
  /// Where no retries are published, Qonversion's window is used.
  public var deliveryWindow: Interval {
    guard delays.count > 1, let end = ends.last else { return .hours(27) }
    return .minutes((end + 299) / 300 * 5)
  }

  /// The number of the attempt, from 1, that arrives `seconds` after the message was created; nil
  /// when no attempt fits that time.
  public func attempt(after seconds: Int64) -> Int? {
    guard let last = starts.lastIndex(where: { $0 <= seconds }), seconds < ends[last] else {
      return nil
    }
    return last + 1
  }
}
