public import Domain

/// Creates one piece of a long sequence of rows that are written one after another.
///
/// Creating rows takes about as long as writing them, and all of them together would take too much
/// memory. So they are created piece by piece, on any free thread. Throws the errors of the ledger.
public typealias RowPiece<Rows> = @Sendable () throws -> Rows

/// Returns all rows of a table with `keyWidth` key columns, in the column order of v1-facts.sql.
private func cells<Key: Sendable, Sums: Sendable>(
  _ table: String, keyWidth: Int, _ facts: [Key: Sums],
  _ row: @escaping @Sendable (Key, Sums) -> [Int64]
) -> RowPiece<CellRows> {
  {
    CellRows(
      table: table, keyWidth: keyWidth, width: facts.first.map { row($0, $1).count } ?? keyWidth,
      count: facts.count
    ) { for (key, sums) in facts { $0.append(row(key, sums)) } }
  }
}

extension Facts {
  /// The tables, in the order of v1-facts.sql.
  static let tables = [
    "revenue_cell", "revenue_month_cell", "movement_cell", "renewal_cell", "trial_cell",
    "retention_cell", "excluded_cell", "arrival_cell", "coverage_cell",
  ]

  /// The rows of the cells, table by table.
  public var pieces: [RowPiece<CellRows>] {
    revenue.pieces() + [
      cells("movement_cell", keyWidth: 6, movements) { key, sums in
        [Int64(key.month.number)] + key.productKey.cells
          + [Int64(key.movement.rawValue), sums.subscriptions, sums.mrr.micros]
      },
      cells("renewal_cell", keyWidth: 6, renewals) { key, sums in
        [Int64(key.month.number)] + key.productKey.cells
          + [key.ordinal ?? -1, sums.renewals, sums.refunded]
      },
      cells("trial_cell", keyWidth: 5, trials) { key, sums in
        [Int64(key.day.number)] + key.productKey.cells
          + [sums.started, sums.converted, sums.canceled, sums.expired, sums.pending]
      },
      cells("retention_cell", keyWidth: 6, retention) { key, sums in
        [Int64(key.cohort.number)] + key.productKey.cells + [Int64(key.index), sums.joined]
          + [sums.activeChange, sums.netUSD.sum.micros, sums.netUSD.unknown]
      },
      cells("excluded_cell", keyWidth: 4, excluded) { key, sums in
        [
          Int64(key.day.number), Int64(key.feed.provider.rawValue), Int64(key.feed.app),
          Int64(key.reason.rawValue), sums.events, sums.charges,
        ]
      },
      cells("arrival_cell", keyWidth: 3, arrivals) { key, sums in
        [
          Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.kind.rawValue),
          sums.outOfOrder, sums.late,
        ]
      },
      cells("coverage_cell", keyWidth: 5, gaps) { key, events in
        [
          Int64(key.day.number), Int64(key.feed.provider.rawValue), Int64(key.feed.app),
          Int64(key.gap.rawValue), Int64(key.hour), events,
        ]
      },
    ]
  }
}

extension ProductKey {
  var cells: [Int64] {
    [Int64(provider.rawValue), Int64(app), Int64(store.rawValue), Int64(product)]
  }
}

extension [RevenueKey: RevenueSums] {
  /// Returns the rows of days and months, month by month, for tables whose names end in `suffix`.
  func pieces(suffix: String = "") -> [RowPiece<CellRows>] {
    let months = [Month: [Index]](grouping: indices) { self[$0].key.day.month }
    return months.sorted { $0.key < $1.key }.flatMap { month, places -> [RowPiece<CellRows>] in
      [
        { rows(at: places, table: "revenue_cell" + suffix) },
        { rows(of: month, at: places, table: "revenue_month_cell" + suffix) },
      ]
    }
  }

  private func rows(at places: [Index], table: String) -> CellRows {
    CellRows(table: table, keyWidth: RevenueKey.width, width: 26, count: places.count) { rows in
      for place in places {
        let (key, sums) = self[place]
        rows.append(key, sums, in: key.day.number)
      }
    }
  }

  private func rows(of month: Month, at places: [Index], table: String) -> CellRows {
    var monthly: [RevenueKey: RevenueSums] = [:]
    for place in places {
      var (key, sums) = self[place]
      key.day = month.firstDay
      monthly[key, default: RevenueSums()].add(sums)
    }
    return CellRows(
      table: table, keyWidth: RevenueKey.width, width: 26, count: monthly.count
    ) { for (key, sums) in monthly { $0.append(key, sums, in: month.number) } }
  }
}

extension RevenueKey {
  /// Number of key columns.
  static let width = 12
}

extension CellRows {
  /// Appends a row of revenue; `period` is the number of its day or month.
  mutating func append(_ key: RevenueKey, _ sums: RevenueSums, in period: Int32) {
    append(
      Int64(period), Int64(key.productKey.provider.rawValue), Int64(key.productKey.app),
      Int64(key.productKey.store.rawValue), Int64(key.productKey.product),
      Int64(key.productType.rawValue), Int64(key.chargeKind.rawValue), Int64(key.country),
      Int64(key.storefront), Int64(key.currency), key.rate?.micros ?? -1,
      Int64(key.basis.rawValue), sums.charges, sums.refunds,
      sums.grossUSD.sum.micros, sums.grossUSD.unknown,
      sums.refundsUSD.sum.micros, sums.refundsUSD.unknown,
      sums.proceedsUSD.sum.micros, sums.proceedsUSD.unknown,
      sums.grossLocal.sum.micros, sums.grossLocal.unknown,
      sums.refundsLocal.sum.micros, sums.refundsLocal.unknown,
      sums.proceedsLocal.sum.micros, sums.proceedsLocal.unknown)
  }
}
