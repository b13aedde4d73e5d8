internal import Domain
internal import EventStore

/// How a value of a query is printed; null is always an empty cell: unknown, or absent.
enum CellFormat: Equatable {
  case text
  /// Text in its printed form, from the table `word`.
  case printed
  /// Text that was escaped when it was read: the name of an archive.
  case name
  /// Text of this Frictionless Table Schema type, printed unchanged.
  case typed(String)
  /// The number of a word, printed as the word.
  case word(Labels.Part)
  case integer
  /// A number that another report printed, as text.
  case numeral
  /// Millionths, printed with two to six decimals.
  case amount
  /// Millionths of a percent, printed without trailing zeros.
  case percent
  /// Numerator and denominator, printed as their ratio with six decimals; empty over 0.
  case ratio
  /// `year × 12 + month − 1`, printed as `2026-11`.
  case month
  /// Days since 1970-01-01, printed as `2026-11-20`.
  case day
  /// Milliseconds since the epoch, printed as RFC 3339.
  case instant
  /// A whole number that must not be summed.
  case number
  /// A bucket of the ledger's latency histogram, printed as its lower bound in seconds.
  case latency
  /// 0 or 1.
  case flag

  /// How many values of the query form the cell.
  var width: Int { if case .ratio = self { 2 } else { 1 } }

  /// The cell that begins at value `place` of a row; for a ratio, its millionths.
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

  /// A sum of such numbers as printed; nil for formats that do not add up.
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
    case .integer, .number, .latency: "integer"
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
