import Subscriptions
import Domain

/// A lineage and the entitlements of the snapshot that come from it.
struct EntitlementMatch {
  var lineage: LineageInput
  /// The one that reaches furthest; several entitlements of one purchase tell the same.
  var entitlement: Entitlement
  /// The earliest start that one of them tells.
  var startedAt: Instant?
  /// The highest counter that one of them tells.
  var renewsCount: Int32?
}

extension Reconciler {
  /// Entitlements by the lineage that they come from, in the order of the lineages.
  func matchEntitlements() -> [EntitlementMatch] {
    guard let view else { return [] }
    var groups: [Int: [Entitlement]] = [:]
    for (entitlement, origin) in zip(view.entitlements, origins.lineages) {
      guard let index = origin, entitlement.isSubscription else { continue }
      groups[index, default: []].append(entitlement)
    }
    return lineages.indices.compactMap { index in
      guard let group = groups[index] else { return nil }
      return match(lineages[index], group, at: view.capturedAt)
    }
  }

  /// Looks at the entitlements that come from no lineage: what no event told of them is raised,
  /// what is left over is counted, not guessed.
  mutating func judgeUnmatched() {
    for (entitlement, origin) in zip(view?.entitlements ?? [], origins.lineages)
    where origin == nil {
      raiseUntoldCancel(entitlement)
      if isJudgedElsewhere(entitlement) { continue }
      if lineages.isEmpty {
        counts.sandbox += 1
      } else if !raiseUntoldStart(entitlement) {
        counts.unmatchedEntitlements += 1
      }
    }
  }

  /// Whether another pass speaks of an entitlement without a lineage: its transactions are judged
  /// one by one, and a user without events as a whole.
  private func isJudgedElsewhere(_ entitlement: Entitlement) -> Bool {
    !entitlement.transactions.isEmpty || user.lineages.isEmpty
  }

  /// Whether an entitlement could be any lineage's: one without transactions, and not off.
  var hasUnmatchedSubscriptions: Bool {
    zip(view?.entitlements ?? [], origins.lineages).contains { entitlement, origin in
      origin == nil && entitlement.isSubscription && entitlement.transactions.isEmpty
        && entitlement.isActive(at: knownAt) != false
    }
  }

  /// Nil when the entitlements are all of purchases that the lineage has left behind.
  private func match(
    _ lineage: LineageInput, _ all: [Entitlement], at instant: Instant
  ) -> EntitlementMatch? {
    let group = all.filter { !isLeftBehind($0, by: lineage) }
    guard !group.isEmpty else { return nil }
    let furthest = group.sorted {
      let (left, right) = (reach($0, instant), reach($1, instant))
      return left != right ? left > right : $0.id < $1.id
    }
    return EntitlementMatch(
      lineage: lineage, entitlement: furthest[0], startedAt: group.compactMap(\.startedAt).min(),
      renewsCount: group.compactMap(\.renewsCount).max())
  }

  /// Whether the entitlement ends where a purchase begins that never came: it took its place.
  func isReplacedUnseen(_ match: EntitlementMatch) -> Bool {
    guard user.provider.capabilities.listsPastProducts, let end = match.entitlement.expiresAt else {
      return false
    }
    return isMissed(at: end, outside: match.lineage)
  }

  /// Whether the access began after the lineage had ended, with a purchase of another one that was
  /// found missing.
  func isBegunElsewhere(_ match: EntitlementMatch) -> Bool {
    guard let started = match.startedAt, let known = match.lineage.state.effectiveEnd,
      started > known + rules.fold.renewalGap
    else { return false }
    return isMissed(at: started, outside: match.lineage)
  }

  /// Whether a charge of that moment was found missing, of another lineage than `lineage`.
  private func isMissed(at instant: Instant, outside lineage: LineageInput? = nil) -> Bool {
    missing.contains { name, charges in
      name != lineage?.name
        && charges.contains { charge in charge.at.map { agree($0, instant) } ?? false }
    }
  }

  /// Whether a later charge of another product followed the purchase that an entitlement shows.
  private func isLeftBehind(_ entitlement: Entitlement, by lineage: LineageInput) -> Bool {
    guard user.provider.capabilities.listsPastProducts,
      let products = storeProducts(entitlement.product), let end = entitlement.expiresAt,
      !products.contains(lineage.text(lineage.state.product)),
      let charge = lineage.state.charges.last(where: {
        products.contains(lineage.text($0.product))
      })
    else { return false }
    return charge.periodEnd.map { agree($0, end) } ?? false
  }

  private func reach(_ entitlement: Entitlement, _ instant: Instant) -> (Int, Int64) {
    let end = entitlement.expiresAt?.milliseconds ?? .max
    return (entitlement.isActive(at: instant) == true ? 1 : 0, end)
  }

  /// Raises the purchase of an entitlement that no lineage of the user can be.
  ///
  /// False when that is not certain, because no map tells its product, or when it was before the
  /// first event.
  private mutating func raiseUntoldStart(_ entitlement: Entitlement) -> Bool {
    guard let products = storeProducts(entitlement.product), let started = entitlement.startedAt,
      started < knownAt, !canBeKnown(entitlement, of: products)
    else { return false }
    // A refund has proved it already, by its id.
    if isMissed(at: started) { return true }
    let about = subject(of: entitlement)
    guard isWatched(started, about) else { return false }
    let code: BreakCode = entitlement.isSubscription ? .missedStart : .missedPurchase
    let isFree = entitlement.isTrial == true
    raise(
      BreakDraft(
        code: code, subject: about, key: .product(entitlement.product), expectedAt: started,
        missingEvents: 1, estimate: isFree ? .zero : nil, basis: isFree ? .provider : .none,
        evidence: "entitlement \(entitlement.id) of \(started.text): \(told(entitlement)); no "
          + "event of such a product came for the user",
        action: nextStep(code, user.provider)))
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
}
