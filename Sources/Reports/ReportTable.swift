/// How the numbers of a column add up over several rows.
public enum ColumnAddition: Sendable {
  /// Their sum.
  case sum
  /// A sum for each currency.
  case perCurrency
  /// The sum of the rows of the first month.
  case opening
  /// The sum of the rows of the last month.
  case closing
  /// Their sum, if the rows are of one time.
  case atOneTime
  /// Nothing: rates, ranks and quantiles.
  case none
}

/// One column of a report: how it is printed, and how to read it.
public struct ReportColumn: Sendable, Equatable {
  /// The header's word.
  public let name: String
  let format: CellFormat
  /// The unit of the numbers, such as `USD`; nil for words and dates.
  public let unit: String?
  /// One line how to read it.
  public let description: String
  /// Whether the column is part of the rows' key and order.
  public private(set) var isKey = false
  /// How its numbers add up over several rows.
  public private(set) var addition = ColumnAddition.none

  /// A type of Frictionless Table Schema, such as `integer`.
  public var type: String { format.type }
}

/// One CSV file that was written.
public struct ReportTable: Sendable, Equatable {
  /// Path inside the folder, such as `revenue_daily/2026-11.csv`.
  public let path: String
  /// Rows without the header.
  public let rows: Int64
  /// The columns in their order.
  public internal(set) var columns: [ReportColumn]
  /// Sums over each column of counts and amounts as printed, by column, whether or not they mean
  /// anything.
  public internal(set) var controlTotals: [String: String] = [:]
  /// Exact sum − printed sum of each amount column; empty unless amounts are rounded.
  public internal(set) var roundingResidual: [String: String] = [:]
}
