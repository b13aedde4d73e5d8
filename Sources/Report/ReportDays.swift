internal import Ledger
internal import Vocabulary

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
    let carried = plan.carried.keys.compactMap(dailyRevenueMonth).sorted()
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
