public import Domain

/// Renewals that cost the same.
public struct PriceRow: Sendable, Equatable {
  /// StringID of the store product id.
  public var product: StringID
  /// The shop.
  public var store: Store
  /// StringID of the ISO 4217 code.
  public var currency: StringID
  /// Weeks from 1970-01-01 to that of the charges; nil for an offer.
  public var week: Int64?
  /// What each cost.
  public var price: Amount
  /// The full price beside an offer's; nil for a full price.
  public var full: Amount?
  /// How many, or how many more.
  public var charges: Int64

  /// `charges` renewals of `product` at `price`.
  public init(
    product: StringID, store: Store, currency: StringID, week: Int64?, price: Amount, full: Amount?,
    charges: Int64
  ) {
    self.product = product
    self.store = store
    self.currency = currency
    self.week = week
    self.price = price
    self.full = full
    self.charges = charges
  }
}

extension Ledger {
  /// What all renewals cost.
  public func priceRows() throws(LedgerError) -> [PriceRow] {
    try access("read prices") { database in
      let statement = try database.statement(
        "select product, store, currency, week, price, full_price, charges from price_cell")
      var rows: [PriceRow] = []
      try statement.forEachRow { row in
        let week = row.int64(3)
        let full = row.int64(5)
        try rows.append(
          PriceRow(
            product: row.symbol(0), store: row.value(1), currency: row.symbol(2),
            week: week == noWeek ? nil : week, price: Amount(micros: row.int64(4)),
            full: full < 0 ? nil : Amount(micros: full), charges: row.int64(6)))
      }
      return rows
    }
  }
}

private let noWeek: Int64 = .min

extension [PriceRow] {
  var cells: CellRows {
    var cells = CellRows(table: "price_cell", keyWidth: 6, width: 7, count: count)
    for row in self {
      cells.append(
        Int64(row.product), Int64(row.store.rawValue), Int64(row.currency), row.week ?? noWeek,
        row.price.micros, row.full?.micros ?? -1, row.charges)
    }
    cells.sort()
    return cells
  }
}
