// The definition of a report: a query, and how each of its columns is printed and read.
internal import EventStore

struct ReportDefinition {
  /// The file's name without `.csv`, or the folder's when each month has a file.
  let name: String
  /// The embedded query; nil for a report that has none.
  ///
  /// Its columns have the report's names, in any order; the denominator of a ratio is its `…_base`.
  let query: [UInt8]?
  /// Whether each month has its own file; the first column is then a day.
  var isSplitByMonth = false
  /// Creates the tables that the query reads in addition to the common ones.
  var prepare: (@Sendable (ReportContext) throws -> Void)?
  /// Whether its rows identify persons, or files whose names may.
  var namesPersons = false
  /// Whether its rows depend on when input arrived, not only on its content.
  var dependsOnArrival = false
  let columns: [ReportColumn]
  /// Columns that are sums of others, each times its factor; in rounded rows, of rounded amounts.
  ///
  /// A sum comes after those that it adds up.
  var sums: [(column: String, of: [String: Int])] = []
  /// Which horizon completes its monthly rows; nil when they have no such column.
  var completeness: HorizonKind?

  /// The keys that sort the rows of one period; empty for a query that sorts them itself.
  ///
  /// A query that returns numbers of words sorts by its first column, the period. Within a period,
  /// rows are sorted by the other key columns.
  var wordKeys: [PeriodRows.Key] {
    var keys: [PeriodRows.Key] = []
    var value = 0
    for column in columns {
      if column.isKey, value > 0 { keys.append(PeriodRows.Key(column: value, part: column.part)) }
      value += column.format.width
    }
    return columns.contains { $0.part != nil } ? keys : []
  }

  /// The places in a row of its query of the values of the report's columns, in order.
  func places(in row: Statement) -> [Int32] {
    let names = row.names
    return columns.flatMap { column in
      column.format.width == 1 ? [column.name] : [column.name, column.name + "_base"]
    }.map { name in
      guard let place = names.firstIndex(of: name) else {
        preconditionFailure("a query has every column of its report")
      }
      return Int32(place)
    }
  }

  var isMonthly: Bool { query != nil && columns.first?.format == .month }
}

extension ReportColumn {
  static func key(
    _ name: String, _ format: CellFormat, in unit: String? = nil, _ description: String
  ) -> ReportColumn {
    ReportColumn(name: name, format: format, unit: unit, description: description, isKey: true)
  }

  static func cell(
    _ name: String, _ format: CellFormat, in unit: String? = nil, _ description: String,
    _ addition: ColumnAddition = .none
  ) -> ReportColumn {
    ReportColumn(
      name: name, format: format, unit: unit, description: description, addition: addition)
  }

  static func count(
    _ name: String, of unit: String, _ description: String, _ addition: ColumnAddition = .sum
  ) -> ReportColumn {
    cell(name, .integer, in: unit, description, addition)
  }

  static func usd(
    _ name: String, _ description: String, _ addition: ColumnAddition = .sum
  ) -> ReportColumn {
    cell(name, .amount, in: "USD", description, addition)
  }

  static func local(_ name: String, _ description: String) -> ReportColumn {
    cell(name, .amount, in: "currency", description, .perCurrency)
  }

  static func rate(_ name: String, _ description: String) -> ReportColumn {
    cell(name, .ratio, in: "fraction", description)
  }

  /// The words that its values refer to; nil for plain values.
  var part: Labels.Part? { if case .word(let part) = format { part } else { nil } }

  static let month = key("period", .month, "Month in the report's time zone.")

  /// The dimensions of every report about subscriptions.
  static let productKey = [
    provider, app,
    key("store", .word(.store), "Store that took the money."),
    key("product_id", .word(.symbol), "Product id of the store."),
  ]

  /// The same for queries that return them as text.
  static let offeringAsText = productKey.map { key($0.name, .text, $0.description) }

  static let provider = key("provider", .word(.provider), "Who sent the webhooks.")

  static let app = key(
    "app_id", .word(.symbol), "App as the provider names it; empty when absent.")

  static let customer = cell(
    "customer_id", .text, "The app's own id of the user; empty unless configured.")

  static let isComplete = cell(
    "is_complete", .flag, "Whether no later delivery is expected to change the row.")
}
