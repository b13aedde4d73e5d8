// The cells of the set that a number of the page is computed from, as machine-readable attributes:
// `data-file="churn_monthly" data-sum="lost" data-where="period=2026-01"`.
internal import Domain
internal import Reports

/// How a number is computed from the cells of a report's rows.
enum Measure: Hashable {
  /// The sum of a column; unknown only if every cell is.
  case sum(String)
  /// The sum of one column divided by that of another, or of several joined by `+`, rounded to a
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

/// Selects the rows of a report in which each named column has one of some values, or none of them.
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

  /// The selected rows in which another column has a value, too.
  func and(_ column: String, _ value: String) -> RowFilter {
    var filter = self
    filter.conditions += RowFilter(column, value).conditions
    return filter
  }

  /// The HTML attribute `name`; empty if all rows are selected.
  ///
  /// In a value, `%25`, `%3B`, `%7C` and `%3D` are escaped characters of the filter syntax.
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

  /// The id of the definition on the page.
  var anchor: String { "def-\(report)-\(column)" }
}

/// The text of a cell as HTML: it contains no markup, and every character is visible.
func asHTML(_ text: String) -> String {
  let shown = text.shown()
  guard shown.utf8.contains(where: { "<>&\"'".utf8.contains($0) }) else { return shown }
  return replacing(
    ["<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;", "'": "&#39;"], in: shown)
}

/// Replaces some characters, also before combining ones.
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

  /// A measure over the rows with these values; a rate is nil when its denominator is zero or its
  /// numerator unknown.
  func value(_ measure: Measure, _ key: String...) -> Int128? {
    let sums = measure.columns.map { sum($0, key) }
    guard case .rate = measure else { return sums[0] }
    let whole = sums.dropFirst().compactMap(\.self).reduce(0, +)
    guard let part = sums[0], whole > 0 else { return nil }
    return (part * 1_000_000).dividedHalfToEven(by: whole)
  }
}
