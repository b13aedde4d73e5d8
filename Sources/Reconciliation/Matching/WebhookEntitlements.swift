import Subscriptions
import Domain

// What the entitlements in a webhook show that no event reports.

extension Reconciler {
  /// Whether a subscription is active longer than any event of the user reports.
  func showsMore(_ match: EntitlementMatch) -> Bool {
    guard let end = match.entitlement.expiresAt, let known = match.lineage.state.periodEnd,
      end > known, !isTransferred(match.lineage), showsMore(match.entitlement)
    else { return false }
    return storeProducts(match.entitlement.product) != nil || isAlone(match)
  }

  /// Whether an entitlement is active until an end that no event of the user reports, or without
  /// end; while a payment fails, that is the end of a grace.
  func showsMore(_ entitlement: Entitlement) -> Bool {
    guard entitlement.isActive(at: knownAt) == true, entitlement.renewState != .billingIssue
    else { return false }
    guard let end = entitlement.expiresAt else { return !entitlement.isSubscription }
    return !(lineages + sandbox).contains { lineage in
      lineage.state.reportedEnds.contains { agree($0, end) }
    }
  }

  /// Whether no entitlement of another product was matched with the lineage: of two products that
  /// are not mapped, either can be the lineage's.
  private func isAlone(_ match: EntitlementMatch) -> Bool {
    let matched = zip(view?.entitlements ?? [], origins.lineages).filter { entitlement, origin in
      entitlement.isSubscription
        && origin.map { lineages[$0].name == match.lineage.name } ?? false
    }
    return Set(matched.map { ExactText($0.0.product) }).count == 1
  }
}

extension LineageState {
  /// Every end that an event reported of any of its periods.
  var reportedEnds: [Instant] {
    charges.compactMap(\.periodEnd) + trials.compactMap(\.end) + unseenPeriods.map(\.end)
      + [periodEnd, effectiveEnd, reportedEnd, lastReportedEnd].compactMap { $0 }
  }
}
