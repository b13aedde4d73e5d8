import Domain

/// The key of a row in a table of the truth.
protocol TruthRow: Hashable {
  static var columns: [String] { get }
  var key: [String] { get }
  /// What rows are sorted by: the key, with numbers padded.
  var sortKey: [String] { get }
}

extension TruthRow {
  var sortKey: [String] { key }
}

/// The expected report when nothing is lost: sums by row and column, in millionths where they are
/// money.
struct TruthTable<Row: TruthRow> {
  let name: String
  let measures: [String]
  /// How a sum is printed.
  var format: (Int64) -> String = { String($0) }
  private(set) var rows: [Row: [String: Int64]] = [:]

  /// Adds to a column, which may be one that only `cells` of `text` read.
  mutating func add(_ amount: Int64, to column: String, of row: Row) {
    rows[row, default: [:]][column, default: 0] += amount
  }

  /// The whole file.
  ///
  /// - Parameter cells: cells that are not the printed sum of their column.
  func text(_ cells: (Row, (String) -> Int64) -> [String: String]) -> String {
    let lines = rows.map { row, sums in
      let special = cells(row) { sums[$0] ?? 0 }
      let printed = measures.map { special[$0] ?? format(sums[$0] ?? 0) }
      return (key: row.sortKey, cells: row.key + printed)
    }
    return csv(Row.columns + measures, lines)
  }
}

/// A CSV file: header, then rows in the order of their keys, byte by byte.
///
/// No cell of a scenario needs quotation marks.
func csv(_ columns: [String], _ rows: [(key: [String], cells: [String])]) -> String {
  let sorted = rows.sorted { left, right in
    left.key.lexicographicallyPrecedes(right.key) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
  return ([columns] + sorted.map(\.cells)).map { $0.joined(separator: ",") + "\n" }.joined()
}

func printed(_ micros: Int64) -> String { Amount(micros: micros).text() }

/// A quotient with six decimals, rounded half to even; empty without a denominator.
func printedRate(_ numerator: Int64, over denominator: Int64) -> String {
  guard denominator != 0 else { return "" }
  return Amount(micros: scaled(numerator, 1_000_000, denominator)).text(decimalsMin: 6)
}
