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

extension Ledger {
  /// Returns the rates of all currencies and days.
  public func rates() throws(SubledgerError) -> ExchangeRates {
    let days = try all("read exchange rates", "select currency, day, rates from rate_cell") { row in
      var reader = ByteReader(row.blob(2))
      var rates: [ExchangeRate: Int64] = [:]
      while !reader.isAtEnd, reader.isSound {
        let rate = ExchangeRate(usd: reader.signed(), local: reader.signed())
        let charges = reader.signed()
        if let rate { rates[rate] = charges }
      }
      guard reader.isSound else { throw SubledgerError.damaged("an exchange rate") }
      return (CurrencyDay(currency: try row.symbol(0), day: row.day(1)), rates)
    }
    return ExchangeRates(Dictionary(days) { $1 })
  }

  /// Writes `rates`, replacing those of the same currency and day; removes days without any.
  func write(_ rates: ExchangeRates, to database: Connection) throws {
    let insert = try database.statement(
      "insert or replace into rate_cell (currency, day, rates) values (?, ?, ?)")
    let delete = try database.statement("delete from rate_cell where currency = ? and day = ?")
    var writer = ByteWriter()
    let days = rates.charges.sorted {
      ($0.key.currency, $0.key.day) < ($1.key.currency, $1.key.day)
    }
    for (day, rates) in days {
      guard !rates.isEmpty else {
        try delete.run(day.currency, day.day)
        continue
      }
      writer.reset()
      for (rate, charges) in rates.sorted(by: { $0.key < $1.key }) {
        writer.put(rate.usd)
        writer.put(rate.local)
        writer.put(charges)
      }
      try insert.run(day.currency, day.day, writer.bytes)
    }
  }
}
