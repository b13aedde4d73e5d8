internal import EventStore

/// Prints the rows of a file, each in the same memory, and sums what they show.
///
/// A structure: the class that owns it modifies it once per row, not once per cell.
struct PrintedRows {
  private let layout: ReportDefinition
  private let formats: [CellFormat]
  private let decimals: Int?
  private let isRounding: Bool
  private let sums: [(column: Int, terms: [(column: Int, factor: Int)])]
  private var printer: RowPrinter
  /// The last row as printed.
  private(set) var line: CSVLine
  /// Its cells, exact.
  private(set) var cells: [LedgerValue] = []
  /// Its cells with rounded amounts.
  private var shown: [LedgerValue] = []
  private var count: Int64 = 0
  private var printed: [Int128]
  private var residual: [Int128]

  /// A printer for rows of `layout` without rows yet; `labels` has the words of their numbers.
  init(_ layout: ReportDefinition, plan: ReportPlan, labels: Labels) {
    self.layout = layout
    formats = layout.columns.map(\.format)
    decimals = plan.amountDecimals
    isRounding = plan.amountDecimals.map { $0 < 6 } ?? false
    let names = layout.columns.map(\.name)
    sums = layout.sums.map { sum in
      let terms = sum.of.compactMap { name, factor in
        names.firstIndex(of: name).map { ($0, factor) }
      }
      guard let column = names.firstIndex(of: sum.column), terms.count == sum.of.count else {
        preconditionFailure("a report has the columns that it adds up")
      }
      return (column, terms)
    }
    printer = RowPrinter(labels)
    line = CSVLine(plan.dialect)
    printed = [Int128](repeating: 0, count: layout.columns.count)
    residual = printed
  }

  mutating func removeAll() {
    count = 0
    printed = printed.map { _ in 0 }
    residual = printed
  }

  /// Prints the next row from values as a query returns them.
  @inline(__always)
  mutating func append(_ number: (Int) -> Int64?, text: (Int) -> String) throws {
    line.removeAll()
    cells.removeAll(keepingCapacity: true)
    var place = 0
    for (index, format) in formats.enumerated() {
      let cell = format.cell(at: place, number, text: text)
      place += format.width
      cells.append(cell)
      if !isRounding { try put(cell, index) }
    }
    if isRounding {
      round()
      for (index, cell) in shown.enumerated() { try put(cell, index) }
    }
    count += 1
  }

  /// Rounds the amounts of the row; a sum is taken of rounded amounts, so that rows foot.
  private mutating func round() {
    shown = cells
    for (index, format) in formats.enumerated() {
      guard case .amount = format, case .integer(let number) = cells[index] else { continue }
      shown[index] = .integer(rounded(number, decimals: decimals))
    }
    for (column, terms) in sums where cells[column].integer != nil {
      guard terms.allSatisfy({ shown[$0.column].integer != nil }) else { continue }
      let sum = terms.reduce(Int128(0)) {
        $0 + Int128(shown[$1.column].integer ?? 0) * Int128($1.factor)
      }
      shown[column] = .integer(Int64(clamping: sum))
    }
  }

  /// Prints a cell and adds its value to the sums of its column.
  @inline(__always)
  private mutating func put(_ cell: LedgerValue, _ index: Int) throws {
    try printer.add(cell, as: formats[index], decimals: decimals, to: &line)
    guard case .integer(let number) = cell else { return }
    switch formats[index] {
    case .integer: printed[index] += Int128(number)
    case .amount:
      printed[index] += Int128(number)
      residual[index] += Int128(cells[index].integer ?? number) - Int128(number)
    default: break
    }
  }

  func table(at path: String) -> ReportTable {
    ReportTable(
      path: path, rows: count, columns: layout.columns,
      controlTotals: texts(of: printed) { !$0.isKey },
      roundingResidual: isRounding ? texts(of: residual) { $0.format == .amount } : [:])
  }

  private func texts(
    of sums: [Int128], where isSummed: (ReportColumn) -> Bool
  ) -> [String: String] {
    var texts: [String: String] = [:]
    for (column, sum) in zip(layout.columns, sums) where isSummed(column) {
      texts[column.name] = column.format.total(sum)
    }
    return texts
  }
}
