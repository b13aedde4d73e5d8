import Domain

/// The key of a row in a table of the truth: a month of a product.
struct TruthRow: Hashable {
  var month: Month
  var shop: Shop
  var product: Product
  /// The cells of the table's additional key columns.
  var more: [String] = []

  var key: [String] {
    [
      month.text, shop.provider.name, shop.appID, shop.reportedStore.name,
      shop.app.storeID(of: product),
    ] + more
  }
}

/// The expected report when no events are lost: sums by row and column, amounts in millionths.
struct TruthTable {
  let name: String
  /// Key columns in addition to month and product.
  var more: [String] = []
  /// Columns with sums, or with cells computed from sums; `is_complete` follows.
  let measures: [String]
  /// How a sum is printed.
  var format: (Int64) -> String = { String($0) }
  /// How long after its month a row can change, in seconds, in addition to the delivery window.
  var slack = Completeness.renewalGap
  private(set) var rows: [TruthRow: [String: Int64]] = [:]

  /// Adds to a column, which may exist only for the `cells` of `file`.
  mutating func add(_ amount: Int64, to column: String, of row: TruthRow) {
    rows[row, default: [:]][column, default: 0] += amount
  }

  /// Name and content of the whole file.
  ///
  /// - Parameter cells: cells that are not the printed sum of their column.
  func file(
    _ completeness: [Shop: Completeness], _ cells: (TruthRow, (String) -> Int64) -> [String: String]
  ) -> (name: String, text: String) {
    let lines = rows.map { row, sums in
      let special = cells(row) { sums[$0] ?? 0 }
      let isComplete = completeness[row.shop]?.isComplete(row.month, slack: slack) ?? false
      let printed = measures.map { special[$0] ?? format(sums[$0] ?? 0) }
      return row.key + printed + [special["is_complete"] ?? "\(isComplete)"]
    }
    let columns =
      ["period", "provider", "app_id", "store", "product_id"] + more + measures + ["is_complete"]
    return (name, csv(columns, lines))
  }
}

/// A CSV file: a header, then rows sorted by cell, numbers by value and texts by bytes.
///
/// No cell of a scenario needs quotation marks.
func csv(_ columns: [String], _ rows: [[String]]) -> String {
  let sorted = rows.sorted { left, right in
    guard let (one, other) = zip(left, right).first(where: { $0 != $1 }) else { return false }
    if let number = Int(one), let next = Int(other) { return number < next }
    return one.utf8.lexicographicallyPrecedes(other.utf8)
  }
  return ([columns] + sorted).map { $0.joined(separator: ",") + "\n" }.joined()
}

func printed(_ micros: Int64) -> String { Amount(micros: micros).text() }

/// A quotient with six decimals, rounded half to even; empty without a denominator.
func printedRate(_ numerator: Int64, over denominator: Int64) -> String {
  guard denominator != 0 else { return "" }
  return Amount(micros: scaled(numerator, 1_000_000, denominator)).text(decimalsMin: 6)
}
