/// What the hours in which a feed delivered show: how far it reaches, when it began, and how long
/// it may be silent.
///
/// Hours are added in their order; memory is bounded by the hours of 60 days.
public struct FeedRhythm: Sendable {
  private var last: Instant?
  private let asOf: Instant
  private var first: Instant?
  private var hours: Int64 = 0
  /// The longest silence after the second hour.
  private var longestLater = Interval.seconds(0)
  /// The same without the last silence.
  private var longestBefore = Interval.seconds(0)
  /// Silences that can part lonely hours from the feed, and the hours before each.
  private var partings: [(hours: Int64, silence: Interval, start: Instant, end: Instant)] = []
  /// Silences that ended in the last 60 days, the oldest first.
  private var recent: [(end: Instant, silence: Interval)] = []

  /// The longest time for which a feed with a shorter past may be silent.
  public static let silenceLeast = Interval.hours(48)
  /// The longest that is learned, unless the feed was silent for longer.
  public static let silenceMost = Interval.days(14)
  private static let span = Interval.days(60)

  /// The feed as it is known at `asOf`: later arrivals are no part of it.
  public init(asOf: Instant) { self.asOf = asOf }

  /// Adds the first and the last arrival of the next hour.
  public mutating func add(first: Instant, last: Instant) {
    guard first <= asOf else { return }
    if let former = self.last { add(from: former, until: first) }
    self.last = last <= asOf ? last : first
    self.first = self.first ?? first
    hours += 1
  }

  private mutating func add(from start: Instant, until end: Instant) {
    let silence = end.since(start)
    longestBefore = longestLater
    if hours > 1 { longestLater = max(longestLater, silence) }
    if silence >= Self.span { partings.append((hours, silence, start, end)) }
    recent.append((end, silence))
    // Removed rarely, so that each costs as good as nothing.
    guard recent.count > 4096 else { return }
    recent.removeAll { $0.end < end - Self.span }
  }

  /// When the feed began: its first arrival.
  ///
  /// Hours before a silence of 60 days are left out if they are at most a thousandth of all; of
  /// more than ten hours also a single one, a year before the rest and ten times as far from it as
  /// the rest's longest silence.
  public var begin: Instant? {
    let longest = tailStart == nil ? longestLater : longestBefore
    return partings.last { isLonely($0.hours, beside: $0.silence, longest) }?.end ?? first
  }

  /// How far it reaches: its newest arrival not after as-of, lonely hours behind a silence left out
  /// like those before one; nil before the first.
  public var newest: Instant? { tailStart ?? last }

  /// The arrival before the lonely hours at its end; nil without any.
  private var tailStart: Instant? {
    partings.first { isLonely(hours - $0.hours, beside: $0.silence, longestBefore) }?.start
  }

  /// Whether so few hours beyond `silence` are no part of a feed that else was silent for `other`.
  private func isLonely(_ few: Int64, beside silence: Interval, _ other: Interval) -> Bool {
    few * 1000 <= hours
      || few == 1 && hours > 10 && silence >= .days(365)
        && silence.milliseconds / 10 >= other.milliseconds
  }

  /// Before when an arrival is no part of the feed; nil if all are late enough.
  public var clockBegin: Instant? { begin == first ? nil : begin }

  /// How long the feed may be silent: three times its longest silence in the last 60 days, at least
  /// 48 hours and at most 14 days or that silence itself.
  ///
  /// Of ten silences and more, the longest hundredth is left out, so that one outage excuses none.
  public var silenceMax: Interval {
    guard let newest else { return Self.silenceLeast }
    let silences = recent.filter { $0.end >= newest - Self.span && $0.end <= newest }
      .map(\.silence).sorted()
    let kept = silences.dropLast(silences.count < 10 ? 0 : (silences.count + 99) / 100)
    let longest = kept.last ?? .seconds(0)
    return max(
      Self.silenceLeast,
      min(Interval(milliseconds: longest.milliseconds * 3), max(Self.silenceMost, longest)))
  }
}
