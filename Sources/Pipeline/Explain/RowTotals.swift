import EventStore
import Reports

/// The requested rows, as a report prints them, added up by column.
struct RowTotals {
  private(set) var rows = 0
  /// The last row, which is the only one when there is one.
  private(set) var row: [String] = []
  private let columns: [ReportColumn]
  private let currency: Int?
  /// Whether all rows are of the first month, and whether the last row begins another month.
  private var (isFirst, isNext) = (true, false)
  /// Sums by column, then by currency, which only local amounts have; nil when a row leaves it
  /// empty.
  private var sums: [Int: [String: Int128?]] = [:]

  init(_ question: NumberQuestion, from ledger: Ledger, _ plan: ReportPlan) throws {
    columns = question.columns
    currency = columns.firstIndex { $0.name == "currency" }
    try forEachRow(of: question.report.rawValue, from: ledger, plan: plan) { row in
      if question.fits(row) { add(row) }
    }
  }

  private mutating func add(_ cells: CSVRow) {
    isNext = rows > 0 && row[0] != cells[0]
    if isNext { isFirst = false }
    rows += 1
    row = columns.indices.map { cells[$0] }
    for (index, column) in columns.enumerated() where column.type == "integer" || column.isMoney {
      let unit: Int128 = column.isMoney ? 1 : 1_000_000
      add(cells.micros(index).map { Int128($0) / unit }, at: index)
    }
  }

  private mutating func add(_ number: Int128?, at index: Int) {
    switch columns[index].addition {
    case .opening where !isFirst: return
    case .closing where isNext: sums[index] = [:]
    default: break
    }
    let before = sums[index, default: [:]][label(index), default: 0]
    let sum = number.flatMap { number in before.map { $0 + number } }
    sums[index, default: [:]].updateValue(sum, forKey: label(index))
  }

  /// Returns the currency of the last row, for a column that adds up only per currency.
  private func label(_ index: Int) -> String {
    guard columns[index].addition == .perCurrency, let currency else { return "" }
    return row[currency]
  }

  /// Returns the currencies of a column that adds up only per currency; else one empty text.
  func currencies(_ index: Int) -> Set<String> { Set(sums[index, default: [:]].keys) }

  /// Returns the exact sum of a column; nil when a row leaves it empty, and for rates.
  func sum(_ index: Int, _ currency: String) -> Int128? { sums[index]?[currency] ?? nil }

  func isZero(_ index: Int) -> Bool { sums[index, default: [:]].values.allSatisfy { $0 == 0 } }

  /// Returns the column as printed; empty when unknown, and for rates of several rows.
  func text(_ index: Int) -> String {
    if rows == 1 { return row[index] }
    return sumText(sums[index, default: [:]], isAmount: columns[index].isAmount)
  }
}

/// Returns sums as reports print them, empty when unknown; several with the currency of each.
func sumText(_ sums: [String: Int128?], isAmount: Bool) -> String {
  if sums.count == 1, let sum = sums.first?.value { return numberText(sum, isAmount: isAmount) }
  guard sums.count > 1 else { return "" }
  return sums.sorted { $0.key < $1.key }.map { currency, sum in
    let text = sum.map { numberText($0, isAmount: isAmount) } ?? "unknown"
    return "\(currency.isEmpty ? "no currency" : currency) \(text)"
  }.joined(separator: ", ")
}
