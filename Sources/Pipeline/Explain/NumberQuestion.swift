import EventStore
import Reports
import Domain

/// The cells of a report to explain, checked.
struct NumberQuestion {
  /// A key that rows must have.
  struct Key {
    var column: KeyColumn
    /// The index of the column in the report.
    var place: Int
    /// As it was typed: as reports print it, or as it was received.
    let text: String
    /// The typed text as reports print it.
    let printed: String
    /// Whether the typed text can be the printed form of another text.
    let isEscaped: Bool

    init(column: KeyColumn, place: Int, text: String) {
      self.column = column
      self.place = place
      self.text = text
      printed = cellText(text)
      isEscaped = text.hasPrefix("'") || text.contains("\\")
    }

    /// Whether a text, as it was received, is the requested one.
    func fits(_ value: String) -> Bool {
      value.isExactly(text) || (isEscaped && cellText(value).isExactly(text))
    }

    /// Whether a printed cell is the one asked for.
    func fits(printed value: String) -> Bool {
      value.isExactly(text) || value.isExactly(printed)
    }
  }

  let report: NumberReport
  /// All columns of the report.
  let columns: [ReportColumn]
  /// Keys other than that of time.
  let keys: [Key]
  /// The key of time, and its number: a month, a day or months since a cohort's.
  let time: (key: Key, number: Int32)?
  /// The columns asked for.
  let asked: [ReportColumn]
  /// The columns whose events are listed: those asked for, or what a rate is made of.
  let listed: Set<String>

  /// Checks names and forms; words that came with events are checked by `check(in:)`.
  ///
  /// - Throws: `SubledgerError` of kind `usage` that lists the known names.
  init(
    report name: String, keys given: [String: String], column: String?
  ) throws(SubledgerError) {
    guard let report = NumberReport(rawValue: name), let columns = reportColumns(name) else {
      throw SubledgerError(
        .usage, "no report named \(name.escaped) has numbers to explain",
        hint: "there are \(NumberReport.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    self.report = report
    self.columns = columns
    var keys: [Key] = []
    var time: (key: Key, number: Int32)?
    for (name, text) in given.sorted(by: { $0.key < $1.key }) {
      guard let place = columns.firstIndex(where: { $0.name == name && $0.isKey }),
        let column = KeyColumn(rawValue: name)
      else {
        let known = columns.filter(\.isKey).map(\.name).joined(separator: ", ")
        throw SubledgerError(
          .usage, "\(report.rawValue) has no key column \(name.escaped)",
          hint: "its keys are \(known)")
      }
      let key = Key(column: column, place: place, text: text)
      try Self.check(key)
      if column == report.timeColumn {
        time = (key, try Self.number(of: key, in: report))
      } else {
        keys.append(key)
      }
    }
    self.keys = keys
    self.time = time
    let measures = columns.filter { !$0.isKey && ["integer", "number"].contains($0.type) }
    asked = column == nil ? measures : measures.filter { $0.name == column }
    guard !asked.isEmpty else {
      throw SubledgerError(
        .usage, "\(report.rawValue) has no measure \((column ?? "").escaped)",
        hint: "its measures are \(measures.map(\.name).joined(separator: ", "))")
    }
    listed = Set(
      asked.flatMap { measure in
        let parts = report.formula(of: measure.name)?.parts ?? []
        return parts.isEmpty ? [measure.name] : parts
      })
  }

  private static func check(_ key: Key) throws(SubledgerError) {
    guard let known = key.column.vocabulary, !known.contains(key.text) else { return }
    throw SubledgerError(
      .usage, "\(key.column.rawValue) is never \(key.text.escaped)",
      hint: "it is one of \(known.joined(separator: ", "))")
  }

  private static func number(
    of key: Key, in report: NumberReport
  ) throws(SubledgerError) -> Int32 {
    let isMonth = !report.isDaily
    if key.column == .periodIndex {
      if let number = Int32(key.text), number >= 0 { return number }
    } else if let instant = CivilCalendar.utc.instant(isMonth ? "\(key.text)-01" : key.text) {
      let day = CivilCalendar.utc.day(of: instant)
      return isMonth ? day.month.number : day.number
    }
    let form = key.column == .periodIndex ? "3" : isMonth ? "2026-10" : "2026-10-31"
    throw SubledgerError(
      .usage, "\(key.column.rawValue) cannot be \(key.text.escaped)",
      hint: "write it like \(form)")
  }

  /// Whether a printed row has the keys.
  func fits(_ row: [ReportValue]) -> Bool {
    keys.allSatisfy { $0.fits(printed: row[$0.place].text) }
      && (time.map { $0.key.fits(printed: row[$0.key.place].text) } ?? true)
  }

  /// Whether a share's cell is in a row with the keys other than that of time.
  func fits(_ share: ContributionKeys) -> Bool {
    keys.allSatisfy { key in share.text(key.column).map { key.fits($0) } ?? true }
  }
}
