/// When a provider tries again to deliver a message that was not taken.
///
/// No envelope contains the number of an attempt, so it is inferred from the delay between creation
/// and receipt. A retry can come a sixtieth of its delay too early (clocks differ) and an eighth of
/// it, at least 10 minutes, too late (queues); the first attempt can come up to 2 minutes late. A
/// time within the ranges of two attempts belongs to the later one.
public struct RetrySchedule: Sendable, Hashable {
  /// Seconds from the making of a message to its attempts; the first is 0, each more than the last.
  public let delays: [Int64]
  /// The first second of each attempt's stretch.
  private let starts: [Int64]
  /// The second after each attempt's stretch.
  private let ends: [Int64]

  /// A first attempt, and retries so many seconds after it; nil unless each is later than the one
  /// before it.
  public init?(retriesAfter seconds: [Int64]) {
    guard zip([0] + seconds, seconds).allSatisfy({ $0 < $1 }) else { return nil }
    self.init(ascending: seconds)
  }

  private init(ascending seconds: [Int64]) {
    delays = [0] + seconds
    starts = [-Self.firstTolerance] + seconds.map { $0 - $0 / 60 }
    let tolerated = [Self.firstTolerance] + seconds.map { $0 + max(600, $0 / 8) }
    var ends = tolerated
    for index in starts.indices.dropLast() {
      ends[index] = min(tolerated[index], starts[index + 1])
    }
    self.ends = ends
  }

  /// Qonversion's first attempt comes 20–120 s after the event.
  private static let firstTolerance: Int64 = 120

  /// A first attempt and no retry that anybody published.
  public static let firstOnly = RetrySchedule(ascending: [])

  /// How late a message can still come: the last retry and its tolerance, in full five minutes.
  ///
  /// Where no retry is published, it is as long as Qonversion's.
  public var deliveryWindow: Interval {
    guard delays.count > 1, let end = ends.last else { return .hours(27) }
    return .minutes((end + 299) / 300 * 5)
  }

  /// The number of the attempt, from 1, that came `seconds` after the making of its message;
  /// nil when the schedule has none at that time.
  public func attempt(after seconds: Int64) -> Int? {
    var attempt = ends.count
    while attempt > 0 {
      if seconds >= starts[attempt - 1] { return seconds < ends[attempt - 1] ? attempt : nil }
      attempt -= 1
    }
    return nil
  }
}
