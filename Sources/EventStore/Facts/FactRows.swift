public import Domain

/// What a fold makes of the ledger's cells.
public struct FoldChange {
  /// The checkpoint of the changed cells.
  public var basis: FactCheckpoint
  /// Whether everything was folded, so that the stored facts are replaced.
  public var isWhole: Bool
  /// All facts, or changes to the stored ones.
  public var facts: Facts
  /// Revenue of a whole fold that did not fit into the memory of `facts`.
  public var aside: RevenueSpill?
  /// When the folded groups are due next.
  public var due: [DueLineage]
  /// All ends in doubt.
  public var doubts: Set<ChurnDoubtRow>
  /// The rates of all days, or of the changed ones.
  public var rates: [RateRow]
  /// The prices of all renewals, or changes to the stored ones.
  public var prices: [PriceRow]

  /// The cells of `facts`, which come from a fold of everything unless `isWhole` is false.
  public init(
    basis: FactCheckpoint, isWhole: Bool = true, facts: Facts, aside: RevenueSpill? = nil,
    due: [DueLineage] = [],
    doubts: Set<ChurnDoubtRow> = [], rates: [RateRow] = [], prices: [PriceRow] = []
  ) {
    self.basis = basis
    self.isWhole = isWhole
    self.facts = facts
    self.aside = aside
    self.due = due
    self.doubts = doubts
    self.rates = rates
    self.prices = prices
  }
}

extension Ledger {
  /// Stores the cells of a fold, whole or not at all.
  ///
  /// - Parameters:
  ///   - change: all cells, or changes to the stored ones.
  ///   - make: makes the rows of all pieces and hands them on in their order; whoever has threads
  ///     to spare makes some while others are written.
  public func apply(
    _ change: FoldChange,
    make: ([RowPiece<CellRows>], (CellRows) throws -> Void) throws -> Void = { pieces, write in
      for piece in pieces { try write(piece.rows()) }
    }
  ) throws(LedgerError) {
    try self.change("write the facts") { database in
      if change.isWhole {
        try database.clear(Facts.tables + ["price_cell", "rate_cell"])
        try make(change.facts.pieces) { try $0.insert(in: database) }
        try change.aside?.insert(in: database)
        try change.prices.cells.insert(in: database)
      } else {
        try make(change.facts.pieces) { try $0.add(in: database) }
        try change.prices.cells.add(in: database)
      }
      try write(change.rates, to: database)
      try write(change.doubts, to: database)
      let asOf = change.isWhole ? nil : change.basis.asOf
      try write(change.due, after: asOf, to: database)
      try write(change.basis, to: database)
    }
  }

  /// The net amount of a month: gross before commission less refunds, in US dollars, without
  /// unknown amounts.
  public func netUSD(of month: Month) throws(LedgerError) -> Int128 {
    try access("add up revenue") { database in
      let statement = try database.statement(
        "select gross_usd - refunds_usd from revenue_month_cell where month = ?")
      statement.bind(1, Int64(month.number))
      var sum: Int128 = 0
      try statement.forEachRow { sum += Int128($0.int64(0)) }
      return sum
    }
  }
}

// The columns of each table of facts, in the order of v1-facts.sql.

extension Facts {
  var movementRows: CellRows {
    var rows = CellRows(
      table: "movement_cell", keyWidth: 6, width: 8, count: movements.count)
    for (key, sums) in movements {
      rows.append(
        Int64(key.month.number), Int64(key.productKey.provider.rawValue), Int64(key.productKey.app),
        Int64(key.productKey.store.rawValue), Int64(key.productKey.product),
        Int64(key.movement.rawValue), sums.subscriptions, sums.mrr.micros)
    }
    return rows
  }

  var renewalRows: CellRows {
    var rows = CellRows(
      table: "renewal_cell", keyWidth: 6, width: 8, count: renewals.count)
    for (key, sums) in renewals {
      rows.append(
        Int64(key.month.number), Int64(key.productKey.provider.rawValue), Int64(key.productKey.app),
        Int64(key.productKey.store.rawValue), Int64(key.productKey.product),
        key.ordinal ?? -1, sums.renewals, sums.refunded)
    }
    return rows
  }

  var trialRows: CellRows {
    var rows = CellRows(
      table: "trial_cell", keyWidth: 5, width: 10, count: trials.count)
    for (key, sums) in trials {
      rows.append(
        Int64(key.day.number), Int64(key.productKey.provider.rawValue), Int64(key.productKey.app),
        Int64(key.productKey.store.rawValue), Int64(key.productKey.product), sums.started,
        sums.converted, sums.canceled, sums.expired, sums.pending)
    }
    return rows
  }

  var retentionRows: CellRows {
    var rows = CellRows(
      table: "retention_cell", keyWidth: 6, width: 10, count: retention.count)
    for (key, sums) in retention {
      rows.append(
        Int64(key.cohort.number), Int64(key.productKey.provider.rawValue),
        Int64(key.productKey.app),
        Int64(key.productKey.store.rawValue), Int64(key.productKey.product), Int64(key.index),
        sums.joined, sums.activeChange, sums.netUSD.sum.micros, sums.netUSD.unknown)
    }
    return rows
  }

  var excludedRows: CellRows {
    var rows = CellRows(
      table: "excluded_cell", keyWidth: 4, width: 6, count: excluded.count)
    for (key, sums) in excluded {
      rows.append(
        Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.app),
        Int64(key.reason.rawValue), sums.events, sums.charges)
    }
    return rows
  }

  var arrivalRows: CellRows {
    var rows = CellRows(
      table: "arrival_cell", keyWidth: 3, width: 5, count: arrivals.count)
    for (key, sums) in arrivals {
      rows.append(
        Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.kind.rawValue),
        sums.outOfOrder, sums.late)
    }
    return rows
  }

  var coverageRows: CellRows {
    var rows = CellRows(
      table: "coverage_cell", keyWidth: 4, width: 5, count: gaps.count)
    for (key, events) in gaps {
      rows.append(
        Int64(key.day.number), Int64(key.provider.rawValue), Int64(key.app),
        Int64(key.gap.rawValue), events)
    }
    return rows
  }
}

extension [RevenueKey: RevenueSums] {
  /// The rows of some days, for a table whose columns begin like those of `revenue_cell`.
  func rows(at places: [Index], table: String) -> CellRows {
    var rows = CellRows(table: table, keyWidth: 12, width: 26, count: places.count)
    for place in places {
      let (key, sums) = self[place]
      rows.append(key, sums, in: key.day.number)
    }
    return rows
  }

  /// The sums of a month, whose days are at `places`.
  func rows(of month: Month, at places: [Index]) throws(LedgerError) -> CellRows {
    var monthly: [RevenueKey: RevenueSums] = [:]
    for place in places {
      var (key, sums) = self[place]
      key.day = month.firstDay
      do throws(AmountOverflow) {
        try monthly[key, default: RevenueSums()].add(sums)
      } catch {
        throw LedgerError(
          .overflow, "cannot add up the revenue of \(month.text): \(error)")
      }
    }
    var rows = CellRows(
      table: "revenue_month_cell", keyWidth: 12, width: 26, count: monthly.count)
    for (key, sums) in monthly { rows.append(key, sums, in: month.number) }
    return rows
  }
}

extension CellRows {
  /// Adds a row of revenue; `period` numbers its day or its month.
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

extension Connection {
  /// Leaves no row in the tables.
  func clear(_ tables: [String]) throws {
    for table in tables { try execute("delete from \(table)") }
  }
}
