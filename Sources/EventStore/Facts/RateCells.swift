public import Domain

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
