internal import Domain

/// How the numbers of a column add up over several rows.
public enum ColumnAddition: Sendable {
  /// Their sum.
  case sum
  /// One sum per currency.
  case perCurrency
  /// The sum of the rows of the first month.
  case opening
  /// The sum of the rows of the last month.
  case closing
  /// Their sum, if all rows have the same time.
  case atOneTime
  /// Nothing: rates, ranks and quantiles.
  case none
}

/// One column of a report: how to print it, and how to read it.
public struct ReportColumn: Sendable, Equatable {
  /// The column's name in the header.
  public let name: String
  let format: CellFormat
  /// The unit of the numbers, such as `USD`; nil for words and dates.
  public let unit: String?
  /// A one-line description for readers.
  public let description: String
  /// Whether the column is part of the rows' key and order.
  public private(set) var isKey = false
  /// How its numbers add up over several rows.
  public private(set) var addition = ColumnAddition.none

  /// A type of Frictionless Table Schema, such as `integer`.
  public var type: String { format.type }
}

/// A written CSV file.
public struct ReportTable: Sendable, Equatable {
  /// Path inside the folder, such as `revenue_daily/2026-11.csv`.
  public let path: String
  /// Number of rows without the header.
  public let rows: Int64
  /// The columns in order.
  public internal(set) var columns: [ReportColumn]
  /// Sums of the printed counts and amounts by column, whether or not the sum has a meaning.
  public internal(set) var controlTotals: [String: String] = [:]
  /// Exact sum − printed sum of each amount column; empty unless amounts are rounded.
  public internal(set) var roundingResidual: [String: String] = [:]

  /// The month of the rows if each month has its own file.
  var month: Month? { Month(text: String(path.dropLast(4).suffix(7))) }
}
