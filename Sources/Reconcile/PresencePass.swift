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
  private func isActive(_ state: LineageState) -> Bool {
    guard state.isSubscription, !state.accessTakenAway, let end = state.effectiveEnd else {
      return false
    }
    return end > knownAt + rules.endTolerance
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
    where !matched.contains(lineage.original) && isActive(lineage.state)
      && !isTransferred(lineage) && !missedRefunds.contains(lineage.original)
    {
      raiseAhead(lineage, says: "the snapshot of \(knownAt.text) has no such entitlement")
    }
  }

  private mutating func findAbsentEvents() {
    guard let view, user.lineages.isEmpty, !user.hasNewerLineages, missing.isEmpty,
      missedRefunds.isEmpty, let first = rules.firstEventAt(user.provider, presumedApp)
    else { return }
    let watched = view.entitlements.filter { entitlement in
      guard let end = entitlement.expiresAt else { return entitlement.transactions.isEmpty }
      // Of what was bought before we listened, only an end in our time had to be told.
      return end >= first && (entitlement.transactions.isEmpty || end < knownAt)
    }
    let newest = watched.max {
      ($0.startedAt?.milliseconds ?? .min, $0.id) < ($1.startedAt?.milliseconds ?? .min, $1.id)
    }
    guard let newest else { return }
    let started = watched.compactMap(\.startedAt).min()
    let isOlder = started.map { $0 < first } ?? false
    var about = Subject(provider: user.provider)
    about.app = presumedApp
    about.user = user.user
    about.store = newest.store
    let products = storeProducts(newest.product) ?? []
    if products.count == 1 { about.product = products[0] }
    let note = isOlder ? "; it began before the first event of the app came" : ""
    raise(
      BreakDraft(
        code: .eventsAbsent, subject: about, key: "user", expectedAt: started,
        severity: isOlder ? .info : .medium,
        evidence: "entitlement \(newest.id): \(told(newest)); no event of the user ever came"
          + note,
        action: nextStep(.eventsAbsent, user.provider)))
  }

  private mutating func countUserWithoutSnapshot() {
    let active = lineages.filter { isActive($0.state) && !isTransferred($0) }
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
          + "no snapshot names the user, though the set is declared complete",
        action: nextStep(.snapshotAbsent, user.provider)))
  }

  /// One original transaction in both environments of a store.
  mutating func findEnvironmentLeaks() {
    for lineage in lineages {
      guard
        let twin = sandbox.first(where: {
          $0.original == lineage.original && $0.app == lineage.app
            && $0.state.store == lineage.state.store
        })
      else { continue }
      raise(
        BreakDraft(
          code: .envLeak, subject: subject(lineage), key: "environment",
          severity: .medium,
          evidence: "events of one subscription came as production from "
            + "\(lineage.state.firstEventAt.text) and as sandbox from "
            + "\(twin.state.firstEventAt.text)",
          action: nextStep(.envLeak, user.provider)))
    }
  }
}
