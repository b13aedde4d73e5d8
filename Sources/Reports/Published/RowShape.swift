internal import EventStore
internal import Domain

/// Which columns of a report identify a row, and which are stored as its values.
struct RowShape: Sendable {
  let definition: ReportDefinition
  /// The key columns, without the month; for cohorts, the month is in the key alone.
  let keys: [Int]
  /// The columns that are stored and compared.
  let values: [Int]
  /// The column with the number of months since the first column's; nil if the first is the month.
  let monthsLater: Int?
  /// Whether the last column shows which rows are complete.
  let isFlagged: Bool
  private let provider, app, product: Int?

  init(_ definition: ReportDefinition) {
    self.definition = definition
    let columns = definition.columns
    let names = columns.map(\.name)
    monthsLater = names.firstIndex(of: "period_index")
    let first = definition.isMonthly && monthsLater == nil ? 1 : 0
    keys = columns.indices.filter { $0 >= first && columns[$0].isKey }
    values = columns.indices.filter {
      !columns[$0].isKey && names[$0] != ReportColumn.isComplete.name
    }
    isFlagged = names.last == ReportColumn.isComplete.name
    provider = keys.firstIndex { names[$0] == "provider" }
    app = keys.firstIndex { names[$0] == "app_id" }
    product = keys.firstIndex { names[$0] == "product_id" }
  }

  /// The stored form of a row that has a cell per column.
  func row(_ cells: [LedgerValue]) -> ReportRow {
    ReportRow(
      key: keys.map { cells[$0] }, values: values.map { cells[$0] },
      isComplete: isFlagged && cells.last == .integer(1))
  }

  func month(of cells: [LedgerValue]) -> Month {
    let number = Int32(truncatingIfNeeded: cells[0].integer ?? 0)
    if definition.isSplitByMonth { return Day(number: number).month }
    let later = monthsLater.flatMap { cells[$0].integer } ?? 0
    return Month(number: number + Int32(truncatingIfNeeded: later))
  }

  /// The cells of a stored row, one per column; nil if it was stored with other columns.
  func cells(of row: ReportRow, _ month: Month) -> [LedgerValue]? {
    guard let key = ReportRow.decode(row.key), let values = ReportRow.decode(row.values),
      key.count == keys.count, values.count == self.values.count
    else { return nil }
    // The month at the start and the flag at the end are in neither.
    var cells = [LedgerValue](
      repeating: .integer(row.isComplete ? 1 : 0), count: definition.columns.count)
    cells[0] = .integer(Int64(month.number))
    for (column, cell) in zip(keys, key) { cells[column] = cell }
    for (column, cell) in zip(self.values, values) { cells[column] = cell }
    return cells
  }

  /// Cells of some columns as reports print them, exact and joined by commas.
  func text(_ cells: [LedgerValue], of columns: [Int], _ labels: Labels) throws -> String {
    var line = CSVLine()
    var printer = RowPrinter(labels)
    for (column, cell) in zip(columns, cells) {
      try printer.add(cell, as: definition.columns[column].format, to: &line)
    }
    return String(decoding: line.buffer, as: UTF8.self)
  }

  /// The product of the row with this key; empty in a report without products.
  func product(of key: [UInt8], in ledger: Ledger) throws(SubledgerError) -> PublishedProduct {
    guard let cells = ReportRow.decode(key), cells.count == keys.count else {
      throw ledger.damagedRows(of: definition.name)
    }
    func symbol(_ place: Int?) -> StringID? {
      switch place.map({ cells[$0] }) ?? .null {
      case .null: 0
      case .integer(let number): StringID(exactly: number)
      case .text(let word): ledger.symbol(word)
      }
    }
    let provider: Provider? =
      switch provider.map({ cells[$0] }) ?? .null {
      case .null: nil
      case .integer(let number): UInt8(exactly: number).flatMap(Provider.init(rawValue:))
      case .text(let name): Provider(name: name)
      }
    let app = symbol(app)
    return PublishedProduct(
      feed: provider.flatMap { provider in app.map { Feed(provider: provider, app: $0) } },
      product: symbol(product))
  }

  /// The values of a row by column; without a row, zeros where zero is certain.
  func values(of row: ReportRow?) -> [LedgerValue] {
    guard let row else {
      return values.map { column in
        switch definition.columns[column].format {
        case .integer, .amount: .integer(0)
        default: .null
        }
      }
    }
    return ReportRow.decode(row.values) ?? values.map { _ in .null }
  }
}

/// The subject of a row; a part is nil when the ledger lacks its word.
struct PublishedProduct: Hashable {
  let feed: Feed?
  let product: StringID?
}
