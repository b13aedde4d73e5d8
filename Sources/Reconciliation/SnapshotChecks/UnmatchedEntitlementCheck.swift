import Subscriptions
import Domain

extension Reconciler {
  /// Entitlements that come from no lineage.
  ///
  /// A purchase or a cancel that no event reported is raised; the rest is counted, not guessed.
  func evaluateUnmatchedEntitlements() {
    for (entitlement, origin) in zip(view?.entitlements ?? [], origins.lineages)
    where origin == nil && (!isOfWebhook || showsMore(entitlement)) {
      raiseUnreportedCancel(entitlement)
      if isEvaluatedElsewhere(entitlement) { continue }
      if lineages.isEmpty {
        counts.sandbox += 1
      } else if !raiseUnreportedStart(entitlement) {
        counts.unmatchedEntitlements += 1
      }
    }
  }

  /// Whether another check covers an entitlement without a lineage: its transactions are evaluated
  /// one by one, and a user without events as a whole.
  private func isEvaluatedElsewhere(_ entitlement: Entitlement) -> Bool {
    !entitlement.transactions.isEmpty || user.lineages.isEmpty
  }

  /// Raises the purchase of an entitlement that no lineage of the user can be.
  ///
  /// False when that is not certain, because its product is not mapped, or when it was before the
  /// first event.
  private func raiseUnreportedStart(_ entitlement: Entitlement) -> Bool {
    guard let products = storeProducts(entitlement.product), let started = entitlement.startedAt,
      started < knownAt, !canBeKnown(entitlement, of: products)
    else { return false }
    // A refund has proved it already, by its id.
    if isMissed(at: started) { return true }
    let about = subject(of: entitlement)
    guard isWatched(started, about) else { return false }
    let code: BreakCode = entitlement.isSubscription ? .missedStart : .missedPurchase
    let isFree = entitlement.isTrial == true
    let money = isFree ? (.zero, .provider) : estimate(of: about, at: started)
    raise(
      BreakDraft(
        code: code, subject: about, key: .product(entitlement.product), expectedAt: started,
        estimate: money.amount, basis: money.basis,
        evidence: "entitlement \(entitlement.id) of \(started.text): \(describe(entitlement)); no "
          + "event of such a product came for the user"))
    return true
  }

  /// Whether a lineage that no other entitlement comes from may be the purchase, or one of either
  /// environment was, or was tried, of such a product.
  private func canBeKnown(_ entitlement: Entitlement, of products: [String]) -> Bool {
    if entitlement.isSubscription, !lineagesLeft(for: entitlement, origins.claimed).isEmpty {
      return true
    }
    return (lineages + sandbox).contains { lineage in
      let latest = lineage.latest
      let held = latest.charges.map(\.product) + latest.trials.map(\.product)
      return (held + [lineage.state.product]).contains { products.contains(lineage.text($0)) }
    }
  }

  /// Raises the cancel of a subscription without events, if it happened after the feed began.
  ///
  /// What began before the first event of the app can still be cancelled after it. A period that
  /// ended later than the cancel has an expiry that would be missing as well, and implies it.
  private func raiseUnreportedCancel(_ entitlement: Entitlement) {
    guard entitlement.isSubscription, entitlement.renewState == .canceled,
      let canceledAt = entitlement.autoRenewOffAt, canceledAt < knownAt,
      let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      entitlement.isActive(at: knownAt) == true
        || (entitlement.expiresAt.map { $0 <= canceledAt } ?? false)
    else { return }
    let about = subject(ListedTransaction(newest, of: entitlement), nil)
    guard isWatched(canceledAt, about) else { return }
    raise(
      BreakDraft(
        code: .missedCancel, subject: about, key: .state, expectedAt: canceledAt,
        estimate: .zero, basis: .provider,
        evidence:
          "\(describe(entitlement)); auto-renew is off since \(canceledAt.text), and no event "
          + "of the subscription ever came"))
  }
}
