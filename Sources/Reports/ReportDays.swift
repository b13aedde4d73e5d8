internal import EventStore
public import Domain

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

  /// All days but those whose rows are there already: of whole files, or at the beginning of one.
  static func toWrite(of layout: ReportDefinition, _ plan: ReportPlan) -> [DateRange] {
    var standing: [Month: (rows: StandingRows, sums: [Int128])] = [:]
    for (path, rows) in plan.standing {
      guard let file = DailyFile(path), file.report == layout.name else { continue }
      standing[file.month] = rows.sums(of: layout.columns).map { (rows, $0) }
    }
    let carried = plan.carried.keys.compactMap(DailyFile.init).filter { $0.report == layout.name }
    var stretches: [DateRange] = []
    var next = all.first
    for month in (carried.map(\.month) + standing.keys).sorted() {
      if next < month.firstDay {
        let days = ReportDays(first: next, last: month.firstDay.before)
        stretches.append(DateRange(arguments: days.arguments))
      }
      next = month.next.firstDay
      if let standing = standing[month] {
        let days = ReportDays(first: Day(number: standing.rows.until), last: next.before)
        stretches.append(DateRange(arguments: days.arguments, standing: standing))
      }
    }
    let rest = ReportDays(first: next, last: all.last)
    return stretches + [DateRange(arguments: rest.arguments)]
  }
}

/// What a query is asked for at once.
struct DateRange {
  let arguments: [LedgerValue]
  /// The rows that come first in the same file and need not be made again, with what the columns of
  /// the file that they stand in add up to.
  var standing: (rows: StandingRows, sums: [Int128])?
}

extension Day {
  var before: Day { Day(number: number - 1) }
}

/// A file of a report by day, which tells of one month.
public struct DailyFile: Sendable, Hashable {
  /// The name of the report of revenue.
  public static let revenue = ReportDefinition.revenueDaily.name
  /// The name of the report of deliveries.
  public static let deliveries = ReportDefinition.deliveriesDaily.name

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
