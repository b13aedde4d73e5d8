internal import EventStore
internal import Domain

/// Prints the cells of rows.
struct RowPrinter {
  let formats: [CellFormat]
  private let lexicon: Labels
  /// The last day or month that was printed; many rows follow each other in one.
  private var date: (number: Int64, cell: [UInt8]) = (.min, [])

  init(_ formats: [CellFormat], lexicon: Labels) {
    self.formats = formats
    self.lexicon = lexicon
  }

  /// Adds the cells of a row of a query; amounts are rounded to `decimals`, without it exact.
  mutating func add(
    _ row: LedgerRow, decimals: Int?, to line: inout CSVLine
  ) throws(ReportError) {
    var value = 0
    for format in formats {
      if row.isNull(value) {
        line.addNothing()
      } else {
        switch format {
        case .text: line.add(text: row.text(value))
        case .printed: line.add(printed: row.text(value))
        case .name: line.add(name: row.text(value))
        default:
          let whole = format.width > 1 ? row.int64(value + 1) : 0
          try add(row.int64(value), over: whole, as: format, decimals: decimals, to: &line)
        }
      }
      value += format.width
    }
  }

  /// Adds the cells of a row of numbers.
  mutating func add(
    _ row: Int, of period: PeriodRows, decimals: Int?, to line: inout CSVLine
  ) throws(ReportError) {
    var value = 0
    for format in formats {
      if let number = period.value(row, value) {
        let whole = format.width > 1 ? period.value(row, value + 1) ?? 0 : 0
        try add(number, over: whole, as: format, decimals: decimals, to: &line)
      } else {
        line.addNothing()
      }
      value += format.width
    }
  }

  /// Adds a number; `whole` is what a ratio divides by.
  @inline(__always)
  mutating func add(
    _ number: Int64, over whole: Int64, as format: CellFormat, decimals: Int?,
    to line: inout CSVLine
  ) throws(ReportError) {
    switch format {
    case .text, .printed, .name: break
    case .word(let part): line.add(cell: try lexicon.cell(number, part))
    case .integer, .number: line.add(number)
    case .amount:
      line.add(micros: rounded(number, decimals: decimals), decimals: min(2, decimals ?? 2))
    case .percent: line.add(micros: number, decimals: 0)
    case .ratio where whole == 0: line.addNothing()
    case .ratio: line.add(micros: rateMillionths(number, over: whole), decimals: 6)
    case .month: add(date: number, to: &line) { Month(number: $0).text }
    case .day: add(date: number, to: &line) { Day(number: $0).text }
    case .instant: line.add(plain: Instant(milliseconds: number).text)
    case .wholeDays: line.add(number / Interval.day.milliseconds)
    case .wholeHours: line.add(number / Interval.hour.milliseconds)
    case .latency: line.add(LatencyBucket.seconds(number))
    case .flag: line.add(plain: number == 0 ? "false" : "true")
    }
  }

  private mutating func add(
    date number: Int64, to line: inout CSVLine, _ text: (Int32) -> String
  ) {
    if date.number != number {
      date = (number, Array(text(Int32(truncatingIfNeeded: number)).utf8))
    }
    line.add(cell: date.cell)
  }
}

/// Millionths rounded half to even to `decimals` (0–6); as they are without.
func rounded(_ micros: Int64, decimals: Int?) -> Int64 {
  guard let decimals, decimals < 6 else { return micros }
  var unit: Int128 = 1
  for _ in decimals..<6 { unit *= 10 }
  return Int64(clamping: Int128(micros).dividedHalfToEven(by: unit) * unit)
}
