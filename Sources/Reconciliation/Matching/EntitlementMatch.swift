import Domain
import Subscriptions

/// A lineage and the snapshot's entitlements that come from it.
final class EntitlementMatch {
  let lineage: LineageInput
  /// The entitlement that lasts longest; several entitlements of one purchase show the same.
  private(set) var entitlement: Entitlement
  /// The earliest start of any of them, else the first purchase.
  let startedAt: Instant?
  /// The earliest start or purchase of any of them: access can have lapsed since.
  let firstStartedAt: Instant?
  /// The highest counter of any of them.
  let renewsCount: Int32?
  /// Whether an app cached it before the latest charge: its purchases are proof, its state is not.
  let isStale: Bool

  init(_ lineage: LineageInput, furthest: Entitlement, of group: [Entitlement], isStale: Bool) {
    self.lineage = lineage
    self.isStale = isStale
    entitlement = furthest
    let bought = group.compactMap(\.firstPurchasedAt).min()
    startedAt = group.compactMap(\.startedAt).min() ?? bought
    firstStartedAt = [startedAt, bought].compactMap(\.self).min()
    renewsCount = isStale ? nil : group.compactMap(\.renewsCount).max()
    if isStale { entitlement.removeState() }
  }
}

extension Entitlement {
  /// Keeps what it lists, which proves something also where its state does not.
  mutating func removeState() { (isActive, expiresAt, renewState) = (nil, nil, nil) }
}

extension Reconciler {
  /// Entitlements by the lineage that they come from, in the order of the lineages.
  func matchEntitlements() -> [EntitlementMatch] {
    var groups: [Int: [Entitlement]] = [:]
    for (entitlement, origin) in zip(view.entitlements, origins.lineages) {
      guard let origin, entitlement.isSubscription else { continue }
      groups[origin, default: []].append(entitlement)
    }
    return groups.sorted { $0.key < $1.key }.compactMap { match(lineages[$0], $1) }
  }

  /// Nil when all entitlements are of past purchases of the lineage.
  private func match(_ lineage: LineageInput, _ all: [Entitlement]) -> EntitlementMatch? {
    let group = all.filter { !isLeftBehind($0, by: lineage) }
    let furthest = group.min {
      let (left, right) = (reach($0), reach($1))
      return left != right ? left > right : $0.id < $1.id
    }
    return furthest.map { furthest in
      EntitlementMatch(
        lineage, furthest: furthest, of: group, isStale: group.allSatisfy { isStale($0, lineage) })
    }
  }

  /// Whether events report a charge after the newest purchase in an app's cache.
  private func isStale(_ entitlement: Entitlement, _ lineage: LineageInput) -> Bool {
    guard let last = entitlement.lastPurchasedAt,
      let charged = lineage.state.subscriptionCharges.last?.time
    else { return false }
    let newest = entitlement.transactions.compactMap(\.at).max().map { max($0, last) } ?? last
    return charged > newest + gap
  }

  /// Whether a later charge of another product followed the purchase of an entitlement.
  private func isLeftBehind(_ entitlement: Entitlement, by lineage: LineageInput) -> Bool {
    guard capabilities.listsPastProducts,
      let products = storeProducts(entitlement.product), let end = entitlement.expiresAt,
      !products.contains(lineage.text(lineage.state.product)),
      let charge = lineage.state.charges.last(where: {
        products.contains(lineage.text($0.product))
      })
    else { return false }
    return charge.periodEnd.map { agree($0, end) } ?? false
  }

  private func reach(_ entitlement: Entitlement) -> (Int, Int64) {
    let end = entitlement.expiresAt?.milliseconds ?? .max
    return (entitlement.isActive(at: view.capturedAt) == true ? 1 : 0, end)
  }

  /// The matches whose last period events can report.
  var comparableMatches: [EntitlementMatch] {
    matches.filter { !$0.isStale && isComparable($0) && !isBegunElsewhere($0) }
  }

  /// The comparable matches whose subscription the snapshot still shows as events do.
  var runningMatches: [EntitlementMatch] {
    comparableMatches.filter {
      !isReplacedUnseen($0) && !isAhead($0) && !isMoved($0.lineage)
    }
  }

  /// Whether the snapshot shows a period that events can report.
  ///
  /// If renewals arrive without user, it does only while both sides show the same end.
  func isComparable(_ match: EntitlementMatch) -> Bool {
    guard !isComparable(match.lineage) else { return true }
    guard let end = match.entitlement.expiresAt, let known = match.lineage.state.periodEnd
    else { return false }
    return end > knownAt && agree(end, known)
  }

  /// Whether renewals can be matched: without user and original id they cannot, and the
  /// subscription's events seem to stop although nothing is missing.
  func isComparable(_ lineage: LineageInput) -> Bool {
    let state = lineage.state
    return state.provider.capabilities.linksRenewals(in: state.store) || !state.isSubscription
  }

  /// Whether the entitlement ends where a missing purchase, which replaced it, begins.
  func isReplacedUnseen(_ match: EntitlementMatch) -> Bool {
    guard capabilities.listsPastProducts, let end = match.entitlement.expiresAt else {
      return false
    }
    return isMissed(at: end, outside: match.lineage)
  }

  /// Whether access began after the lineage's end, with a missing purchase of another lineage.
  func isBegunElsewhere(_ match: EntitlementMatch) -> Bool {
    guard let started = match.startedAt, let known = match.lineage.state.effectiveEnd else {
      return false
    }
    return started > known + gap && isMissed(at: started, outside: match.lineage)
  }

  /// Whether a charge at that time was found to be missing in another lineage than `lineage`.
  func isMissed(at instant: Instant, outside lineage: LineageInput? = nil) -> Bool {
    missing.contains { name, charges in
      name != lineage?.name
        && charges.contains { charge in charge.at.map { agree($0, instant) } ?? false }
    }
  }

  /// Whether a subscription is active for longer than any event of the user reports.
  func showsMore(_ match: EntitlementMatch) -> Bool {
    guard let end = match.entitlement.expiresAt, let known = match.lineage.state.periodEnd,
      end > known, !isTransferred(match.lineage), showsMore(match.entitlement)
    else { return false }
    return storeProducts(match.entitlement.product) != nil || isAlone(match)
  }

  /// Whether an entitlement is active until an end that no event of the user reports, or without
  /// end; while a payment fails, the end is that of grace.
  func showsMore(_ entitlement: Entitlement) -> Bool {
    guard isOn(entitlement), entitlement.renewState != .billingIssue else { return false }
    guard let end = entitlement.expiresAt else { return !entitlement.isSubscription }
    return !(lineages + sandbox).contains { lineage in
      lineage.state.reportedEnds.contains { agree($0, end) }
    }
  }

  /// Whether no other product matches the lineage: of two unmapped ones, either can be its product.
  private func isAlone(_ match: EntitlementMatch) -> Bool {
    let matched = zip(view.entitlements, origins.lineages).filter { entitlement, origin in
      entitlement.isSubscription && origin.map { lineages[$0].name == match.lineage.name } ?? false
    }
    return Set(matched.map { ExactText($0.0.product) }).count == 1
  }
}

extension LineageState {
  /// All ends that events reported for any of its periods.
  var reportedEnds: [Instant] {
    charges.compactMap(\.periodEnd) + trials.compactMap(\.end) + unseenPeriods.map(\.end)
      + [periodEnd, effectiveEnd, reportedEnd, lastReportedEnd].compactMap { $0 }
  }
}
