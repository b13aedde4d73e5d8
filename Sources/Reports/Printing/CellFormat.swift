internal import Domain
internal import EventStore

/// How a value of a query is printed.
///
/// Null is always printed as nothing: unknown, or absent.
enum CellFormat: Equatable {
  case text
  /// Text that the query has as it is printed: the table `word`.
  case printed
  /// Text that was escaped when it was read: the name of an archive.
  case name
  /// Text of this type of Frictionless Table Schema, printed as it is.
  case typed(String)
  /// The number of a word, printed as the word.
  case word(Labels.Part)
  case integer
  /// Text that is a number of another report.
  case numeral
  /// Millionths, printed with two to six decimals.
  case amount
  /// Millionths of a percent, printed without needless decimals.
  case percent
  /// Two values of the query, numerator and denominator, printed with six decimals; nothing when
  /// the denominator is 0.
  case ratio
  /// `year × 12 + month − 1`, printed as `2026-11`.
  case month
  /// Days since 1970-01-01, printed as `2026-11-20`.
  case day
  /// Milliseconds since the epoch, printed as RFC 3339.
  case instant
  /// Milliseconds, printed as whole days.
  case wholeDays
  /// Milliseconds, printed as whole hours.
  case wholeHours
  /// A whole number that makes no sense to sum up.
  case number
  /// A bucket of the ledger's latency histogram, printed as the bucket's least seconds.
  case latency
  /// 0 or 1.
  case flag

  /// How many values of the query make up the cell.
  var width: Int { if case .ratio = self { 2 } else { 1 } }

  /// The cell that begins at value `place` of a row; of a ratio, its millionths.
  @inline(__always)
  func cell(
    at place: Int, _ number: (Int) -> Int64?, text: (Int) -> String
  ) -> LedgerValue {
    guard let first = number(place) else { return .null }
    switch self {
    case .text, .printed, .name, .numeral, .typed: return .text(text(place))
    case .ratio:
      let whole = number(place + 1) ?? 0
      return whole == 0 ? .null : .integer(rateMillionths(first, over: whole))
    default: return .integer(first)
    }
  }

  /// A sum of such numbers as it is printed; nil where none is.
  func total(_ sum: Int128) -> String? {
    switch self {
    case .integer: String(sum)
    case .amount: amountText(sum)
    default: nil
    }
  }

  /// The type of Frictionless Table Schema, version 2.
  var type: String {
    switch self {
    case .typed(let type): type
    case .text, .printed, .name, .word, .numeral: "string"
    case .integer, .wholeDays, .wholeHours, .number, .latency: "integer"
    case .amount, .percent, .ratio: "number"
    case .month: "yearmonth"
    case .day: "date"
    case .instant: "datetime"
    case .flag: "boolean"
    }
  }
}

/// A rate in millionths, rounded half to even; `whole` is not 0.
public func rateMillionths(_ part: Int64, over whole: Int64) -> Int64 {
  let sign: Int128 = whole < 0 ? -1 : 1
  return Int64(
    clamping: (Int128(part) * sign * 1_000_000).dividedHalfToEven(by: Int128(whole) * sign))
}
