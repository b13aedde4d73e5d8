import Subscriptions
import Domain

extension Reconciler {
  /// Users that only one side has.
  func findAbsentSide() {
    if view == nil { countUserWithoutSnapshot() } else { findAbsentEvents() }
  }

  /// A user without any event, although one should have come.
  private func findAbsentEvents() {
    guard let view, user.lineages.isEmpty, user.newerLineages.isEmpty, missing.isEmpty,
      missedRefunds.isEmpty
    else { return }
    for entitlement in view.entitlements { raiseUnreportedEnd(of: entitlement) }
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
        severity: isOlder ? .info : nil,
        evidence: "entitlement \(newest.id): \(describe(newest)); no event of the user ever came"
          + note))
  }

  /// When the access began, else a period before the end that is shown; nil when unknown.
  private func begin(of entitlement: Entitlement) -> Instant? {
    if let started = entitlement.startedAt { return started }
    guard let end = entitlement.expiresAt else { return nil }
    let begin = knownLength(of: entitlement)?.start(before: end)
    return begin.flatMap { $0 <= knownAt + rules.fold.renewalGap ? $0 : nil }
  }

  /// A purchase before the feed began must still report an end after that.
  private func raiseUnreportedEnd(of entitlement: Entitlement) {
    var about = subject(of: entitlement)
    guard let newest = entitlement.newestTransaction, newest.revokedAt == nil,
      entitlement.isSubscription, sendsExpirations, let end = entitlement.expiresAt,
      isWatched(end, about), end < knownAt
    else { return }
    about.original = ListedTransaction(newest, of: entitlement).original
    raise(
      BreakDraft(
        code: .missedExpiration, subject: about, key: .period(nil), expectedAt: end,
        estimate: .zero, basis: .provider,
        evidence:
          "transaction \(newest.id): \(describe(entitlement)); no event of the user ever came"))
  }

  private func countUserWithoutSnapshot() {
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
        expectedAt: first.state.lastEventAt,
        evidence: "events show an active subscription\(end), \(active.count) subscriptions in all; "
          + "no snapshot of the app up to \(taken.text) names the user, though the set is declared "
          + "complete"))
  }
}
