import Subscriptions
import Domain

extension Reconciler {
  /// Subscriptions that are active by events and not by the snapshot.
  func compareAccess() {
    guard view != nil else { return }
    for match in comparableMatches where !isReplacedUnseen(match) && isAhead(match) {
      if user.provider.capabilities.sendsPeriodEnds, earlyEnd(of: match) != nil { continue }
      raiseAhead(match.lineage, says: describe(match.entitlement))
    }
    findAheadOfSnapshot()
  }

  private func raiseAhead(_ lineage: LineageInput, says words: String) {
    let end = lineage.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .aheadOfSnapshot, subject: subject(lineage), key: .active,
        expectedAt: lineage.state.lastEventAt,
        evidence: "events show an active subscription\(end); \(words)"))
  }

  private func findAheadOfSnapshot() {
    // An unmatched entitlement may be the one.
    guard !hasUnmatchedSubscriptions else { return }
    let matched = Set(matches.map(\.lineage.name))
    for lineage in lineages
    where !matched.contains(lineage.name) && isActive(lineage.state, at: knownAt)
      && isComparable(lineage)
      && !isTransferred(lineage) && !missedRefunds.contains(lineage.name)
      && !isReportedLater(lineage, \.accessRevoked)
    {
      guard !mayHaveVanished(lineage) else {
        counts.endsWithoutDate += 1
        continue
      }
      guard !mayBeHidden(lineage) else {
        counts.unmatchedEntitlements += 1
        continue
      }
      raiseAhead(lineage, says: "the snapshot of \(knownAt.text) has no such entitlement")
    }
  }

  /// Whether one of the empty collections that came without a date may have ended the lineage.
  ///
  /// Bodies of iaptic's first years, which contain no transaction ids, report the end of a refunded
  /// purchase by leaving it out; an empty body has no date for it.
  private func mayHaveVanished(_ lineage: LineageInput) -> Bool {
    rules.hasUndatedCollections && user.provider.capabilities.body == .collection
      && lineage.latest.transactions.isEmpty
  }

  /// Whether access that is on may hide the lineage's: that of a grant, or of a subscription in
  /// another store.
  ///
  /// Shapes without transactions have one line for an entitlement, however many subscriptions give
  /// it.
  private func mayBeHidden(_ lineage: LineageInput) -> Bool {
    let store = lineage.state.store
    return (user.snapshot?.entitlements ?? []).contains { shown in
      let isElsewhere = shown.store == .unknown || !store.mayBe(shown.store)
      return shown.transactions.isEmpty && shown.isActive(at: knownAt) == true
        && (shown.grant == .manual || (shown.isSubscription && isElsewhere))
        && storeProducts(shown.product)?.contains(lineage.product) ?? true
    }
  }

  /// Whether an entitlement could be any lineage's: one without transactions, and not off.
  private var hasUnmatchedSubscriptions: Bool {
    zip(view?.entitlements ?? [], origins.lineages).contains { entitlement, origin in
      origin == nil && entitlement.isSubscription && entitlement.transactions.isEmpty
        && entitlement.isActive(at: knownAt) != false
    }
  }
}
