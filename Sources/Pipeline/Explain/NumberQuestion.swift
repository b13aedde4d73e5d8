import Reports
import Domain

struct NumberQuestion {
  struct Key {
    var column: String
    /// The index of the column in the report.
    var place: Int
    /// The value as typed: as reports print it, or as it was received.
    let text: String

    /// Whether a text, as it was received, is the requested one.
    func fits(_ value: String) -> Bool {
      let isEscaped = text.hasPrefix("'") || text.contains("\\")
      return value.isExactly(text) || isEscaped && cellText(value).isExactly(text)
    }

    /// Whether a printed cell is the requested one.
    func fits(printed value: String) -> Bool {
      value.isExactly(text) || value.isExactly(cellText(text))
    }
  }

  let report: NumberReport
  let columns: [ReportColumn]
  let keys: [Key]
  /// The key with the time, and its number: a month, a day or months since the cohort's month.
  let time: (key: Key, number: Int32)?
  /// The places of the requested columns.
  let asked: [Int]
  /// The columns whose events are listed: the requested ones, or those of which a rate consists.
  let listed: Set<String>

  /// Checks names and forms; words that exist only in events are checked by `check(in:)`.
  ///
  /// - Throws: `SubledgerError` of kind `usage` that lists the names.
  init(
    report name: String, keys given: [String: String], column: String?
  ) throws {
    guard let report = NumberReport(rawValue: name), let columns = reportColumns(name) else {
      let hint =
        name == "summary_monthly"
        ? "its rows are sums of other reports' rows: ask for \(summarySources(of: column))"
        : "there are \(NumberReport.allCases.map(\.rawValue).joined(separator: ", "))"
      throw SubledgerError(
        .usage, "no report named \(name.escaped) has numbers to explain", hint: hint)
    }
    self.report = report
    self.columns = columns
    var keys: [Key] = []
    var time: (key: Key, number: Int32)?
    for (name, text) in given.sorted(by: { $0.key < $1.key }) {
      guard let place = columns.firstIndex(where: { $0.name == name && $0.isKey }) else {
        let known = columns.filter(\.isKey).map(\.name).joined(separator: ", ")
        throw SubledgerError(
          .usage, "\(report.rawValue) has no key column \(name.escaped)",
          hint: "its keys are \(known)")
      }
      let key = Key(column: name, place: place, text: text)
      try Self.check(key)
      if name == report.timeColumn {
        time = (key, try Self.number(of: key, in: report))
      } else {
        keys.append(key)
      }
    }
    self.keys = keys
    self.time = time
    let measures = columns.indices.filter {
      !columns[$0].isKey && ["integer", "number"].contains(columns[$0].type)
    }
    asked = column == nil ? measures : measures.filter { columns[$0].name == column }
    guard !asked.isEmpty else {
      throw SubledgerError(
        .usage, "\(report.rawValue) has no measure \((column ?? "").escaped)",
        hint: "its measures are \(measures.map { columns[$0].name }.joined(separator: ", "))")
    }
    listed = Set(
      asked.map { columns[$0].name }.flatMap { measure in
        guard case .ratio(let part, let whole) = report.formula(of: measure) else {
          return [measure]
        }
        return part.map(\.column) + whole
      })
  }

  private static func check(_ key: Key) throws {
    guard let known = columnWords(key.column), !known.isEmpty, !known.contains(key.text) else {
      return
    }
    throw SubledgerError(
      .usage, "\(key.column) is never \(key.text.escaped)",
      hint: "it is one of \(known.joined(separator: ", "))")
  }

  private static func number(
    of key: Key, in report: NumberReport
  ) throws -> Int32 {
    let isMonth = !report.isDaily
    if report == .retentionMonthly {
      if let number = Int32(key.text), number >= 0 { return number }
    } else if let instant = CivilCalendar.utc.instant(isMonth ? "\(key.text)-01" : key.text) {
      let day = CivilCalendar.utc.day(of: instant)
      return isMonth ? day.month.number : day.number
    }
    let form = report == .retentionMonthly ? "3" : isMonth ? "2026-10" : "2026-10-31"
    throw SubledgerError(
      .usage, "\(key.column) cannot be \(key.text.escaped)",
      hint: "write it like \(form)")
  }

  func fits(_ row: CSVRow) -> Bool {
    keys.allSatisfy { $0.fits(printed: row[$0.place]) }
      && (time.map { $0.key.fits(printed: row[$0.key.place]) } ?? true)
  }

  /// Whether a cell is in a row with the requested keys, except for the time.
  func fits(_ cell: ContributionKeys) -> Bool {
    keys.allSatisfy { key in cell.texts[key.column].map { key.fits($0) } ?? true }
  }

  /// Whether the ledger has an event for everything that the column counts.
  func hasEvents(_ column: String) -> Bool {
    report != .deliveriesDaily || column == "out_of_order" || column == "late"
  }

  func column(_ name: String) -> ReportColumn? { columns.first { $0.name == name } }

  /// Explains why the numbers of a column do not add up over so many rows, and which keys are
  /// missing; nil when they add up.
  func refusal(of column: ReportColumn, rows: Int) -> (reason: String, keys: String)? {
    let addition = column.addition
    guard rows > 1, addition == .none || addition == .atOneTime && time == nil else { return nil }
    let given = Set((keys + [time?.key].compactMap(\.self)).map(\.column))
    let open =
      addition == .none
      ? columns.filter { $0.isKey && !given.contains($0.name) }.map(\.name)
      : [report.timeColumn]
    return (
      "\(column.name) does not add up over \(rows) rows", "give \(open.joined(separator: ", "))"
    )
  }

  /// Returns a contribution as the report prints such numbers; empty when unknown.
  func text(_ part: ColumnContribution) -> String {
    let isAmount = column(part.column)?.isAmount ?? false
    return part.isUnknown ? "" : numberText(Int128(part.value), isAmount: isAmount)
  }
}

extension ReportColumn {
  /// Whether it holds amounts or shares, which reports print with decimals.
  var isAmount: Bool { type == "number" }
}

/// Returns the text of a count, or of millionths as reports print amounts.
func numberText(_ value: Int128, isAmount: Bool) -> String {
  isAmount ? amountText(value) : "\(value)"
}
