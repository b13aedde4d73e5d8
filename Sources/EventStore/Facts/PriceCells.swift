public import Domain

extension Ledger {
  /// Returns the number of renewals per price.
  public func paidPrices() throws(SubledgerError) -> [PaidPrice: Int64] {
    let prices = try all(
      "read prices",
      "select product, store, currency, week, price, full_price, charges, country from price_cell"
    ) { row in
      let (week, full) = (row.int64(3), row.int64(5))
      let product = try PricedProduct(
        product: row.symbol(0), store: row.value(1), currency: row.symbol(2),
        country: row.symbol(7))
      let price = PaidPrice(
        product: product, week: week == noWeek ? nil : Week(number: week),
        price: Amount(micros: row.int64(4)), full: full < 0 ? nil : Amount(micros: full))
      return (price, row.int64(6))
    }
    return Dictionary(prices) { $1 }
  }
}

private let noWeek: Int64 = .min

extension [PaidPrice: Int64] {
  var cells: CellRows {
    CellRows(table: "price_cell", keyWidth: 7, width: 8, count: count) { cells in
      for (price, charges) in self {
        cells.append(
          Int64(price.product.product), Int64(price.product.store.rawValue),
          Int64(price.product.currency), Int64(price.product.country),
          price.week?.number ?? noWeek, price.price.micros, price.full?.micros ?? -1, charges)
      }
    }
  }
}
