public import EventStore
public import Domain

/// One cell of a report, exact.
public enum ReportValue: Sendable, Equatable {
  /// Unknown, or absent.
  case nothing
  /// Words, dates and instants, as they are printed: words of others are escaped.
  case text(String)
  /// A count, or another whole number.
  case integer(Int64)
  /// Money.
  case amount(Amount)
  /// A rate: the part, and the whole, which is not 0.
  case ratio(Int64, Int64)

  /// The cell as the report prints it, without quotes.
  public var text: String {
    switch self {
    case .nothing: ""
    case .text(let text): text
    case .integer(let number): String(number)
    case .amount(let amount): amount.text()
    case .ratio(let part, let whole):
      Amount(micros: rateMillionths(part, over: whole)).text(decimalsMin: 6)
    }
  }
}

/// The columns of a report by the name of its file, or of its folder; nil when there is none.
public func reportColumns(_ report: String) -> [ReportColumn]? {
  layout(report)?.columns.map(\.shown)
}

/// Calls `body` at every row of a report as it comes of the ledger's cells, by period.
///
/// Tables in the temporary schema hide tables of the ledger with the same name. Throws
/// `SubledgerError`, and whatever `body` throws.
public func forEachRow(
  of report: String, from ledger: Ledger, plan: ReportPlan, _ body: ([ReportValue]) throws -> Void
) throws {
  guard let layout = layout(report), let query = layout.query else { return }
  let context = ReportContext(ledger: ledger, plan: plan)
  try context.prepare()
  try context.prepare(for: [layout])
  let lexicon = try Labels(of: ledger)
  let sql = String(decoding: query, as: UTF8.self)
  try ledger.rows(sql: sql) { row in
    var values: [ReportValue] = []
    var place = 0
    for column in layout.columns {
      try values.append(column.format.value(of: row, at: place, lexicon))
      place += column.format.width
    }
    try body(values)
  }
}

private func layout(_ name: String) -> ReportDefinition? {
  ReportPartition.allCases.flatMap(\.layouts).first { $0.name == name }
}

extension CellFormat {
  func value(
    of row: LedgerRow, at place: Int, _ lexicon: Labels
  ) throws(SubledgerError) -> ReportValue {
    if row.isNull(place) { return .nothing }
    let number = row.int64(place)
    switch self {
    case .text, .numeral: return .text(cellText(row.text(place)))
    case .printed, .typed: return .text(row.text(place))
    case .word(let part): return .text(try lexicon.entry(number, part).word)
    case .name: return .text(nameText(row.text(place)))
    case .integer, .number: return .integer(number)
    case .amount: return .amount(Amount(micros: number))
    case .percent: return .text(Amount(micros: number).text(decimalsMin: 0))
    case .ratio:
      let whole = row.int64(place + 1)
      return whole == 0 ? .nothing : .ratio(number, whole)
    case .month: return .text(Month(number: Int32(truncatingIfNeeded: number)).text)
    case .day: return .text(Day(number: Int32(truncatingIfNeeded: number)).text)
    case .instant: return .text(Instant(milliseconds: number).text)
    case .wholeDays: return .integer(number / Interval.day.milliseconds)
    case .wholeHours: return .integer(number / Interval.hour.milliseconds)
    case .latency: return .integer(LatencyBucket.seconds(number))
    case .flag: return .text(number == 0 ? "false" : "true")
    }
  }
}

/// A rate in millionths, rounded half to even; `whole` is not 0.
func rateMillionths(_ part: Int64, over whole: Int64) -> Int64 {
  let sign: Int128 = whole < 0 ? -1 : 1
  return Int64(
    clamping: (Int128(part) * sign * 1_000_000).dividedHalfToEven(by: Int128(whole) * sign))
}
