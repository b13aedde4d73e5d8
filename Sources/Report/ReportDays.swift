internal import Ledger
public import Vocabulary

/// Days, from the first to the last, that a query is to tell of.
struct ReportDays: Equatable {
  var first: Day
  var last: Day

  /// Whatever there is.
  static let all = ReportDays(first: Day(number: .min), last: Day(number: .max))

  /// What the query asks for.
  var arguments: [LedgerValue] {
    [.integer(Int64(first.number)), .integer(Int64(last.number))]
  }

  /// All days but those of the months whose files lie there already.
  static func toWrite(of layout: Layout, _ plan: ReportPlan) -> [ReportDays] {
    guard layout.takesDays else { return [.all] }
    let carried = plan.carried.keys.compactMap(DailyFile.init).filter { $0.report == layout.name }
      .map(\.month).sorted()
    var stretches: [ReportDays] = []
    var next = all.first
    for month in carried {
      if next < month.firstDay {
        stretches.append(
          ReportDays(first: next, last: Day(number: month.firstDay.number - 1)))
      }
      next = month.next.firstDay
    }
    return stretches + [ReportDays(first: next, last: all.last)]
  }
}

/// A file of a report by day, which tells of one month.
public struct DailyFile: Sendable, Hashable {
  /// The name of the report of revenue.
  public static let revenue = Layout.revenueDaily.name
  /// The name of the report of deliveries.
  public static let deliveries = Layout.deliveriesDaily.name

  /// The report's name, and the folder's.
  public let report: String
  /// The month of the file's days.
  public let month: Month

  /// Reads the path of such a file inside the set; nil for other files.
  public init?(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasSuffix(".csv"),
      let month = Month(text: String(parts[1].dropLast(4))),
      [Self.revenue, Self.deliveries].contains(String(parts[0]))
    else { return nil }
    (report, self.month) = (String(parts[0]), month)
  }
}
