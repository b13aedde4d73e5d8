internal import Vocabulary

/// Some rows of one table of facts.
///
/// The rows of all tables together would take as much memory as the facts, so that they are made
/// piece by piece, on whatever thread has the time.
public struct FactPiece: Sendable {
  private let make: @Sendable () throws(LedgerError) -> CellRows

  init(_ make: @escaping @Sendable () throws(LedgerError) -> CellRows) { self.make = make }

  /// Makes the rows, sorted.
  public func rows() throws(LedgerError) -> CellRows {
    var rows = try make()
    rows.sort()
    return rows
  }
}

extension Facts {
  /// The tables, in the order of v1-facts.sql.
  static let tables = [
    "revenue_cell", "revenue_month_cell", "movement_cell", "renewal_cell", "trial_cell",
    "retention_cell", "excluded_cell", "arrival_cell", "coverage_cell",
  ]

  /// All rows of all tables.
  var pieces: [FactPiece] {
    let revenue = revenue
    let months = revenue.placesByMonth.flatMap { month, places in
      [
        FactPiece { revenue.rows(at: places, table: "revenue_cell") },
        FactPiece { () throws(LedgerError) in try revenue.rows(of: month, at: places) },
      ]
    }
    return months + [
      FactPiece { movementRows }, FactPiece { renewalRows }, FactPiece { trialRows },
      FactPiece { retentionRows }, FactPiece { excludedRows }, FactPiece { arrivalRows },
      FactPiece { coverageRows },
    ]
  }
}

extension [RevenueKey: RevenueSums] {
  /// Where the cells of each month are, by month.
  var placesByMonth: [(key: Month, value: [Index])] {
    [Month: [Index]](grouping: indices) { self[$0].key.day.month }.sorted { $0.key < $1.key }
  }
}
