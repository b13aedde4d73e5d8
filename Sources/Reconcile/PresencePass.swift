import Timeline
import Vocabulary

/// Last: what only one side knows at all.
extension Reconciliation {
  mutating func comparePresence(_ matches: [EntitlementMatch]) {
    guard view != nil else { return countUserWithoutSnapshot() }
    findAheadOfSnapshot(matches)
    findAbsentEvents()
  }

  /// Whether events say active while the entitlement says it is not.
  func isAhead(_ match: EntitlementMatch) -> Bool {
    match.entitlement.isActive(at: knownAt) == false && isActive(match.lineage.state)
      && !isInUntoldGrace(match) && !missedRefunds.contains(match.lineage.original)
      && !isTransferred(match.lineage)
  }

  /// A list of purchases knows the end that was paid for, not the grace that follows it.
  private func isInUntoldGrace(_ match: EntitlementMatch) -> Bool {
    guard match.entitlement.isActive == nil, let end = match.entitlement.expiresAt,
      let known = match.lineage.state.periodEnd
    else { return false }
    return agree(end, known)
  }

  mutating func raiseAhead(_ lineage: LineageCase, says words: String) {
    let end = lineage.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .aheadOfSnapshot, subject: subject(lineage), key: "active",
        expectedAt: lineage.state.lastEventAt, severity: .medium,
        evidence: "events say active\(end); \(words)",
        action: nextStep(.aheadOfSnapshot, user.provider)))
  }

  /// Paid or tried, by events alone, beyond the moment of the snapshot.
  private func isActive(_ state: LineageState) -> Bool { isActive(state, at: knownAt) }

  private func isActive(_ state: LineageState, at instant: Instant) -> Bool {
    guard state.isSubscription, !state.accessTakenAway, state.firstEventAt < instant,
      let end = state.effectiveEnd
    else { return false }
    return end > instant + rules.endTolerance
  }

  /// An account transfer is no break.
  private func isTransferred(_ lineage: LineageCase) -> Bool {
    lineage.isHeldByAnotherUser || (!lineage.user.isEmpty && lineage.user != user.user)
  }

  private mutating func findAheadOfSnapshot(_ matches: [EntitlementMatch]) {
    // An entitlement that could not be told apart may be the one.
    guard !hasUnmatchedSubscriptions else { return }
    let matched = Set(matches.map(\.lineage.original))
    for lineage in lineages
    where !matched.contains(lineage.original) && isActive(lineage.state) && isComparable(lineage)
      && !isTransferred(lineage) && !missedRefunds.contains(lineage.original)
    {
      raiseAhead(lineage, says: "the snapshot of \(knownAt.text) has no such entitlement")
    }
  }

  /// A user of whom no event ever came, although one should have.
  private mutating func findAbsentEvents() {
    guard let view, user.lineages.isEmpty, !user.hasNewerLineages, missing.isEmpty,
      missedRefunds.isEmpty, let first = rules.firstEventAt(user.provider, presumedApp)
    else { return }
    for entitlement in view.entitlements { findUntoldEnd(of: entitlement, since: first) }
    let watched = view.entitlements.filter { entitlement in
      entitlement.transactions.isEmpty && entitlement.expiresAt.map { $0 >= first } ?? true
    }
    let newest = watched.max {
      ($0.startedAt?.milliseconds ?? .min, $0.id) < ($1.startedAt?.milliseconds ?? .min, $1.id)
    }
    guard let newest else { return }
    let started = watched.compactMap(\.startedAt).min()
    let isOlder = started.map { $0 < first } ?? false
    let note = isOlder ? "; it began before the first event of the app came" : ""
    raise(
      BreakDraft(
        code: .eventsAbsent, subject: subject(of: newest), key: "user", expectedAt: started,
        severity: isOlder ? .info : .medium,
        evidence: "entitlement \(newest.id): \(told(newest)); no event of the user ever came"
          + note,
        action: nextStep(.eventsAbsent, user.provider)))
  }

  /// Of what was bought before we listened, an end in our time had to be told.
  private mutating func findUntoldEnd(of entitlement: Entitlement, since first: Instant) {
    guard let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      entitlement.isSubscription, tellsExpiry, let end = entitlement.expiresAt, end >= first,
      end < knownAt
    else { return }
    var about = subject(of: entitlement)
    about.original = ListedTransaction(newest, of: entitlement).original
    raise(
      BreakDraft(
        code: .missedExpiration, subject: about, key: "period 0", expectedAt: end,
        missingEvents: 1, estimate: .zero, basis: .provider, severity: .low,
        evidence: "transaction \(newest.id): \(told(entitlement)); no event of the user ever came",
        action: nextStep(.missedExpiration, user.provider)))
  }

  private func subject(of entitlement: Entitlement) -> Subject {
    var about = Subject(provider: user.provider)
    about.app = presumedApp
    about.user = user.user
    about.store = entitlement.store
    let products = storeProducts(entitlement.product) ?? []
    if products.count == 1 { about.product = products[0] }
    return about
  }

  private mutating func countUserWithoutSnapshot() {
    let taken = rules.snapshotsTakenAt[user.provider] ?? rules.rules.asOf
    let active = lineages.filter { isActive($0.state, at: taken) && !isTransferred($0) }
    guard let first = active.first else { return }
    guard rules.snapshotsComplete else {
      counts.usersWithoutSnapshot += 1
      return
    }
    let end = first.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .snapshotAbsent, subject: subject(first), key: "snapshot",
        expectedAt: first.state.lastEventAt, severity: .low,
        evidence: "events say active\(end), \(active.count) subscriptions in all; "
          + "no snapshot up to \(taken.text) names the user, though the set is declared complete",
        action: nextStep(.snapshotAbsent, user.provider)))
  }
}
