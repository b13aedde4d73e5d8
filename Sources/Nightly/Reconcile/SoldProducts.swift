import Ledger
import Reconcile
import Vocabulary

extension ReconcileRules {
  /// The same rules, with which app sells what, as far as subscriptions and trials tell it.
  ///
  /// Where a provider tells of one app alone, that is asked nowhere.
  ///
  /// - Parameter begun: how many of each offering began; asked only where a provider with snapshots
  ///   tells of several apps.
  func knowingSold(
    in ledger: Ledger, _ begun: () throws -> [Offering: Int64]
  ) throws(NightError) -> ReconcileRules {
    let apps = Dictionary(grouping: feeds, by: \.provider)
    guard snapshotsTakenAt.keys.contains(where: { apps[$0, default: []].count > 1 }) else {
      return self
    }
    var rules = self
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
