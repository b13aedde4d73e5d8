import Subscriptions
import Domain

/// What only one side knows at all.
extension Reconciler {
  mutating func comparePresence(_ matches: [EntitlementMatch]) {
    guard view != nil else { return countUserWithoutSnapshot() }
    findAheadOfSnapshot(matches)
    findAbsentEvents()
  }

  /// Whether events say active while the entitlement says it is not.
  func isAhead(_ match: EntitlementMatch) -> Bool {
    match.entitlement.isActive(at: knownAt) == false && isActive(match.lineage.state)
      && !isInUntoldGrace(match) && !missedRefunds.contains(match.lineage.name)
      && !isTransferred(match.lineage) && !isToldLater(match.lineage, \.accessTakenAway)
  }

  /// A list of purchases knows the end that was paid for, not the grace that follows it.
  private func isInUntoldGrace(_ match: EntitlementMatch) -> Bool {
    guard match.entitlement.isActive == nil, let end = match.entitlement.expiresAt,
      let known = match.lineage.state.periodEnd
    else { return false }
    return agree(end, known)
  }

  mutating func raiseAhead(_ lineage: LineageInput, says words: String) {
    let end = lineage.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .aheadOfSnapshot, subject: subject(lineage), key: .active,
        expectedAt: lineage.state.lastEventAt, severity: .medium,
        evidence: "events say active\(end); \(words)",
        action: nextStep(.aheadOfSnapshot, user.provider)))
  }

  /// Paid or tried, by events alone, beyond the moment of the snapshot.
  private func isActive(_ state: LineageState) -> Bool { isActive(state, at: knownAt) }

  private func isActive(_ state: LineageState, at instant: Instant) -> Bool {
    guard state.isSubscription, !state.accessTakenAway, !state.isTrialGivenBack,
      state.firstEventAt < instant,
      let end = state.effectiveEnd
    else { return false }
    return end > instant + rules.endTolerance
  }

  /// An account transfer is no break.
  private func isTransferred(_ lineage: LineageInput) -> Bool {
    lineage.isHeldByAnotherUser
      || (!lineage.user.isEmpty && !lineage.user.isExactly(user.user))
  }

  private mutating func findAheadOfSnapshot(_ matches: [EntitlementMatch]) {
    // An entitlement that could not be told apart may be the one.
    guard !hasUnmatchedSubscriptions else { return }
    let matched = Set(matches.map(\.lineage.name))
    for lineage in lineages
    where !matched.contains(lineage.name) && isActive(lineage.state) && isComparable(lineage)
      && !isTransferred(lineage) && !missedRefunds.contains(lineage.name)
      && !isToldLater(lineage, \.accessTakenAway)
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
  /// Bodies of iaptic's first years, which know no transaction ids, tell the end of what was
  /// refunded by leaving it out; where nothing is left, nothing in the body dates it.
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

  /// A user of whom no event ever came, although one should have.
  private mutating func findAbsentEvents() {
    guard let view, user.lineages.isEmpty, user.newerLineages.isEmpty, missing.isEmpty,
      missedRefunds.isEmpty
    else { return }
    for entitlement in view.entitlements { findUntoldEnd(of: entitlement) }
    let watched = view.entitlements.filter { entitlement in
      entitlement.transactions.isEmpty
        && isWatched(entitlement.expiresAt ?? view.capturedAt, subject(of: entitlement))
    }
    let newest = watched.max {
      (begin(of: $0)?.milliseconds ?? .min, $0.id) < (begin(of: $1)?.milliseconds ?? .min, $1.id)
    }
    guard let newest else { return }
    let started = watched.compactMap(begin(of:)).min()
    let about = subject(of: newest)
    let isOlder = started.map { !isWatched($0, about) } ?? false
    let note = isOlder ? "; it began before the first event of the app came" : ""
    raise(
      BreakDraft(
        code: .eventsAbsent, subject: about, key: .user, expectedAt: started,
        severity: isOlder ? .info : .medium,
        evidence: "entitlement \(newest.id): \(told(newest)); no event of the user ever came"
          + note,
        action: nextStep(.eventsAbsent, user.provider)))
  }

  /// When the access began, else a period before the end that is shown; nil when nothing tells it.
  private func begin(of entitlement: Entitlement) -> Instant? {
    if let started = entitlement.startedAt { return started }
    guard let end = entitlement.expiresAt else { return nil }
    let begin = toldLength(of: entitlement)?.start(before: end)
    return begin.flatMap { $0 <= knownAt + rules.fold.renewalGap ? $0 : nil }
  }

  /// Of what was bought before we listened, an end in our time had to be told.
  private mutating func findUntoldEnd(of entitlement: Entitlement) {
    var about = subject(of: entitlement)
    guard let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      entitlement.isSubscription, tellsExpiry, let end = entitlement.expiresAt,
      isWatched(end, about), end < knownAt
    else { return }
    about.original = ListedTransaction(newest, of: entitlement).original
    raise(
      BreakDraft(
        code: .missedExpiration, subject: about, key: .period(nil), expectedAt: end,
        missingEvents: 1, estimate: .zero, basis: .provider, severity: .low,
        evidence: "transaction \(newest.id): \(told(entitlement)); no event of the user ever came",
        action: nextStep(.missedExpiration, user.provider)))
  }

  /// The purchase of an entitlement that comes from no lineage.
  func subject(of entitlement: Entitlement) -> BreakSubject {
    var about = BreakSubject(provider: user.provider)
    let products = storeProducts(entitlement.product) ?? []
    about.app = presumedApp(selling: products, in: entitlement.store)
    about.user = user.user
    about.store = entitlement.store
    if products.count == 1 { about.product = products[0] }
    return about
  }

  private mutating func countUserWithoutSnapshot() {
    let taken = rules.snapshotsTakenAt[user.provider] ?? rules.fold.asOf
    let active = lineages.filter { isActive($0.state, at: taken) && !isTransferred($0) }
    guard let first = active.first else { return }
    guard rules.snapshotsComplete else {
      counts.usersWithoutSnapshot += 1
      return
    }
    let end = first.state.effectiveEnd.map { " until \($0.text)" } ?? ""
    raise(
      BreakDraft(
        code: .snapshotAbsent, subject: subject(first), key: .snapshot,
        expectedAt: first.state.lastEventAt, severity: .low,
        evidence: "events say active\(end), \(active.count) subscriptions in all; "
          + "no snapshot of the app up to \(taken.text) names the user, though the set is declared "
          + "complete",
        action: nextStep(.snapshotAbsent, user.provider)))
  }
}
