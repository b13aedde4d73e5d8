internal import Domain

extension RowPiece where Rows == CellRows {
  /// Some rows of one table of facts, sorted.
  static func cells(_ make: @escaping @Sendable () throws -> CellRows) -> Self {
    Self {
      var rows = try make()
      rows.sort()
      return rows
    }
  }
}

extension Facts {
  /// The tables, in the order of v1-facts.sql.
  static let tables = [
    "revenue_cell", "revenue_month_cell", "movement_cell", "renewal_cell", "trial_cell",
    "retention_cell", "excluded_cell", "arrival_cell", "coverage_cell",
  ]

  /// All rows of all tables.
  var pieces: [RowPiece<CellRows>] {
    let revenue = revenue
    let months = revenue.placesByMonth.flatMap { month, places -> [RowPiece<CellRows>] in
      [
        .cells { revenue.rows(at: places, table: "revenue_cell") },
        .cells { try revenue.rows(of: month, at: places) },
      ]
    }
    return months + [
      .cells { movementRows }, .cells { renewalRows }, .cells { trialRows },
      .cells { retentionRows }, .cells { excludedRows }, .cells { arrivalRows },
      .cells { coverageRows },
    ]
  }
}

extension [RevenueKey: RevenueSums] {
  /// Where the cells of each month are, by month.
  var placesByMonth: [(key: Month, value: [Index])] {
    [Month: [Index]](grouping: indices) { self[$0].key.day.month }.sorted { $0.key < $1.key }
  }
}
