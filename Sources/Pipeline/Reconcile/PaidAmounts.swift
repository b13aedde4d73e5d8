import EventStore
import Reconciliation
import Subscriptions
import Domain

// What charges paid, between the fold that counts it and the ledger that keeps it.

extension RateRow {
  var key: CurrencyDay { CurrencyDay(currency: currency, day: day) }

  /// The first and the last rate, which come in their order.
  var spread: RateSpread? {
    guard let first = rates.first, let last = rates.last,
      let lowest = ExchangeRate(usd: first.usd, local: first.local),
      let highest = ExchangeRate(usd: last.usd, local: last.local)
    else { return nil }
    return RateSpread(key, from: lowest, to: highest)
  }
}

extension ExchangeRates {
  /// The rates of some days, and additions to them.
  init(_ rows: [RateRow], with added: ExchangeRates) {
    self.init(rows)
    add(added)
    removeNothings()
  }

  /// The lowest and the highest rate of each day.
  var spreads: [RateSpread] {
    charges.compactMap { key, rates in
      guard let lowest = rates.keys.min(), let highest = rates.keys.max() else { return nil }
      return RateSpread(key, from: lowest, to: highest)
    }
  }

  init(_ rows: [RateRow]) {
    var charges = [CurrencyDay: [ExchangeRate: Int64]](minimumCapacity: rows.count)
    for row in rows {
      var paid = [ExchangeRate: Int64](minimumCapacity: row.rates.count)
      for rate in row.rates {
        guard let fraction = ExchangeRate(usd: rate.usd, local: rate.local) else { continue }
        paid[fraction] = rate.charges
      }
      if !paid.isEmpty { charges[row.key] = paid }
    }
    self.init(charges)
  }

  /// The rows of some days; a day without charges has an empty one.
  func rows(of days: Set<CurrencyDay>) -> [RateRow] {
    days.sorted { ($0.currency, $0.day) < ($1.currency, $1.day) }.map { key in
      RateRow(
        currency: key.currency, day: key.day,
        rates: (charges[key] ?? [:]).sorted { $0.key < $1.key }.map {
          RateRow.Rate(usd: $0.key.usd, local: $0.key.local, charges: $0.value)
        })
    }
  }
}
