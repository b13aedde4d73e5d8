import Subscriptions
import Domain

/// In how many of the rows asked for a share counts.
struct RowSpan {
  /// The months, days or indices asked for; nil when the rows of all times are.
  private let number: Int32?
  private let report: NumberReport
  private let asOfMonth: Month
  /// The month of the last instant that the reports cover.
  private let lastMonth: Month

  init(_ question: NumberQuestion, _ rules: FoldSettings) {
    number = question.time?.number
    report = question.report
    asOfMonth = rules.calendar.month(of: rules.asOf)
    lastMonth = rules.calendar.month(of: rules.asOf - Interval(milliseconds: 1))
  }

  /// How often a share of `keys` counts in the rows asked for.
  func weight(_ span: ColumnContribution.Span, _ keys: ContributionKeys) -> Int64 {
    if case .retention(let key, _) = keys.cell { return weight(span, key) }
    guard report.timeColumn != nil, let day = keys.day else { return 1 }
    let own = report.isDaily ? day.number : day.month.number
    switch span {
    case .before: return count(from: own + 1, through: lastMonth.number)
    case .until: return count(from: own, through: lastMonth.number)
    case .during, .cohort, .cohortUntil: return number.map { $0 == own ? 1 : 0 } ?? 1
    }
  }

  private func weight(_ span: ColumnContribution.Span, _ key: RetentionKey) -> Int64 {
    let ended = asOfMonth.number - 1 - key.cohort.number
    switch span {
    case .cohort: return count(from: 0, through: ended)
    case .cohortUntil: return count(from: key.index, through: ended)
    default: return number.map { $0 == key.index ? 1 : 0 } ?? 1
    }
  }

  /// How many of the rows asked for have a time of at least `first` and at most `last`.
  private func count(from first: Int32, through last: Int32) -> Int64 {
    guard first <= last else { return 0 }
    guard let number else { return Int64(last) - Int64(first) + 1 }
    return (first...last).contains(number) ? 1 : 0
  }
}
