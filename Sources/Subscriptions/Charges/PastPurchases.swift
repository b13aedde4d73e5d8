import Domain

extension [Event] {
  /// The events without Purple's cancels, failed payments and ends of a product or purchase that
  /// another has replaced: without states, they are not about the current period.
  ///
  /// Stores end the purchase that an upgrade replaced, and keep collecting for a purchase that was
  /// repeated elsewhere.
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

/// The current and past products and purchases of a Purple subscription.
private struct Holding {
  private var products: Set<StringID> = []
  private var lineages: Set<Int64> = []
  /// All that were taken, current or not.
  private var productsSeen: Set<StringID> = []
  private var lineagesSeen: Set<Int64> = []
  /// The transaction of the last charge, trial or product change.
  private var transaction: Int64 = 0

  /// Reads a charge, a trial start or a product change.
  mutating func take(_ event: Event) {
    if event.product != 0 {
      if !appliesLater(event) { products = [] }
      products.insert(event.product)
      productsSeen.insert(event.product)
    }
    if !continues(event) { lineages = [] }
    lineages.insert(event.lineage)
    lineagesSeen.insert(event.lineage)
    transaction = event.transaction
  }

  /// Whether a state belongs to a product or purchase that is no longer current.
  func isPast(_ event: Event) -> Bool {
    if !products.contains(event.product), productsSeen.contains(event.product) { return true }
    // Without an id, the purchase of a state is unknown.
    return event.transaction != 0 && event.transaction != transaction
      && !lineages.contains(event.lineage) && lineagesSeen.contains(event.lineage)
  }

  /// Whether the old product continues until the next charge, when a downgrade takes effect; in
  /// Play, a downgrade that is a separate purchase with its own order takes effect at once.
  private func appliesLater(_ event: Event) -> Bool {
    event.kind == .downgraded && (event.store != .playStore || lineages.contains(event.lineage))
  }

  /// Whether the event opens a period of the current purchase: product changes, another product
  /// after a lapse and, in older lines, renewals name no original transaction.
  private func continues(_ event: Event) -> Bool {
    let isRenewal = event.kind == .renewed || event.kind == .recovered
    let isOther = event.kind == .resubscribed && event.previousProduct != 0
    return event.kind.isProductChange || (isRenewal || isOther) && event.startsLineage
      || lineages.contains(event.lineage)
  }
}
