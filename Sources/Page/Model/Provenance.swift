// From which cells of the set a number on the page is made, in attributes that a program can read:
// `data-file="churn_monthly" data-sum="lost" data-where="period=2026-01"`.
internal import Domain
internal import Reports

/// How a number follows from the cells of a report's rows.
enum Measure: Hashable {
  /// The sum of a column; nothing is unknown only when all of it is.
  case sum(String)
  /// The sum of one column over that of another, or of several joined by `+`, rounded to a
  /// millionth.
  case rate(String, over: String)
  /// The greatest value of a column.
  case max(String)

  var columns: [String] {
    switch self {
    case .sum(let column), .max(let column): [column]
    case .rate(let part, let whole): [part] + whole.split(separator: "+").map(String.init)
    }
  }

  var attribute: String {
    switch self {
    case .sum(let column): " data-sum=\"\(column)\""
    case .rate(let part, let whole): " data-rate=\"\(part)/\(whole)\""
    case .max(let column): " data-max=\"\(column)\""
    }
  }
}

/// Rows of a report: those in which each named column has one of some values, or none of them.
struct RowFilter: Hashable {
  struct Condition: Hashable {
    let column: String
    let values: [String]
    let isExcluded: Bool
  }

  private(set) var conditions: [Condition] = []
  private static let signs: [Unicode.Scalar: String] = [
    "%": "%25", ";": "%3B", "|": "%7C", "=": "%3D",
  ]

  init() {}

  init(_ column: String, _ values: String...) {
    conditions = [Condition(column: column, values: values, isExcluded: false)]
  }

  init(_ column: String, noneOf values: [String]) {
    conditions = [Condition(column: column, values: values, isExcluded: true)]
  }

  /// The rows among these in which another column has a value.
  func and(_ column: String, _ value: String) -> RowFilter {
    var filter = self
    filter.conditions += RowFilter(column, value).conditions
    return filter
  }

  /// The HTML attribute `name`; nothing for all rows.
  ///
  /// In a value `%25`, `%3B`, `%7C` and `%3D` are signs of the filter itself.
  func attribute(_ name: String = "data-where") -> String {
    if conditions.isEmpty { return "" }
    let text = conditions.map { condition in
      let values = condition.values.map { replacing(Self.signs, in: $0) }
        .joined(separator: "|")
      return "\(condition.column)\(condition.isExcluded ? "!=" : "=")\(values)"
    }
    return " \(name)=\"\(asHTML(text.joined(separator: ";")))\""
  }
}

/// A column of a report that the page shows.
struct Source: Hashable {
  let report: String
  let column: String

  /// The name of the definition on the page.
  var anchor: String { "def-\(report)-\(column)" }
}

/// How a column is counted, in the set's own words.
struct Definition {
  let anchor: String
  let report: String
  let column: String
  let description: String
  let unit: String?
  /// The file, or of a report by month the last one.
  let path: String
}

/// Text from outside as HTML: nothing in it is markup, and every character can be seen.
func asHTML(_ text: String) -> String {
  let shown = text.escaped
  guard shown.utf8.contains(where: { "<>&\"'".utf8.contains($0) }) else { return shown }
  return replacing(
    ["<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;", "'": "&#39;"], in: shown)
}

/// A text in which some signs are written otherwise, also before combining ones.
private func replacing(_ signs: [Unicode.Scalar: String], in text: String) -> String {
  text.unicodeScalars.map { signs[$0] ?? String($0) }.joined()
}

extension Cube {
  /// The sums of some of the rows.
  func filtered(_ filter: RowFilter) -> Cube {
    filter.conditions.reduce(self) { cube, condition in
      cube.filtered(condition.column) { condition.values.contains($0) != condition.isExcluded }
    }
  }

  /// A measure of the rows with these values; a rate is nil when its whole is zero, or its part
  /// unknown.
  func value(_ measure: Measure, _ key: String...) -> Int128? {
    let sums = measure.columns.map { sum($0, key) }
    guard case .rate = measure else { return sums[0] }
    let whole = sums.dropFirst().compactMap(\.self).reduce(0, +)
    guard let part = sums[0], whole > 0 else { return nil }
    return (part * 1_000_000).dividedHalfToEven(by: whole)
  }
}
