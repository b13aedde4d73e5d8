import Ledger
import Reconcile
import Timeline
import Vocabulary

extension ReconcileRules {
  /// The same rules, with what a fold came to: what renewals cost, and which app sells what, as far
  /// as subscriptions and trials tell it.
  ///
  /// Where a provider tells of one app alone, what it sells is asked nowhere.
  ///
  /// - Parameter begun: how many of each offering began; asked only where a provider with snapshots
  ///   tells of several apps.
  func knowing(
    _ prices: PaidPrices, in ledger: Ledger, begun: () throws -> [Offering: Int64]
  ) throws(NightError) -> ReconcileRules {
    var rules = self
    rules.prices = prices
    let apps = Dictionary(grouping: feeds, by: \.provider)
    guard snapshotsTakenAt.keys.contains(where: { apps[$0, default: []].count > 1 }) else {
      return rules
    }
    let words = ledger.symbols.words
    for (offering, count) in try attempt(begun) where count > 0 && offering.product != 0 {
      rules.sold.insert(
        SoldProduct(
          provider: offering.provider, app: words[Int(offering.app)], store: offering.store,
          product: words[Int(offering.product)]))
    }
    return rules
  }
}
