import Domain

/// A CSV file of the truth: header, then rows in the order of their keys.
struct TruthTable {
  let name: String
  let columns: [String]
  private var rows: [(key: [String], cells: [String])] = []

  init(name: String, key: [String], measures: [String]) {
    self.name = name
    columns = key + measures
  }

  /// The columns that most tables begin with.
  static let shopKey = ["period", "provider", "app_id", "store", "product_id"]

  /// Adds a row; `sortKey` stands in for key cells that are numbers.
  mutating func add(key: [String], sortKey: [String]? = nil, measures: [String]) {
    precondition(key.count + measures.count == columns.count, "a row has a cell per column")
    rows.append((sortKey ?? key, key + measures))
  }

  /// The whole file.
  ///
  /// No cell of the world needs quotation marks.
  var text: String {
    let sorted = rows.sorted { left, right in
      left.key.lexicographicallyPrecedes(right.key) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
    let lines = [columns] + sorted.map(\.cells)
    return lines.map { $0.joined(separator: ",") + "\n" }.joined()
  }
}

/// An amount as reports print it.
func printed(_ micros: Int64) -> String { Amount(micros: micros).text() }

/// A quotient with six decimals, rounded half to even; empty without a denominator.
func printedRate(_ numerator: Int64, over denominator: Int64) -> String {
  guard denominator != 0 else { return "" }
  return Amount(micros: scaled(numerator, 1_000_000, denominator)).text(decimalsMin: 6)
}

func printed(_ flag: Bool) -> String { flag ? "true" : "false" }
