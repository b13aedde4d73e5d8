public import Domain
internal import EventStore
internal import Formats

/// A custom report: a query over the views, under a header that describes its columns.
///
/// ```
/// -- name: arpu_monthly
/// -- column: cohort yearmonth key Month of the first charge.
/// -- column: net_usd usd Net of the cohort.
/// select …
/// ```
public struct CustomReport: Sendable {
  /// The content of a column, and how the query returns it.
  enum Kind: String, CaseIterable {
    case string, integer, yearmonth, date, datetime, boolean
    /// US dollars, or the row's currency, in millionths.
    case usd, local
    /// Millionths of a percent.
    case percent
  }

  /// The name of the report, which is its file's name without `.csv`.
  public let name: String
  /// The header and the query.
  public let text: String
  let kinds: [Kind]
  let columns: [ReportColumn]

  /// Parses a report; `name` is its file's name.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` with the line.
  public init(_ text: String, named name: String) throws(SubledgerError) {
    self.name = name
    self.text = text
    guard name.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil else {
      throw Self.wrong(name, 0, "its name contains other characters than a-z, 0-9 and _")
    }
    guard !reportPaths.contains(where: { $0 == name || $0 == "\(name).csv" }) else {
      throw Self.wrong(name, 0, "a report of that name already exists")
    }
    var columns: [(kind: Kind, column: ReportColumn)] = []
    var isNamed = false
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    for (index, line) in lines.prefix(while: { $0.element.isEmpty || $0.element.hasPrefix("--") }) {
      // A key without a value is a comment.
      guard let found = line.wholeMatch(of: /-- *(name|column): (?=.) *(.*?) */) else { continue }
      guard found.1 == "column" else {
        guard found.2 == name else {
          throw Self.wrong(name, index + 1, "the name is not that of the file")
        }
        isNamed = true
        continue
      }
      guard let new = Self.column(found.2) else {
        throw Self.wrong(name, index + 1, "the column must be NAME TYPE [key] DESCRIPTION")
      }
      guard !columns.contains(where: { $0.column.name == new.column.name }) else {
        throw Self.wrong(name, index + 1, "there is a column \(new.column.name) already")
      }
      columns.append(new)
    }
    guard isNamed, columns.contains(where: \.column.isKey) else {
      throw Self.wrong(name, 1, "the header lacks the name, or a column that is a key")
    }
    kinds = columns.map(\.kind)
    self.columns = columns.map(\.column)
  }

  /// Parses a header line after `-- column:`; nil when it is invalid.
  private static func column(_ text: Substring) -> (kind: Kind, column: ReportColumn)? {
    let form = /([a-z][a-z0-9_]*) +([a-z]+) +(key +)?([^ ].*)/
    guard let (_, name, type, key, description) = text.wholeMatch(of: form)?.output,
      let kind = Kind(rawValue: String(type))
    else { return nil }
    let (format, unit, addition) = kind.layout
    let column = ReportColumn(
      name: String(name), format: format, unit: unit, description: String(description),
      isKey: key != nil, addition: key == nil ? addition : .none)
    return (kind, column)
  }

  static func wrong(_ name: String, _ line: Int, _ reason: String) -> SubledgerError {
    SubledgerError(
      .configuration,
      "cannot use the report \(name.shown()).sql\(line > 0 ? ", line \(line)" : ""): \(reason)",
      hint: "docs/sql.md shows such a file")
  }
}

extension CustomReport.Kind {
  /// How a column of this kind is printed and read.
  var layout: (format: CellFormat, unit: String?, addition: ColumnAddition) {
    switch self {
    case .string: (.text, nil, .none)
    case .integer: (.integer, nil, .sum)
    case .usd: (.amount, "USD", .sum)
    case .local: (.amount, "currency", .perCurrency)
    case .percent: (.percent, "percent", .none)
    case .yearmonth, .date, .datetime, .boolean: (.typed(rawValue), nil, .none)
    }
  }

  /// Whether a value that is not null is of this kind.
  func fits(_ value: LedgerValue) -> Bool {
    switch (self, value) {
    case (.string, .text), (.integer, .integer), (.usd, .integer), (.local, .integer),
      (.percent, .integer):
      true
    case (.yearmonth, .text(let text)): Month(text: text) != nil
    case (.date, .text(let text)):
      text.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil && InstantText.rfc3339(text) != nil
    case (.datetime, .text(let text)):
      text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil
        && InstantText.rfc3339(text) != nil
    case (.boolean, .text(let text)): text == "true" || text == "false"
    default: false
    }
  }
}
