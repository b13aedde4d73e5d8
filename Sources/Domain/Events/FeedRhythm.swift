/// What a feed's hours with deliveries show: how far the feed reaches, when it began, and how long
/// it may deliver nothing.
///
/// Hours are added in order; memory is bounded by the hours of 60 days.
public struct FeedRhythm: Sendable {
  private var last: Instant?
  private let asOf: Instant
  private var first: Instant?
  private var hours: Int64 = 0
  /// The longest gap after the second hour.
  private var longestLater = Interval.seconds(0)
  /// The same without the latest gap.
  private var longestBefore = Interval.seconds(0)
  /// Gaps that can separate isolated hours from the feed, each with the number of hours before it.
  private var separatingGaps: [(hours: Int64, silence: Interval, start: Instant, end: Instant)] = []
  /// Gaps that ended in the last 60 days, oldest first.
  private var recent: [(end: Instant, silence: Interval)] = []

  /// The allowed gap of a feed whose past gaps are shorter.
  public static let gapLeast = Interval.hours(48)
  /// The upper bound of the learned gap, unless the feed had a longer one.
  private static let gapMost = Interval.days(14)
  private static let span = Interval.days(60)

  /// The feed as known at `asOf`: later arrivals are ignored.
  public init(asOf: Instant) { self.asOf = asOf }

  /// Adds the first and the last arrival of the next hour.
  public mutating func add(first: Instant, last: Instant) {
    guard first <= asOf else { return }
    if let previous = self.last { add(from: previous, until: first) }
    self.last = last <= asOf ? last : first
    self.first = self.first ?? first
    hours += 1
  }

  private mutating func add(from start: Instant, until end: Instant) {
    let silence = end.since(start)
    longestBefore = longestLater
    if hours > 1 { longestLater = max(longestLater, silence) }
    if silence >= Self.span { separatingGaps.append((hours, silence, start, end)) }
    recent.append((end, silence))
    // Removes old gaps rarely, so that each call costs next to nothing.
    guard recent.count > 4096 else { return }
    recent.removeAll { $0.end < end - Self.span }
  }

  /// When the feed began: its first arrival.
  ///
  /// Hours before a gap of 60 days are ignored if they are at most a thousandth of all hours. In a
  /// feed of more than ten hours, a single hour is also ignored if it is a year before the rest and
  /// the gap is ten times the longest gap of the rest.
  public var begin: Instant? {
    let longest = endWithoutTail == nil ? longestLater : longestBefore
    return separatingGaps.last { isIsolated($0.hours, beside: $0.silence, longest) }?.end ?? first
  }

  /// How far the feed reaches: its newest arrival not after as-of; nil before the first one.
  ///
  /// Isolated hours after a gap are ignored like those before one.
  public var newest: Instant? { endWithoutTail ?? last }

  /// The arrival before the isolated hours at the end of the feed; nil if there are none.
  private var endWithoutTail: Instant? {
    separatingGaps.first { isIsolated(hours - $0.hours, beside: $0.silence, longestBefore) }?.start
  }

  /// Whether `few` hours beyond `silence` are not part of a feed whose longest other gap is
  /// `other`.
  private func isIsolated(_ few: Int64, beside silence: Interval, _ other: Interval) -> Bool {
    few * 1000 <= hours
      || few == 1 && hours > 10 && silence >= .days(365)
        && silence.milliseconds / 10 >= other.milliseconds
  }

  /// The time before which an arrival is not part of the feed; nil if all arrivals are.
  public var trustedFrom: Instant? { begin == first ? nil : begin }

  /// How long the feed may deliver nothing: three times its longest gap in the last 60 days, at
  /// least 48 hours, at most 14 days or that gap itself.
  ///
  /// Of ten or more gaps, the longest hundredth is left out, so that one outage excuses no other.
  public var gapMax: Interval {
    guard let newest else { return Self.gapLeast }
    let silences = recent.filter { $0.end >= newest - Self.span && $0.end <= newest }
      .map(\.silence).sorted()
    let kept = silences.dropLast(silences.count < 10 ? 0 : (silences.count + 99) / 100)
    let longest = kept.last ?? .seconds(0)
    return max(
      Self.gapLeast,
      min(Interval(milliseconds: longest.milliseconds * 3), max(Self.gapMost, longest)))
  }
}
