internal import EventStore
internal import Domain

struct RowPrinter {
  private let labels: Labels
  /// The last printed day or month; consecutive rows often share it.
  private var date: (number: Int64, cell: [UInt8]) = (.min, [])

  init(_ labels: Labels) { self.labels = labels }

  /// Adds a cell; amounts are rounded to `decimals`, or exact if nil.
  @inline(__always)
  mutating func add(
    _ cell: LedgerValue, as format: CellFormat, decimals: Int? = nil, to line: inout CSVLine
  ) throws(SubledgerError) {
    switch cell {
    case .null: line.addNothing()
    case .integer(let number): try add(number, as: format, decimals: decimals, to: &line)
    case .text(let text):
      switch format {
      case .printed: line.add(printed: text)
      case .name: line.add(name: text)
      case .numeral: line.add(numeral: text)
      case .typed: line.add(plain: text)
      default: line.add(text: text)
      }
    }
  }

  @inline(__always)
  private mutating func add(
    _ number: Int64, as format: CellFormat, decimals: Int?, to line: inout CSVLine
  ) throws(SubledgerError) {
    switch format {
    case .text, .printed, .name, .numeral, .typed: break
    case .word(let part): try labels.add(number, part, to: &line)
    case .integer, .number: line.add(number)
    case .amount:
      line.add(micros: rounded(number, decimals: decimals), decimals: min(2, decimals ?? 2))
    case .percent: line.add(micros: number, decimals: 0)
    case .ratio: line.add(micros: number, decimals: 6)
    case .month: add(date: number, to: &line) { Month(number: $0).text }
    case .day: add(date: number, to: &line) { Day(number: $0).text }
    case .instant: line.add(Instant(milliseconds: number))
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
    line.add(cells: date.cell)
  }
}

/// Millionths rounded half to even to `decimals` (0–6); unchanged if nil.
func rounded(_ micros: Int64, decimals: Int?) -> Int64 {
  guard let decimals, decimals < 6 else { return micros }
  var unit: Int128 = 1
  for _ in decimals..<6 { unit *= 10 }
  return Int64(clamping: Int128(micros).dividedHalfToEven(by: unit) * unit)
}
