import Domain

extension [Event] {
  /// The events without Purple's cancels, failed payments and ends of a product or a purchase that
  /// another has followed: Purple sends events without states, and these are not about the period
  /// that runs then.
  ///
  /// Stores end the purchase that an upgrade replaced, and continue to collect a purchase that was
  /// made again elsewhere.
  var withoutPastProducts: [Event] {
    guard first?.provider.capabilities.body == .event else { return self }
    var holding = Holding()
    return keeping { event in
      if event.opensSubscription || event.kind.isProductChange { holding.take(event) }
      let isState = event.isCancel || event.isExpiry || event.isBillingProblem
      return !isState || !holding.isPast(event)
    }
  }
}

/// The current and former products and purchases of a Purple subscription.
private struct Holding {
  private var products: Set<StringID> = []
  private var pastProducts: Set<StringID> = []
  private var lineages: Set<Int64> = []
  private var pastLineages: Set<Int64> = []
  /// That of the last charge, trial or change of product.
  private var transaction: Int64 = 0

  /// Reads a charge, the start of a trial or a change of product.
  mutating func take(_ event: Event) {
    if event.product != 0 {
      if !waits(event) {
        pastProducts.formUnion(products)
        products = []
      }
      products.insert(event.product)
    }
    if !goesOn(event) {
      pastLineages.formUnion(lineages)
      lineages = []
    }
    lineages.insert(event.lineage)
    transaction = event.transaction
  }

  /// Whether a state is that of another product or another purchase than those held now.
  func isPast(_ event: Event) -> Bool {
    if !products.contains(event.product), pastProducts.contains(event.product) { return true }
    // Without an id, the purchase of a state is unknown.
    return event.transaction != 0 && event.transaction != transaction
      && !lineages.contains(event.lineage) && pastLineages.contains(event.lineage)
  }

  /// Whether the old product runs on until the next charge: a downgrade takes effect then, but for
  /// one in Play that is a purchase of its own, under an order of its own.
  private func waits(_ event: Event) -> Bool {
    event.kind == .downgraded
      && (event.store != .playStore || lineages.contains(event.lineage))
  }

  /// Whether the event opens a period of the current purchase: a change of product, another product
  /// after a lapse and, in older lines, a renewal name no original transaction.
  private func goesOn(_ event: Event) -> Bool {
    let isRenewal = event.kind == .renewed || event.kind == .recovered
    let isOther = event.kind == .resubscribed && event.previousProduct != 0
    return event.kind.isProductChange || (isRenewal || isOther) && event.startsLineage
      || lineages.contains(event.lineage)
  }
}
