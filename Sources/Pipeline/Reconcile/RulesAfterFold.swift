import EventStore
import Reconciliation
import Subscriptions
import Domain

extension ReconciliationSettings {
  /// The same rules, with what a fold came to: what renewals cost, and which app sells what, as far
  /// as subscriptions and trials tell it.
  ///
  /// Where a provider tells of one app alone, what it sells is asked nowhere.
  ///
  /// - Parameter begun: how many of each product began; asked only where a provider with snapshots
  ///   tells of several apps.
  func knowing(
    _ prices: PaidPrices, in ledger: Ledger, begun: () throws -> [ProductKey: Int64]
  ) throws(SubledgerError) -> ReconciliationSettings {
    var rules = self
    rules.prices = prices
    let apps = Dictionary(grouping: feeds, by: \.provider)
    guard snapshotsTakenAt.keys.contains(where: { apps[$0, default: []].count > 1 }) else {
      return rules
    }
    let words = ledger.symbols.words
    for (productKey, count) in try attempt(begun) where count > 0 && productKey.product != 0 {
      rules.sold.insert(
        SoldProduct(
          provider: productKey.provider, app: words[Int(productKey.app)], store: productKey.store,
          product: words[Int(productKey.product)]))
    }
    return rules
  }
}
