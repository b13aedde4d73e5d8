public import Domain

/// Up to which month the rows of a report are those that the run before published.
///
/// A row changes when a cell of its month, or one of an earlier month that a running sum comes
/// from, does; when its month becomes complete, or is so no longer; and while as-of lies in its
/// month. In the same ledger, by the same rules, nothing else goes into it.
public struct StandingMonths: Sendable {
  private var first: [String: Month] = [:]

  /// - Parameters:
  ///   - change: what the night adds to the cells.
  ///   - former: the rules of the run before, with its as-of and watermarks.
  ///   - now: the rules of this one.
  public init(_ change: Facts, from former: FoldSettings, to now: FoldSettings) {
    var open = former.calendar.month(of: former.asOf - Interval(milliseconds: 1))
    let strangers = Provider.allCases.map { Feed(provider: $0, app: .max) }
    for feed in Set(former.watermarks.keys).union(now.watermarks.keys).union(strangers) {
      open = min(open, Self.firstFlip(of: feed, former, now))
    }
    func first(_ months: some Sequence<Month>) -> Month { min(open, months.min() ?? open) }
    // What is as it was stands in the difference with nothing.
    let moved = first(change.movements.lazy.filter { $0.value != MovementSums() }.map(\.key.month))
    self.first = [
      ReportDefinition.revenueMonthly.name: first(
        change.revenue.lazy.filter { $0.value != RevenueSums() }.map(\.key.day.month)),
      ReportDefinition.renewalsMonthly.name: first(
        change.renewals.lazy.filter { $0.value != RenewalSums() }.map(\.key.month)),
      ReportDefinition.trialsMonthly.name: first(
        change.trials.lazy.filter { $0.value != TrialSums() }.map(\.key.day.month)),
      ReportDefinition.churnMonthly.name: moved, ReportDefinition.mrrMonthly.name: moved,
    ]
  }

  /// The reports that have such months.
  public var reports: [String] { first.keys.sorted() }

  /// The first month of which rows of `report` may differ; nil when any may.
  public func firstOpenMonth(of report: String) -> Month? { first[report] }

  /// The first month whose rows say otherwise whether they are complete; a late one if none does.
  private static func firstFlip(of feed: Feed, _ former: FoldSettings, _ now: FoldSettings) -> Month
  {
    let (then, today) = (Horizon(of: feed, by: former), Horizon(of: feed, by: now))
    var first = now.calendar.month(of: now.asOf)
    for (one, other) in [
      (then.booked, today.booked), (then.settled, today.settled), (then.ended, today.ended),
    ] {
      let ends = [one, other].map(now.calendar.month(of:))
      if ends[0] != ends[1] { first = min(first, ends[0], ends[1]) }
    }
    return first
  }
}

/// Rows that need not be made again, because they stand in a file of the set before, whose rows
/// come by month or by day.
public struct StandingRows: Sendable {
  /// The file, whose bytes are known to be those that were published: RFC 4180, amounts exact.
  public let path: String
  /// The rows from this month or day on, by its number, are made anew.
  let until: Int32
  /// What the columns of the whole file add up to as printed, by name.
  let totals: [String: String]

  /// The rows of the months before `until` of the file at `path`, whose columns add up to `totals`.
  public init(path: String, until: Month, totals: [String: String]) {
    self.path = path
    self.until = until.number
    self.totals = totals
  }

  /// The rows of the days before `until` of the file at `path`, whose columns add up to `totals`.
  public init(path: String, until: Day, totals: [String: String]) {
    self.path = path
    self.until = until.number
    self.totals = totals
  }
}

extension StandingRows {
  /// What the columns of the whole file add up to; nil when a sum is missing.
  func sums(of columns: [Column]) -> [Int128]? {
    var sums: [Int128] = []
    for column in columns {
      switch column.format {
      case .integer where !column.isKey, .amount where !column.isKey:
        guard let sum = totals[column.name].flatMap(PrintedNumber.micros) else { return nil }
        sums.append(column.format.units(sum))
      default: sums.append(0)
      }
    }
    return sums
  }
}
