public import Domain

/// The exchange rates in the charges of one currency on one UTC day.
public struct RateRow: Sendable {
  /// StringID of the ISO 4217 code.
  public var currency: StringID
  /// The UTC day of the charges.
  public var day: Day
  /// The rates in their order, each as millionths of a US dollar paid for millionths of the
  /// currency, and how many charges had it.
  public var rates: [(usd: Int64, local: Int64, charges: Int64)]

  /// The rates of a currency on a day.
  public init(
    currency: StringID, day: Day, rates: [(usd: Int64, local: Int64, charges: Int64)]
  ) {
    self.currency = currency
    self.day = day
    self.rates = rates
  }
}

extension Ledger {
  /// The rates of all currencies and days.
  public func rateRows() throws(SubledgerError) -> [RateRow] {
    try all("read exchange rates", "select currency, day, rates from rate_cell") { row in
      var reader = ByteReader(row.blob(2))
      var rates: [(usd: Int64, local: Int64, charges: Int64)] = []
      while !reader.isAtEnd, reader.isSound {
        rates.append((reader.signed(), reader.signed(), reader.signed()))
      }
      guard reader.isSound else { throw SubledgerError.damaged("an exchange rate") }
      return try RateRow(currency: row.symbol(0), day: row.day(1), rates: rates)
    }
  }

  /// Writes `rows`, replacing rows of the same currency and day; a row without rates is removed.
  func write(_ rows: [RateRow], to database: Connection) throws {
    let insert = try database.statement(
      "insert or replace into rate_cell (currency, day, rates) values (?, ?, ?)")
    let delete = try database.statement("delete from rate_cell where currency = ? and day = ?")
    var writer = ByteWriter()
    for row in rows {
      guard !row.rates.isEmpty else {
        try delete.run(row.currency, row.day)
        continue
      }
      writer.reset()
      for rate in row.rates {
        writer.put(rate.usd)
        writer.put(rate.local)
        writer.put(rate.charges)
      }
      try insert.run(row.currency, row.day, writer.bytes)
    }
  }
}
