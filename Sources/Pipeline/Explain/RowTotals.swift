import Reports
import Domain

/// The rows asked for, as a report prints them, summed by column.
struct RowTotals {
  private(set) var rows = 0
  /// The last row, which is the only one when there is one.
  private(set) var row: [ReportValue] = []
  private var sums: [Int: Int128] = [:]
  /// Columns that some row leaves empty.
  private var open: Set<Int> = []

  mutating func add(_ values: [ReportValue]) {
    rows += 1
    row = values
    for (index, value) in values.enumerated() {
      switch value {
      case .integer(let number): sums[index, default: 0] += Int128(number)
      case .amount(let amount): sums[index, default: 0] += Int128(amount.micros)
      case .nothing: open.insert(index)
      case .text, .ratio: break
      }
    }
  }

  /// The exact sum of a column; nil when a row leaves it empty, and of rates.
  func sum(_ index: Int) -> Int128? {
    if open.contains(index) { return nil }
    guard case .ratio = row.indices.contains(index) ? row[index] : .nothing else {
      return sums[index]
    }
    return nil
  }

  /// The sum of a column over rows with a number; nil without any.
  func known(_ index: Int) -> Int128? { sums[index] }

  /// The column as it is printed; empty when unknown, and for rates of several rows.
  func text(_ index: Int, isAmount: Bool) -> String {
    if let sum = sum(index) { return numberText(sum, isAmount: isAmount) }
    return rows == 1 ? row[index].text : ""
  }
}
