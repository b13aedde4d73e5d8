public import Domain

/// Months of which a report by day can differ from what the run before published.
///
/// A row changes when its cell does, or when the delivery window of its day passes; in the same
/// ledger, by the same rules, nothing else goes into it.
public struct ChangedMonths: Sendable {
  /// The first day of each that may differ.
  private var first: [Month: Day] = [:]

  /// - Parameters:
  ///   - days: days whose cells changed since the run before.
  ///   - former: the rules of that run, with its as-of and watermarks.
  ///   - now: the rules of this one.
  public init(_ days: some Sequence<Day>, from former: FoldSettings, to now: FoldSettings) {
    for day in days { add(day) }
    let feeds = Set(former.watermarks.keys).union(now.watermarks.keys)
    for feed in feeds { add(Horizon(of: feed, by: former), Horizon(of: feed, by: now), now) }
    for provider in Provider.allCases {
      let silent = Feed(provider: provider, app: .max)
      add(Horizon(of: silent, by: former), Horizon(of: silent, by: now), now)
    }
  }

  /// Whether rows of `month` may differ.
  public func contains(_ month: Month) -> Bool { first[month] != nil }

  /// The first day of `month` whose rows may differ; nil when none can.
  public func firstOpenDay(of month: Month) -> Day? { first[month] }

  private mutating func add(_ day: Day) {
    first[day.month] = min(day, first[day.month] ?? day)
  }

  /// Adds the days between two ends of what is complete.
  private mutating func add(_ one: Horizon, _ other: Horizon, _ rules: FoldSettings) {
    let ends = [one, other].map { rules.calendar.day(of: $0.booked) }.sorted()
    add(ends[0])
    for number in ends[0].month.number..<ends[1].month.number {
      add(Month(number: number + 1).firstDay)
    }
  }
}
